package hosts

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/robocensus/robocensus/sink/sinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	gzipped   = sinktest.Gzip
	must      = sinktest.Must
	writeFile = sinktest.WriteFile
	zstandard = sinktest.Zstd
)
