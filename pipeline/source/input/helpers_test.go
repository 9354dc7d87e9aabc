package input

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/robocensus/robocensus/sink/sinktest"
)

var (
	in   = sinktest.Scratch
	must = sinktest.Must
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
