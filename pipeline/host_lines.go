package pipeline

import (
	"runtime"
	"sync"

	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/target"
)

// hostLines tells what each target answered when its capture is there, long before its
// segment is evaluated. So a file is judged twice, which only those pay who ask for it.
type hostLines struct {
	evaluators chan *evaluate.Evaluator
	mu         sync.Mutex
	each       func(*evaluate.HostLine) error
}

func newHostLines(shared *evaluate.Shared, each func(*evaluate.HostLine) error) *hostLines {
	l := &hostLines{evaluators: make(chan *evaluate.Evaluator, runtime.GOMAXPROCS(0)), each: each}
	for range cap(l.evaluators) {
		l.evaluators <- shared.Evaluator()
	}
	return l
}

func (l *hostLines) tell(t *target.Target) error {
	if l == nil {
		return nil
	}
	e := <-l.evaluators
	line := e.HostLine(t)
	l.evaluators <- e
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.each(line)
}
