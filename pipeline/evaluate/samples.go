package evaluate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// Sample is a URL to judge: a path, tried on every host, or an absolute URL,
// tried on its own origin only.
type Sample struct {
	URL    string // as given
	Line   int64
	Shown  string // as the tables hold it
	Origin *fetch.Origin
}

// maxSample bounds one line of the list.
const maxSample = 64 << 10

// ParseSamples reads a list of samples: one to a line, blank lines and lines
// that start with # skipped. A line that is neither a path nor an absolute
// URL is an error with its line.
func ParseSamples(path string, text []byte) ([]Sample, error) {
	var out []Sample
	seen := make(map[string]bool)
	r := bufio.NewScanner(bytes.NewReader(text))
	r.Buffer(nil, maxSample)
	line := int64(0)
	for r.Scan() {
		line++
		given := strings.TrimSpace(r.Text())
		if given == "" || strings.HasPrefix(given, "#") || seen[given] {
			continue
		}
		seen[given] = true
		s := Sample{URL: given, Line: line}
		if !strings.HasPrefix(given, "/") {
			if !strings.Contains(given, "://") {
				return nil, &userfile.Error{Path: path, Line: line, Err: errors.New("a sample is a path that starts with / or an absolute URL")}
			}
			o, _, err := fetch.Parse(given, "")
			if err != nil {
				return nil, &userfile.Error{Path: path, Line: line, Err: err}
			}
			s.Origin = &o
		}
		out = append(out, s)
	}
	if err := r.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("is longer than %d bytes", maxSample)
		}
		return nil, &userfile.Error{Path: path, Line: line + 1, Err: err}
	}
	return out, nil
}

// Samples are the URLs of a run, prepared for matching once per profile.
type Samples struct {
	Paths    []Prepared
	Absolute map[fetch.Origin][]*Prepared
	List     []*Prepared // the absolute ones, in the order of the file
}

type Prepared struct {
	Sample  Sample
	Targets []robots.Target // by profile
	Index   int             // in the list of absolute ones
	Used    atomic.Bool
}

func NewSamples(list []Sample, profiles []*robots.Profile) *Samples {
	s := &Samples{Absolute: make(map[fetch.Origin][]*Prepared), Paths: make([]Prepared, 0, len(list))}
	for _, sample := range list {
		sample.Shown = sink.TextString(sample.URL)
		if sample.Origin == nil {
			s.Paths = append(s.Paths, Prepared{Sample: sample, Targets: TargetsOf(sample.URL, profiles)})
			continue
		}
		p := &Prepared{Sample: sample, Targets: TargetsOf(sample.URL, profiles), Index: len(s.List)}
		s.Absolute[*sample.Origin] = append(s.Absolute[*sample.Origin], p)
		s.List = append(s.List, p)
	}
	return s
}

func TargetsOf(url string, profiles []*robots.Profile) []robots.Target {
	out := make([]robots.Target, len(profiles))
	for i, p := range profiles {
		out[i] = p.Target(url)
	}
	return out
}

// Unused are the absolute samples whose origin was no target: an input error
// (SPEC section 1), reported and never a silent allow.
func (s *Samples) Unused() []Sample {
	var out []Sample
	for _, p := range s.List {
		if !p.Used.Load() {
			out = append(out, p.Sample)
		}
	}
	return out
}
