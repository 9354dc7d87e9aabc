package source

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/robocensus/robocensus/sink/sinktest"
)

func TestMain(m *testing.M) {
	sinktest.TrustTestServers()
	goleak.VerifyTestMain(m)
}

var (
	must      = sinktest.Must
	writeFile = sinktest.WriteFile
	gzipped   = sinktest.Gzip
	zstandard = sinktest.Zstd
	in        = sinktest.Scratch
)
