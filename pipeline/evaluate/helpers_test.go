package evaluate

import (
	"github.com/robocensus/robocensus/pipeline/internal/pipelinetest"
	"github.com/robocensus/robocensus/robots"
)

var must = pipelinetest.Must

func profilesNamed(names ...string) (out []*robots.Profile) {
	for _, name := range names {
		p, _ := robots.ProfileNamed(name)
		out = append(out, p)
	}
	return out
}
