package source

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/robocensus/robocensus/pipeline/internal/pipelinetest"
)

func TestMain(m *testing.M) {
	pipelinetest.TrustTestServers()
	goleak.VerifyTestMain(m)
}

var (
	must      = pipelinetest.Must
	writeFile = pipelinetest.WriteFile
	gzipped   = pipelinetest.Gzip
	zstandard = pipelinetest.Zstd
	in        = pipelinetest.Scratch
)
