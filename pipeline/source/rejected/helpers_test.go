package rejected

import (
	"github.com/robocensus/robocensus/pipeline/internal/pipelinetest"
)

var (
	in   = pipelinetest.Scratch
	must = pipelinetest.Must
)
