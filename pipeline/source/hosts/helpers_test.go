package hosts

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/robocensus/robocensus/pipeline/internal/pipelinetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	gzipped   = pipelinetest.Gzip
	must      = pipelinetest.Must
	writeFile = pipelinetest.WriteFile
	zstandard = pipelinetest.Zstd
)
