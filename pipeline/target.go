package pipeline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/robocensus/robocensus/fetch"
)

// Target is one origin to ask, as the source gives it.
type Target struct {
	Seq        int64 // from 1, in the order of the input
	Input      string
	Rank       *int64
	Candidates []fetch.Origin // the origins to ask, in order, until one answers
	Lines      int64          // of the input that went into it
	Paths      []string       // samples of its own: path and query, of whichever candidate answers
	ownBytes   int            // of memory that these take
}

// maxOwnURLs and maxOwnBytes bound the samples of one origin, which are held until
// its answer is there.
const (
	maxOwnURLs  = 100_000
	maxOwnBytes = 32 << 20
)

// bytes is about what the target takes of memory.
func (t *Target) bytes() int { return len(t.Input) + t.ownBytes }

// source turns rows into targets: it groups adjacent rows of one origin, asks
// no origin twice, and sends what is no target to rejected.csv.
type source struct {
	schemes []string
	limit   int64 // 0: none
	reject  func(line int64, text, reason string) error
	remark  func(line int64, text, reason string) error // on a line that is a target all the same
	emit    func(Target) error

	seen   hashSet
	asked  map[string]bool // of the current target's URLs
	now    Target
	open   bool
	passed int64 // targets emitted
}

// errEnough ends the reading when the limit is reached.
var errEnough = errors.New("enough targets")

// take reads one row.
func (s *source) take(r row) error {
	if r.err != "" {
		return s.reject(r.line, r.text, r.err)
	}
	given := r.host
	if given == "" {
		given = r.url
	}
	if given == "" {
		return s.reject(r.line, r.text, "no_host: the row names no host")
	}
	candidates, sample, err := s.candidates(given)
	if err != nil {
		return s.reject(r.line, r.text, rejection(err))
	}
	if r.badRank {
		if err := s.remark(r.line, r.text, "bad_rank: no whole number from 1; the host is asked without"); err != nil {
			return err
		}
	}
	if r.url != "" && r.host != "" {
		if strings.HasPrefix(r.url, "/") {
			sample = r.url
		} else {
			var own []fetch.Origin
			if own, sample, err = s.candidates(r.url); err != nil {
				return s.reject(r.line, r.text, rejection(err))
			}
			named := candidates[0]
			if own[0].Host != named.Host || len(candidates) == 1 && own[0].Port != named.Port && own[0].WithScheme(named.Scheme) != named ||
				strings.Contains(r.host, "://") && own[0] != named {
				return s.reject(r.line, r.text, "outside_origin: the row's URL is not of the row's host")
			}
			candidates = own
		}
	}
	if s.open && s.now.Candidates[0] == candidates[0] {
		if sample == "" || s.asked[sample] {
			return s.reject(r.line, r.text, "duplicate")
		}
		if len(s.now.Paths) >= maxOwnURLs {
			return s.reject(r.line, r.text, fmt.Sprintf("too_many_urls: more than %d of one origin", maxOwnURLs))
		}
		if s.now.ownBytes+ownBytes(sample) > maxOwnBytes {
			return s.reject(r.line, r.text, fmt.Sprintf("too_many_urls: more than %d MiB of one origin", maxOwnBytes>>20))
		}
		s.add(sample)
		if len(candidates) == 1 {
			s.now.Candidates = candidates // this row names the scheme: no other will do for its sample
		}
		if s.now.Rank == nil {
			s.now.Rank = r.rank
		}
		s.now.Lines++
		return nil
	}
	if !s.seen.add(candidates[0].String()) {
		if sample != "" {
			return s.reject(r.line, r.text, "not_adjacent")
		}
		return s.reject(r.line, r.text, "duplicate")
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.now = Target{Input: strings.Clone(given), Rank: r.rank, Candidates: candidates, Lines: 1}
	s.open = true
	if len(s.asked) > 1000 {
		s.asked = nil // a map never shrinks
	}
	clear(s.asked)
	if sample != "" {
		s.add(sample)
	}
	return nil
}

func (s *source) add(sample string) {
	if s.asked == nil {
		s.asked = make(map[string]bool)
	}
	sample = strings.Clone(sample) // without the rest of its line
	s.asked[sample] = true
	s.now.Paths = append(s.now.Paths, sample)
	s.now.ownBytes += ownBytes(sample)
}

// ownBytes is what a sample takes of memory, with its place in a list.
func ownBytes(sample string) int { return len(sample) + 32 }

// flush emits the target under way.
func (s *source) flush() error {
	if !s.open {
		return nil
	}
	s.open = false
	s.passed++
	s.now.Seq = s.passed
	if err := s.emit(s.now); err != nil {
		return err
	}
	if s.passed == s.limit {
		return errEnough
	}
	return nil
}

// candidates are the origins that a host, an origin or a URL stands for: one
// where a scheme is named, else one for each scheme in their order.
func (s *source) candidates(given string) ([]fetch.Origin, string, error) {
	first, sample, err := fetch.Parse(given, s.schemes[0])
	if err == nil && !fetch.IsAsked(first.Host) {
		err = fmt.Errorf("%q has a label that begins or ends with a hyphen, which resolvers refuse", first.Host)
	}
	if err != nil {
		return nil, "", err
	}
	out := []fetch.Origin{first}
	if !strings.Contains(given, "://") && first.Port == fetch.DefaultPort(first.Scheme) {
		for _, scheme := range s.schemes[1:] {
			out = append(out, first.WithScheme(scheme))
		}
	}
	return out, sample, nil
}

func rejection(err error) string {
	if errors.Is(err, fetch.ErrScheme) {
		return "unsupported_scheme: " + err.Error()
	}
	return "bad_host: " + err.Error()
}
