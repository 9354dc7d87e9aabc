package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/pipeline/source/cdx"
	"github.com/robocensus/robocensus/pipeline/source/last"
)

// What a host is asked for besides its robots.txt, such as its sitemaps, is found among the
// captures of all archives, or of all lines of an index. Which captures that will be is known
// only from robots.txt and from the answers themselves. So the archives are read once for
// where their captures are, which is sorted on disk, and each capture that is wanted is read
// by its place. Archives that this program wrote have it all with the robots.txt.

// answersOf finds further answers, for one reader of a volume.
type answersOf struct {
	*Source
	records blockReader
}

// answers returns what finds further answers.
func (s *Source) answers() *answersOf {
	a := &answersOf{Source: s, records: blockReader{source: s, locate: s.config.locate}}
	if s.places == nil {
		a.records.locate = func(path string) string { return path } // as indexArchives has it
	}
	return a
}

// complete adds to a capture of a robots.txt what else its host answered.
func (a *answersOf) complete(ctx context.Context, c *warc.Capture) error {
	if !a.config.Further || c.OfFetch {
		return nil
	}
	if err := a.indexArchives(ctx); err != nil {
		return err
	}
	return a.Complete(ctx, &c.Capture, a.find)
}

// find is what [client.Find] says.
func (a *answersOf) find(ctx context.Context, url string, near time.Time, use func(time.Time, io.Reader)) (found bool,
	err error) {
	err = a.originals.known.Near(url, near, func(at uint64) (bool, error) {
		var revisit *warc.Capture
		err := a.read(ctx, at, func(c *warc.Capture, sent io.Reader) {
			switch {
			case c.Hops[0].URL != url: // a hash alone was equal, or an index says otherwise
			case c.WantsOriginal():
				revisit = c
			case c.StandsForAnother(): // and does not say for which
			default:
				found = true
				use(c.Start, sent)
			}
		})
		if err != nil || revisit == nil {
			return found, err
		}
		err = a.originals.known.Of(revisit, func(at uint64) (bool, error) {
			return found, a.read(ctx, at, func(c *warc.Capture, sent io.Reader) {
				if found = last.IsOriginal(revisit, c); found {
					use(revisit.Start, sent)
				}
			})
		})
		return found, err
	})
	return found, err
}

// read reads the answer at a place, if there is one.
func (a *answersOf) read(ctx context.Context, at uint64, use func(*warc.Capture, io.Reader)) error {
	p, err := a.originals.place(at)
	if err != nil {
		return err
	}
	stored := a.config.captures()
	stored.Answer = use
	_, _, err = a.records.readOne(ctx, &cdx.Capture{Place: p}, stored, func(*warc.Capture) bool { return true })
	return err
}

func (a *answersOf) close() { a.records.close() }

// indexArchives finds where the captures of the archives are, once.
func (s *Source) indexArchives(ctx context.Context) error {
	if s.places != nil {
		return nil // an index is given
	}
	s.indexOnce.Do(func() { s.indexErr = s.readPlaces(ctx) })
	return s.indexErr
}

func (s *Source) readPlaces(ctx context.Context) (err error) {
	if s.config.Shard.IsPart() {
		return &userfile.Error{Path: "--sitemaps, --documents or --front-page", Err: errors.New("of archives that another " +
			"program wrote does not apply to a shard, which does not have all captures of a host; make the run without shards")}
	}
	for _, v := range s.Volumes {
		if !isLocal(v.location) || !v.canBeReadAgain() {
			return &userfile.Error{Path: v.input.Path, Err: errors.New("is no file that can be read again, as --sitemaps, " +
				"--documents and --front-page do with archives that another program wrote: give it as a file, or its captures " +
				"by an index (--cdx)")}
		}
	}
	if s.originals, err = newOriginals(s.rejects.Scratch, true); err != nil {
		return err
	}
	none := func() bool { return false }
	err = s.eachArchive(ctx, s.Volumes, func(int) bool { return true },
		func(ctx context.Context, i int, name string, in io.Reader) error {
			at := int64(0)
			_, err := warc.ReadAll(ctx, name, in, s.config.captures(), none, func(c *warc.Capture) error {
				s.progress(c.Offset - at)
				at = c.Offset
				if c.OfFetch {
					return nil
				}
				if c.Length == 0 {
					return &userfile.Error{Path: name, Err: fmt.Errorf("at byte %d: several records are compressed in one, so "+
						"that what else it has of a host cannot be had: unpack it, or compress each record by itself, as "+
						"warcio recompress does", c.Offset)}
				}
				return s.originals.add(cdx.Place{File: s.Volumes[i].location, Offset: c.Offset, Length: c.Length}, c)
			}, func(int64, string) error { return nil }) // reading the targets reports damage
			return err
		})
	return errors.Join(err, s.originals.settle())
}

// findForeign finds out whether archives of other programs are among the volumes.
func (s *Source) findForeign(ctx context.Context) error {
	if !s.config.Further {
		return nil
	}
	for _, v := range s.Volumes {
		isForeign, err := s.isForeign(ctx, v)
		if err != nil {
			return err
		}
		s.foreign = s.foreign || isForeign
	}
	for _, v := range s.Volumes {
		if s.foreign && s.config.Limit == 0 {
			s.Total += v.input.Bytes // it is read for the index too
		}
	}
	return nil
}

// isForeign reports whether an archive is a file that another program has written, as far as
// its first record says.
func (s *Source) isForeign(ctx context.Context, v *Volume) (bool, error) {
	if !isLocal(v.location) || v.input.EndsSHA256 == "" {
		return false, nil
	}
	f, err := os.Open(v.location)
	if err != nil {
		return false, &userfile.Error{Path: v.input.Path, Err: errors.Unwrap(err)}
	}
	defer f.Close()
	ours, err := warc.BeginsEvidence(ctx, f)
	return !ours, err
}
