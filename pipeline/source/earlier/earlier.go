package earlier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/sitemap"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/verify"
)

// Run is a complete run whose captures can be read.
type Run struct {
	Manifest *journal.Manifest
	Segments []Segment // in order

	// Bodies are those of its answers, nil if they are in the table bodies.
	Bodies *input.BodyIndex

	in     store.Store
	limits limits
	spare  bool    // answers may be gone whose bodies are there
	spans  *spans  // nil if segments do not follow each other in the input
	shards *shards // of hosts, nil for none
}

// Segment has the parts of a segment that hold captures. A shard is one segment of the
// run, made of segments of its own: a row group of fetches each.
type Segment struct {
	Index int
	parts map[string][]journal.Part // by table
}

// Open opens the run DIR/_runs/ID. A run that cannot be re-evaluated is a [userfile.Error].
// One whose bodies are given, as [Run.Bodies], needs no table of them, and has no answers to
// identities, whose bodies are not given.
func Open(ctx context.Context, folder string, areGiven bool) (r *Run, err error) {
	dir, id := runAt(folder)
	in, err := store.Open(ctx, dir)
	if err != nil {
		return nil, notARun(folder, err)
	}
	defer func() {
		if err != nil {
			in.Close()
		}
	}()
	m, err := journal.ReadManifest(in, id)
	if err != nil {
		return nil, notARun(folder, err)
	}
	tables := TablesNeeded(areGiven)
	for _, table := range tables {
		if !slices.Contains(m.Tables, table) {
			err := fmt.Errorf("has no table %s; only a run made with --keep-bodies can be re-evaluated", table)
			return nil, &userfile.Error{Path: folder, Err: err}
		}
	}
	if m.State != "complete" {
		return nil, &userfile.Error{Path: folder, Err: errors.New("is not complete: " + m.HowToComplete())}
	}
	if err := journal.Lacking(journal.Needed(m.Without, tables...)); err != nil {
		return nil, &userfile.Error{Path: folder, Err: err}
	}
	r = &Run{Manifest: m, in: in, spare: m.LacksAnswers()}
	if r.limits, err = limitsOf(m); err != nil {
		return nil, &userfile.Error{Path: folder, Err: err}
	}
	if n := m.ShardsOfHosts(); n == 0 {
		r.spans = new(spans)
	} else {
		r.shards = &shards{of: &m.Plan, count: n, hasDomains: !slices.Contains(m.Without, "fetches.registered_domain")}
	}
	needs := map[string]bool{"fetches": true, "bodies": true, "answers": m.HasAnswers() && !areGiven,
		"sitemap_files": m.HasURLs(), "urls": m.HasURLs(), "verdicts": m.NamesURLs()}
	segments, _ := m.BySegment()
	for _, index := range slices.Sorted(maps.Keys(segments)) {
		parts := segments[index]
		if len(parts["fetches"]) == 0 { // of a manifest that somebody else wrote
			return nil, &userfile.Error{Path: folder, Err: fmt.Errorf("segment %d has no part of fetches", index)}
		}
		maps.DeleteFunc(parts, func(table string, _ []journal.Part) bool { return !needs[table] })
		r.Segments = append(r.Segments, Segment{index, parts})
	}
	return r, nil
}

// Close closes the store of the run, and the index of its bodies.
func (r *Run) Close() error { return errors.Join(r.in.Close(), r.Bodies.Close()) }

// Input returns the Input that identifies the segment in the plan.
func (s *Segment) Input() journal.Input {
	in := journal.Input{Role: "run", Path: s.parts["fetches"][0].Path, SHA256: s.parts["fetches"][0].SHA256}
	for _, p := range s.parts["fetches"] {
		in.Rows += p.Rows
	}
	return in
}

// Read calls emit for each wanted target of a segment, in order. What does not fit together is
// a [userfile.Error], but for bodies of other targets, which are not held against their digests;
// an error of emit is returned as it is.
func (r *Run) Read(
	ctx context.Context, s *Segment, wanted func(fetch.Origin) bool, emit func(target.Target) error,
) error {
	var ended error
	err := r.readSegment(ctx, s, wanted, func(t target.Target) error {
		ended = emit(t)
		return ended
	})
	if err == nil || ended != nil || ctx.Err() != nil {
		return err
	}
	return inputError(s.parts["fetches"][0].Path, err)
}

// notARun makes the error of a run that cannot be read.
func notARun(folder string, err error) error {
	folder = remote.Name(folder)
	if store.FaultOf(err) != store.OfData {
		return fmt.Errorf("read %s: %w", folder, err)
	}
	if strings.Contains(folder, "://") && !remote.IsBucket(folder) {
		return &userfile.Error{Path: folder, Err: errors.New("is a URL; download the run, and give DIR/_runs/ID")}
	}
	return &userfile.Error{Path: folder, Err: fmt.Errorf("is not a run: %w; give DIR/_runs/ID", err)}
}

