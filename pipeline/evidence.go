package pipeline

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/fetch/warc"
)

// evidence makes the WARC records of fetches, for --warc-out. They lie on disk until the
// segment is committed, and are saved with the capture in case this process dies.
type evidence struct {
	about []warc.Field
	// writers bounds the records that are being made: they are in memory as a whole.
	writers chan *warc.Evidence
}

// newEvidence returns nil if the run keeps no records.
func newEvidence(c *Config) *evidence {
	if c.WARCOut == "" {
		return nil
	}
	n := max(1, runtime.GOMAXPROCS(0))
	obeyed := "not obeyed: only robots.txt is asked for"
	if c.Fetch.FrontPage || len(c.Fetch.Further) > 0 {
		obeyed = "obeyed for all else but robots.txt, under " + strings.Join(client.OwnTokens(c.Fetch.UserAgent), " and ")
	}
	switch c.Settings.Text("pages") {
	case "":
	case "all":
		obeyed += "; not obeyed for pages under further identities"
	default:
		obeyed += "; and for pages under further identities, under their agents"
	}
	e := &evidence{writers: make(chan *warc.Evidence, n), about: []warc.Field{
		warc.Software(c.ToolVersion), {Name: "isPartOf", Value: c.Run},
		{Name: "description", Value: "requests of a census of crawl policies, and their answers"},
		{Name: "robots", Value: obeyed}, {Name: "http-header-user-agent", Value: c.Fetch.UserAgent},
	}}
	for range n {
		e.writers <- &warc.Evidence{MaxBody: c.Fetch.MaxBody, DropSecrets: c.DropSecrets}
	}
	return e
}

// warcFile returns the file for the records of the whole run, "" if those of a shard stay
// in the folder of the run.
func (c *Config) warcFile() string {
	if c.Source.Shard.Count > 1 {
		return ""
	}
	return c.WARCOut
}

// begin returns the record that a segment's begin with: each segment has a WARC file.
func (e *evidence) begin() ([]byte, error) {
	w := <-e.writers
	defer func() { e.writers <- w }()
	return w.Info(time.Now(), e.about)
}

// record makes the records of a job's fetch. The caller calls done once memory or disk has
// them.
func (e *evidence) record(ctx context.Context, lease *client.Lease, j *job) (done func(), err error) {
	if e == nil {
		return func() {}, nil
	}
	select {
	case w := <-e.writers:
		j.evidence, err = w.Capture(j.Capture, lease.Exchanges())
		if err != nil {
			err = fmt.Errorf("keep the requests to %s: %w", j.Capture.Origin, err)
		}
		return func() { e.writers <- w }, err
	case <-ctx.Done():
		return func() {}, ctx.Err()
	}
}
