package source

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// A kind says how one kind of stored answers is read; see [journal.StoredSources] for what
// else there is to say of it.
type kind struct {
	role string // of its inputs; in rejected.csv, what a line is of
	// given names what is given of the kind, for errors. It returns "" for nothing.
	given func(*Config) string
	open  func(*Source, context.Context) error
	// start prepares the reading, nil for nothing to do.
	start func(*Source, context.Context) error
	// check returns the error of open, without reading answers, standard input or URLs. nil
	// is for a kind that is a file or folder.
	check func(*Source, context.Context) error
	empty string // what an input without answers lacks
}

// kinds is the table of kinds, of which a source is the first that is given. It is a
// function because open finds the kind of a source.
func kinds() []kind {
	return []kind{
		{
			role: "cdx", given: func(c *Config) string { return namesOf(c.CDX) }, open: (*Source).openIndexes,
			start: (*Source).readCaptures, check: (*Source).checkIndexes,
			empty: "names no capture of a robots.txt; give a CDX or CDXJ file, JSON or Parquet, such as those of pywb or " +
				"Common Crawl",
		},
		{
			role: "warc", given: (*Config).archiveNames, open: (*Source).openArchives, start: (*Source).findLast,
			check: (*Source).checkArchives,
			empty: "holds no WARC or ARC record; give files such as those of a crawl's robotstxt folder",
		},
		{
			role: "run", given: func(c *Config) string { return c.FromRun }, open: (*Source).openRun,
			start: (*Source).readGivenBodies, check: (*Source).checkRun,
			empty: "is a run without hosts",
		},
		{
			role: "bodies", given: func(c *Config) string { return c.Bodies }, open: (*Source).openBodies,
			empty: "holds no file named by a host, as in example.com or example.com_8443",
		},
	}
}

// kind returns the kind of the stored answers, nil for hosts to ask.
func (c *Config) kind() *kind {
	all := kinds()
	if i := slices.IndexFunc(all, func(k kind) bool { return k.given(c) != "" }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Stored returns the kind of the stored answers, nil for hosts to ask.
func (c *Config) Stored() *journal.StoredSource {
	if k := c.kind(); k != nil {
		return journal.StoredAs(k.role)
	}
	return nil
}

// IsStored reports whether the source has captures, so that no host is asked.
func (c *Config) IsStored() bool { return c.kind() != nil }

// HasArchives reports whether the source is archives.
func (c *Config) HasArchives() bool {
	s := c.Stored()
	return s != nil && s.HasCaptures
}

// Check returns the error that Open returns for stored answers that are not there. It
// reads no answers and no standard input, and asks no server.
func Check(ctx context.Context, c Config) (err error) {
	s := &Source{config: c}
	defer s.Close()
	files := []string{c.Hosts}
	switch k := c.kind(); {
	case k == nil:
	case k.check != nil:
		err = k.check(s, ctx)
	default:
		files = []string{k.given(&c), c.Hosts}
	}
	for _, name := range files {
		if err == nil && isLocal(name) {
			if _, e := os.Stat(name); e != nil {
				err = &userfile.Error{Path: remote.Name(name), Err: errors.Unwrap(e)}
			}
		}
	}
	if err == nil && c.Ranks != "-" {
		err = s.openRanks(ctx)
	}
	return err
}

// isLocal reports whether an input is a file or folder of this machine.
func isLocal(name string) bool { return name != "" && name != "-" && !remote.IsURL(name) }

// checkArchives checks the archives that are named, and the list of those that are listed.
func (s *Source) checkArchives(ctx context.Context) (err error) {
	if c := &s.config; c.Paths == "" {
		_, err = matching(ctx, slices.DeleteFunc(slices.Clone(c.WARC), remote.IsURL), warcFiles)
	} else if isLocal(c.Paths) {
		_, err = c.readPaths(ctx)
	}
	return err
}

func (s *Source) checkIndexes(ctx context.Context) error {
	_, err := matching(ctx, slices.DeleteFunc(slices.Clone(s.config.CDX), remote.IsURL), indexFiles)
	return err
}

func (s *Source) checkRun(ctx context.Context) error {
	if !isLocal(s.config.FromRun) {
		return nil
	}
	return s.openRun(ctx)
}

// archiveNames names the archives for an error, "" for none.
func (c *Config) archiveNames() string {
	planned := ""
	if len(c.Archives) > 0 {
		planned = "the planned archives"
	}
	return cmp.Or(c.Paths, namesOf(c.WARC), planned)
}

// namesOf names files that the user gives.
func namesOf(patterns []string) string {
	names := slices.Clone(patterns)
	for i, name := range names {
		names[i] = remote.Name(name)
	}
	return strings.Join(names, " ")
}
