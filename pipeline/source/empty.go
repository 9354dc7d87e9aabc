package source

import (
	"errors"
	"fmt"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/visible"
)

// Empty returns the error of a source without targets. A shard may have none.
func (s *Source) Empty() error {
	c := &s.config
	if s.elsewhere.Load() > 0 || c.Planned != "" {
		return nil
	}
	path, wanted := c.Hosts, holdsNoHost
	skipped, stored := s.rejects.Skipped(), c.kind()
	switch {
	case skipped[input.NotSampled] > 0:
		path, wanted = c.name(), fmt.Sprintf("holds %s, none of them in the sample; give a larger --sample",
			visible.Count(skipped[input.NotSampled], "host", "hosts"))
	case len(c.Named) > 0:
		path, wanted = journal.NamedHosts, "are not hosts"
	case s.filter != nil && skipped[input.OtherHosts] > 0:
		wanted = fmt.Sprintf("names no host of the %d stored answers; give hosts that are among them",
			skipped[input.OtherHosts])
	case stored != nil && skipped[input.OtherSubsets] > 0:
		path, wanted = stored.given(c),
			fmt.Sprintf("holds no row of the subset robotstxt, but %d of others; give the files of that subset",
				skipped[input.OtherSubsets])
	case stored != nil && skipped[input.OtherURLs]+skipped[input.OtherRecords] > 0:
		path, wanted = stored.given(c),
			fmt.Sprintf("holds no capture of a robots.txt, but %d of other URLs and %d other records", skipped[input.OtherURLs],
				skipped[input.OtherRecords])
	case stored != nil:
		path, wanted = stored.given(c), stored.empty
	}
	return s.empty(path, wanted)
}

const holdsNoHost = "holds no host; give one host, origin or URL to a line, or a table with a column host, url or " +
	"host_rev"

// empty returns the error of an input of which nothing is wanted.
func (s *Source) empty(path, wanted string) error {
	if path == "-" {
		path = "standard input"
	}
	if s.rejects != nil {
		if n, first := s.rejects.Found(); n > 0 {
			wanted = fmt.Sprintf("%s; rejected: %d, the first %s", wanted, n, schema.TextString(first))
		}
	}
	return &userfile.Error{Path: remote.Name(path), Err: errors.New(wanted)}
}
