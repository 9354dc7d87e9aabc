package evaluate

import (
	"encoding/json"
	"slices"
	"sync/atomic"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// samples are the URLs of a run, prepared for matching once per profile.
type samples struct {
	paths    []prepared
	absolute map[fetch.Origin][]*prepared
	list     []*prepared // absolute samples, in the order of the file
}

type prepared struct {
	registry.Sample
	shown   string          // the URL as the tables hold it
	targets []robots.Target // one per reading
	index   int             // index in samples.list
	used    atomic.Bool
}

func newSamples(list []registry.Sample, profiles []*robots.Profile) *samples {
	s := &samples{absolute: make(map[fetch.Origin][]*prepared), paths: make([]prepared, 0, len(list))}
	for _, sample := range list {
		shown, targets := schema.TextString(sample.URL), targetsOf(sample.URL, profiles)
		if sample.Origin == nil {
			s.paths = append(s.paths, prepared{Sample: sample, shown: shown, targets: targets})
			continue
		}
		p := &prepared{Sample: sample, shown: shown, targets: targets, index: len(s.list)}
		s.absolute[*sample.Origin] = append(s.absolute[*sample.Origin], p)
		s.list = append(s.list, p)
	}
	return s
}

func targetsOf(url string, profiles []*robots.Profile) []robots.Target {
	out := make([]robots.Target, len(profiles))
	for i, p := range profiles {
		out[i] = p.Target(url)
	}
	return out
}

// use returns the absolute samples of an origin that is a target.
func (s *samples) use(o fetch.Origin) []*prepared {
	listed := s.absolute[o]
	for _, p := range listed {
		p.used.Store(true)
	}
	return listed
}

// URLs returns the number of URLs that are judged on a target for each agent and
// profile, if its first candidate answers.
func (s *Shared) URLs(t *target.Target) int {
	return len(s.samples.paths) + len(t.Paths) + len(s.samples.absolute[t.Candidates[0]])
}

// Unused returns the absolute samples whose origin was not a target. They are errors
// of the input, never silent allows.
func (s *Shared) Unused() []registry.Sample {
	var out []registry.Sample
	for _, p := range s.samples.list {
		if !p.used.Load() {
			out = append(out, p.Sample)
		}
	}
	return out
}

// note is what a process that resumes the run needs of a committed segment besides
// its tables.
type note struct {
	Samples []int `json:"samples,omitempty"` // for each origin with absolute samples, the index of one of them
}

// Restore reads the note of a committed segment.
func (s *Shared) Restore(text json.RawMessage) error {
	var left note
	if err := json.Unmarshal(text, &left); err != nil {
		return err
	}
	for _, i := range left.Samples {
		if i >= 0 && i < len(s.samples.list) {
			s.samples.use(*s.samples.list[i].Origin)
		}
	}
	return nil
}

// Note returns the note of all that was used so far, as of one segment.
func (s *Shared) Note() (json.RawMessage, error) {
	var all note
	for _, listed := range s.samples.absolute {
		if listed[0].used.Load() {
			all.Samples = append(all.Samples, listed[0].index)
		}
	}
	slices.Sort(all.Samples)
	return json.Marshal(all)
}