// runAt returns the folder of the tables and the ID of the run DIR/_runs/ID.
func runAt(folder string) (dir, id string) {
	if store.IsURL(folder) {
		clean := strings.TrimRight(folder, "/")
		id = path.Base(clean)
		return strings.TrimSuffix(clean[:len(clean)-len(id)-1], "/_runs"), id
	}
	clean := filepath.Clean(folder)
	return filepath.Dir(filepath.Dir(clean)), filepath.Base(clean)
}

// inputError returns the error of an input, unless err already is one, or is not the
// fault of the data.
func inputError(path string, err error) error {
	if _, ok := errors.AsType[*userfile.Error](err); ok || store.FaultOf(err) != store.OfData {
		return err
	}
	return &userfile.Error{Path: path, Err: err}
}

// readSegment emits the wanted targets of a segment with their bodies and their own URLs.
// Rows with the same body share it.
func (r *Run) readSegment(
	ctx context.Context, segment *Segment, wanted func(fetch.Origin) bool, emit func(target.Target) error,
) error {
	kept := &bodyReader{Cursor: follow[schema.Body](ctx, r, segment.parts["bodies"]), limits: r.limits, spare: r.spare}
	defer kept.Close()
	answers := &besideReader[schema.Answer]{
		follow[schema.Answer](ctx, r, segment.parts["answers"]), "answers to identities",
		2 * fetch.MaxIdentities, // robots.txt and a page
		verify.CheckAnswer,
	}
	defer answers.Close()
	files := &besideReader[schema.SitemapFile]{
		follow[schema.SitemapFile](ctx, r, segment.parts["sitemap_files"]), "sitemaps", fetch.MaxFurther,
		verify.CheckSitemapFile,
	}
	defer files.Close()
	pages := &besideReader[schema.ListedURL]{
		follow[schema.ListedURL](ctx, r, segment.parts["urls"]), "listed pages", sitemap.MaxSample,
		func(*schema.ListedURL) error { return nil },
	}
	defer pages.Close()
	urls := r.ownURLs(ctx, segment.parts["verdicts"])
	defer urls.Close()
	var seqs span
	err := eachGroup(ctx, r.in, segment.parts["fetches"], func(rows []schema.Fetch) error {
		if err := r.shards.add(segment.parts["fetches"][0].Segment, rows); err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		also, err := answers.upTo(rows[len(rows)-1].Seq)
		if err != nil {
			return err
		}
		of, err := files.upTo(rows[len(rows)-1].Seq)
		if err != nil {
			return err
		}
		listed, err := pages.upTo(rows[len(rows)-1].Seq)
		if err != nil {
			return err
		}
		isWanted := make(map[int64]bool)
		for i := range rows {
			isWanted[rows[i].Seq] = wanted(originOf(&rows[i]))
		}
		kept.expect(rows, also, isWanted)
		for i := range rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := verify.CheckFetch(&rows[i]); err != nil {
				return err
			}
			if err := seqs.grow(rows[i].Seq); err != nil {
				return err
			}
			body, err := r.bodyOf(&rows[i], kept)
			if err != nil {
				return err
			}
			t := targetOf(&rows[i], body, r.limits)
			for k := range also[t.Seq] {
				answer := &also[t.Seq][k]
				if schema.IsPage(answer.Path) {
					t.Pages = append(t.Pages, *answer)
					continue
				}
				body, err := kept.body(answer.ContentDigest, answer.Host)
				if err != nil {
					return err
				}
				t.Capture.Also = append(t.Capture.Also, alsoOf(answer, t.Capture.Origin, body))
			}
			if len(of[t.Seq]) > 0 {
				t.Listed = &target.Listed{Files: of[t.Seq], URLs: listed[t.Seq]}
			}
			delete(also, t.Seq)
			delete(of, t.Seq)
			delete(listed, t.Seq)
			if t.Paths, t.OwnBytes, err = urls.of(t.Seq, t.Capture.Origin); err != nil {
				return err
			}
			if !isWanted[t.Seq] {
				continue
			}
			if err := emit(t); err != nil {
				return err
			}
		}
		for seq := range also {
			return fmt.Errorf("seq %d has answers to identities, and no row of fetches", seq)
		}
		for seq := range of {
			return fmt.Errorf("seq %d has sitemaps, and no row of fetches", seq)
		}
		for seq := range listed {
			return fmt.Errorf("seq %d has listed pages, and no row of fetches", seq)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.spans.add(segment.parts["fetches"][0].Segment, seqs)
}

func follow[R any](ctx context.Context, r *Run, parts []journal.Part) *rowio.Cursor[R] {
	return rowio.Follow[R](ctx, r.in, parts, anyRows)
}

// bodyOf returns the body that a row names.
func (r *Run) bodyOf(row *schema.Fetch, kept *bodyReader) ([]byte, error) {
	if r.Bodies != nil {
		return r.Bodies.Of(row)
	}
	return kept.body(row.KeptDigest(), row.Host)
}
