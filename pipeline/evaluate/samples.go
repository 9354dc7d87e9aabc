package evaluate

import (
	"encoding/json"
	"fmt"
	"slices"

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

// URLs returns the number of URLs that are judged on a target for each agent and
// profile, if its first candidate answers.
func (s *Shared) URLs(t *target.Target) int {
	return len(s.samples.paths) + len(t.Paths) + len(s.samples.absolute[t.Candidates[0]])
}

// note is what a segment or a shard tells, besides its tables, to the process that completes
// the run.
type note struct {
	Samples []int `json:"samples,omitempty"` // for each origin with absolute samples, the index of one of them
}

func joinNotes(notes []json.RawMessage) (all note, err error) {
	for _, text := range notes {
		var one note
		if err := json.Unmarshal(text, &one); err != nil {
			return all, fmt.Errorf("the note of a segment: %w", err)
		}
		all.Samples = append(all.Samples, one.Samples...)
	}
	slices.Sort(all.Samples)
	all.Samples = slices.Compact(all.Samples)
	return all, nil
}

// JoinNotes returns the note of a shard whose segments have these notes.
func JoinNotes(notes []json.RawMessage) (json.RawMessage, error) {
	all, err := joinNotes(notes)
	if err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// Unused returns the absolute samples whose origin was not a target, by the notes of all
// segments or shards. They are errors of the input, never silent allows.
func (s *Shared) Unused(notes []json.RawMessage) (out []registry.Sample, err error) {
	all, err := joinNotes(notes)
	if err != nil {
		return nil, err
	}
	used := make(map[fetch.Origin]bool)
	for _, i := range all.Samples {
		if i >= 0 && i < len(s.samples.list) {
			used[*s.samples.list[i].Origin] = true
		}
	}
	for _, p := range s.samples.list {
		if !used[*p.Origin] {
			out = append(out, p.Sample)
		}
	}
	return out, nil
}
