package input

import (
	"github.com/robocensus/robocensus/sink/sinktest"
)

var (
	in   = sinktest.Scratch
	must = sinktest.Must
)
