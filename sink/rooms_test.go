package sink_test

import (
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

func init() { sink.SumUp = summary.SumUp }
