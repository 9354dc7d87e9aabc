package source

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source/cdx"
	"github.com/robocensus/robocensus/pipeline/source/hosts"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// checkPlace returns why the archive of a capture is not read, "" if it is.
func (c *Config) checkPlace(p *cdx.Capture) string {
	switch {
	case remote.IsURL(p.File):
		return ""
	case !filepath.IsLocal(p.File):
		return "outside_base: the archive is outside --warc-base"
	case c.Base == "" && remote.IsURL(c.CDX):
		return "not_a_capture: names a path and no URL; give --warc-base"
	}
	return ""
}

// openIndex adds the index of captures. Its volumes are known when it is read.
func (s *Source) openIndex(ctx context.Context) error {
	if s.config.Shard.IsPart() {
		return &userfile.Error{Path: "--cdx", Err: errors.New("does not apply to shards; divide the index, for example by year, and make a run of each part")}
	}
	if s.config.CDX == "-" {
		s.inputs = append(s.inputs, journal.Input{Role: "cdx", Path: "-"})
		return nil
	}
	in, err := hosts.Inspect(ctx, s.config.CDX)
	if err != nil {
		return err
	}
	in.Role = "cdx"
	s.inputs = append(s.inputs, in)
	if s.config.Limit == 0 {
		s.Total = in.Rows
	}
	return nil
}
