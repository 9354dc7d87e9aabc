package pipeline

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
	shown  string // as the tables hold it
	origin *fetch.Origin
}

// ParseSamples reads a list of samples: one to a line, blank lines and lines
// that start with # skipped. A line that is neither a path nor an absolute
// URL is an error with its line.
func ParseSamples(path string, text []byte) ([]Sample, error) {
	var out []Sample
	seen := make(map[string]bool)
	r := bufio.NewScanner(bytes.NewReader(text))
	r.Buffer(nil, maxLine)
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
			s.origin = &o
		}
		out = append(out, s)
	}
	if err := r.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("is longer than %d bytes", maxLine)
		}
		return nil, &userfile.Error{Path: path, Line: line + 1, Err: err}
	}
	return out, nil
}

// samples are the URLs of a run, prepared for matching once per profile.
type samples struct {
	paths    []prepared
	absolute map[fetch.Origin][]*prepared
	list     []*prepared // the absolute ones, in the order of the file
}

type prepared struct {
	sample  Sample
	targets []robots.Target // by profile
	index   int             // in the list of absolute ones
	used    atomic.Bool
}

func newSamples(list []Sample, profiles []*robots.Profile) *samples {
	s := &samples{absolute: make(map[fetch.Origin][]*prepared), paths: make([]prepared, 0, len(list))}
	for _, sample := range list {
		sample.shown = sink.TextString(sample.URL)
		if sample.origin == nil {
			s.paths = append(s.paths, prepared{sample: sample, targets: targetsOf(sample.URL, profiles)})
			continue
		}
		p := &prepared{sample: sample, targets: targetsOf(sample.URL, profiles), index: len(s.list)}
		s.absolute[*sample.origin] = append(s.absolute[*sample.origin], p)
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

// unused are the absolute samples whose origin was no target: an input error
// (SPEC section 1), reported and never a silent allow.
func (s *samples) unused() []Sample {
	var out []Sample
	for _, p := range s.list {
		if !p.used.Load() {
			out = append(out, p.sample)
		}
	}
	return out
}
