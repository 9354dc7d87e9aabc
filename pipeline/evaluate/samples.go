package evaluate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// Sample is a URL to judge: a path, tried on every host, or an absolute URL,
// tried on its own origin only.
type Sample struct {
	URL    string // as given
	Line   int64
	Origin *fetch.Origin // nil for a path
}

// maxSample bounds one line of the list.
const maxSample = 64 << 10

// ParseSamples reads a list of samples (see [EachSample]), each once.
func ParseSamples(path string, text []byte) ([]Sample, error) {
	var out []Sample
	seen := make(map[string]bool)
	err := EachSample(path, bytes.NewReader(text), func(s Sample) error {
		if !seen[s.URL] {
			seen[s.URL] = true
			out = append(out, s)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// EachSample calls each with the samples of a list: one to a line, blank lines and lines
// that start with # skipped. A line that is neither a path nor an absolute URL is an
// error with its line. It returns an error of each unchanged.
func EachSample(path string, in io.Reader, each func(Sample) error) error {
	b := bufio.NewReader(in)
	b.Peek(1)                                                 // Scan returns its error
	head, _ := b.Peek(min(b.Buffered(), userfile.FormatHead)) // without waiting for more
	if err := userfile.Format(head); err != nil {
		return &userfile.Error{Path: path, Err: err}
	}
	r := bufio.NewScanner(b)
	r.Buffer(nil, maxSample)
	line := int64(0)
	for r.Scan() {
		line++
		given := strings.TrimSpace(r.Text())
		if given == "" || strings.HasPrefix(given, "#") {
			continue
		}
		s := Sample{URL: given, Line: line}
		if !strings.HasPrefix(given, "/") {
			if !strings.Contains(given, "://") {
				return &userfile.Error{Path: path, Line: line, Err: errors.New("a sample is a path that starts with / or an absolute URL")}
			}
			o, _, err := fetch.Parse(given, "")
			if err != nil {
				return &userfile.Error{Path: path, Line: line, Err: err}
			}
			s.Origin = &o
		}
		if err := each(s); err != nil {
			return err
		}
	}
	err := r.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("is longer than %d bytes", maxSample)
	}
	if err != nil {
		return &userfile.Error{Path: path, Line: line + 1, Err: err}
	}
	return nil
}

// samples are the URLs of a run, prepared for matching once per profile.
type samples struct {
	paths    []prepared
	absolute map[fetch.Origin][]*prepared
	list     []*prepared // absolute samples, in the order of the file
}

type prepared struct {
	Sample
	shown   string          // the URL as the tables hold it
	targets []robots.Target // one per reading
	index   int             // index in samples.list
	used    atomic.Bool
}

func newSamples(list []Sample, profiles []*robots.Profile) *samples {
	s := &samples{absolute: make(map[fetch.Origin][]*prepared), paths: make([]prepared, 0, len(list))}
	for _, sample := range list {
		shown, targets := sink.TextString(sample.URL), targetsOf(sample.URL, profiles)
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
func (s *Shared) URLs(t *source.Target) int {
	return len(s.samples.paths) + len(t.Paths) + len(s.samples.absolute[t.Candidates[0]])
}

// Unused returns the absolute samples whose origin was not a target. They are errors
// of the input, never silent allows.
func (s *Shared) Unused() []Sample {
	var out []Sample
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
