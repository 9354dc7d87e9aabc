package source

import (
	"context"
	"net/http"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/hosts"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots/answer"
)

// openBodies adds the volume of --bodies: a folder or tar of robots.txt files.
func (s *Source) openBodies(ctx context.Context) error {
	name := s.config.Bodies
	in, err := input.IdentifyBodies(ctx, "bodies", name)
	if err == nil {
		err = input.CheckBodies(ctx, name)
	}
	if err != nil {
		return err
	}
	v := s.add(in, func(ctx context.Context, emit func(target.Target) error) error {
		reject := func(file, reason string) error { return s.reject(0, file, reason) }
		var seen hosts.Origins
		return input.EachBody(ctx, name, func(f *input.BodyFile) error { return s.takeBody(f, &seen, emit) }, reject)
	})
	v.mixed = true
	s.number()
	return nil
}

// takeBody emits the target of a file, unless an earlier one is of the same origin by
// another spelling. Its content is read only if its host is wanted, and in the shard.
func (s *Source) takeBody(file *input.BodyFile, seen *hosts.Origins, emit func(target.Target) error) error {
	o, err := file.Origin(s.config.Schemes[0])
	if err != nil {
		return s.reject(0, file.Name, input.ReasonOf(err))
	}
	t, ok := s.wantedOfAll(o)
	if !ok {
		return nil
	}
	if !seen.Add(o) {
		return s.reject(0, file.Name, "duplicate")
	}
	var body []byte
	if s.config.Shard.Has(o.Host) { // otherwise the target only counts
		if body, err = file.Read(s.config.MaxBody); err != nil {
			return err
		}
	}
	c := &fetch.Capture{Origin: o, Start: file.Modified, Hops: []answer.Hop{{URL: o.RobotsURL(), Status: 200}}}
	if limit := s.config.MaxBody; len(body) > limit {
		body, c.Truncated = body[:limit], true
	}
	c.Body, c.Challenge = body, s.config.Challenges.Find(http.StatusOK, http.Header(nil).Values, body)
	t.Input, t.Capture, t.Stored = file.Host(), c, &target.Stored{Source: "body", Assumed: true}
	return emit(t)
}

// wantedOfAll is [Source.wanted] for a volume with the targets of all shards. Each
// shard counts what it skips of its own.
func (s *Source) wantedOfAll(o fetch.Origin) (t target.Target, ok bool) {
	skipped := make(input.Skipped)
	if t, ok = s.wanted(o, skipped); !ok && s.config.Shard.Has(o.Host) {
		s.rejects.Skip(skipped)
	}
	return t, ok
}
