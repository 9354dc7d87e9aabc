package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/internal/shred"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// rowGroup is the most rows of a row group of any table.
const rowGroup = shred.RowGroup

// Segment writes the parts for a range of targets. It is not safe for concurrent
// use, but several segments of a run may be written at the same time.
type Segment struct {
	Fetches     Table[schema.Fetch]
	Groups      Table[schema.Group]
	Rules       Table[schema.Rule]
	Sitemaps    Table[schema.Sitemap]
	Lines       Table[schema.Line]
	Signals     Table[schema.Signal]
	Preferences Table[schema.Preference]
	Templates   Table[schema.Template]
	Answers     Table[schema.Answer]
	Labels      Table[schema.Label]

	SitemapFiles Table[schema.SitemapFile]
	Coverage     Table[schema.Coverage]
	URLs         Table[schema.ListedURL]

	Documents   Table[schema.Document]
	Policies    Table[schema.Policy]
	Verdicts    Table[schema.Verdict]
	Agents      Table[schema.Agent] // only segment 0 writes it
	Summary     Table[schema.Count]
	LabelCounts Table[schema.LabelCount]
	Examples    Table[schema.Example]
	Bodies      Table[schema.Body]

	// Targets is the number of targets, set by the caller. The segments of a complete
	// run have all targets of the source.
	Targets int64
	// Note is JSON of the caller, for use when resuming (see [Run.Committed]).
	Note json.RawMessage
	// Archive is the archive that the targets come from, nil for none.
	Archive *journal.ArchiveRecord

	run   *Run
	index int
	piece int         // its number within the segment, -1 for all of it
	warc  *store.File // nil unless the run keeps its requests and answers
	open  []openPart
	over  bool // committed or aborted
}

// Table writes the part of a table. The zero value discards rows: it stands for a
// table that the run does not write, or of which the segment has no part.
type Table[T any] struct{ w *writer[T] }

// Write appends rows. The caller may reuse their memory afterwards. A full disk may
// cause an error only in [Segment.Commit].
func (t Table[T]) Write(rows ...T) error {
	if t.w == nil || len(rows) == 0 {
		return nil
	}
	if err := t.w.rows.Write(rows); err != nil {
		return fmt.Errorf("write %s: %w", t.w.file.Path(), err)
	}
	t.w.info.Rows += int64(len(rows))
	return nil
}

// Column is a column with texts that stand in place of those of rows.
type Column = shred.Column

// WriteEach appends the rows once for each text of the columns, which have equally many.
// It is much faster than Write for rows that differ in nothing else.
func (t Table[T]) WriteEach(rows []T, columns ...Column) error {
	if t.w == nil || len(rows) == 0 {
		return nil
	}
	if err := t.w.rows.WriteEach(rows, columns...); err != nil {
		return fmt.Errorf("write %s: %w", t.w.file.Path(), err)
	}
	t.w.info.Rows += int64(len(rows)) * int64(columns[0].To-columns[0].From)
	return nil
}

// Wanted reports whether rows are written, so that the caller can avoid making
// unwanted ones.
func (t Table[T]) Wanted() bool { return t.w != nil }

// openPart is a writer of any row type.
type openPart interface {
	finish() (journal.Part, error) // close and sync, under the temporary name
	discard()
	publish() error
}

type writer[T any] struct {
	rows *shred.Writer[T]
	file *store.File
	info journal.Part
}

// Segment starts segment index, counted from 0. A segment that is already started or
// committed is an error.
func (r *Run) Segment(index int) (*Segment, error) {
	if err := r.begin(index); err != nil {
		return nil, err
	}
	return r.start(&Segment{run: r, index: index, piece: -1})
}

func (r *Run) start(s *Segment) (*Segment, error) {
	for _, name := range schema.TableNames {
		// Of a table with one part for the whole run, the first piece of the first segment has it.
		if !slices.Contains(r.plan.Tables, name) || !layout.HasPart(name, s.index+max(s.piece, 0)) {
			continue
		}
		if err := s.table(name).open(s, name); err != nil {
			s.Abort()
			return nil, err
		}
	}
	if err := s.openWARC(); err != nil {
		s.Abort()
		return nil, err
	}
	return s, nil
}

// anyTable is a table of any row type.
type anyTable interface {
	open(s *Segment, name string) error
	join(ctx context.Context, w io.Writer, from store.Store, parts []journal.Part) error
}

// table returns the field with the name of a table.
func (s *Segment) table(name string) anyTable {
	field := reflect.ValueOf(s).Elem().FieldByNameFunc(
		func(field string) bool { return strings.EqualFold(field, strings.ReplaceAll(name, "_", "")) })
	if !field.IsValid() {
		panic("the table " + name + " has no field in sink.Segment")
	}
	return field.Addr().Interface().(anyTable)
}

func (t *Table[T]) open(s *Segment, name string) error {
	p := journal.Part{Table: name, Segment: s.index, Path: layout.SegmentPart(name, s.run.plan.Run, s.index, "")}
	if s.piece >= 0 {
		p.Path = layout.Piece(name, s.run.plan.Run, s.index, s.piece)
	}
	w, err := newWriter[T](s.run.store, p, s.run.toolVersion, s.run.metadata, s.run.spareOf(name))
	if err != nil {
		return err
	}
	t.w = w
	s.open = append(s.open, w)
	return nil
}

func newWriter[T any](s store.Store, info journal.Part, toolVersion string, metadata map[string]string,
	spare *sync.Pool) (*writer[T], error) {
	file, err := s.Create(info.Path)
	if err != nil {
		return nil, fmt.Errorf("create a part: %w", err)
	}
	rows, err := shred.New[T](file, spare, writerOptions[T](info.Table, toolVersion, metadata)...)
	if err != nil {
		file.Discard()
		return nil, fmt.Errorf("create %s: %w", file.Path(), err)
	}
	return &writer[T]{rows: rows, file: file, info: info}, nil
}

func writerOptions[T any](table, toolVersion string, metadata map[string]string) []parquet.WriterOption {
	options := []parquet.WriterOption{
		parquet.Compression(shred.Zstd),
		parquet.CreatedBy("robocensus", toolVersion, ""),
	}
	for key, value := range metadata {
		options = append(options, parquet.KeyValueMetadata(key, value))
	}
	if table == "summary" {
		options = append(options, parquet.KeyValueMetadata(layout.KeyBins, strconv.Itoa(schema.BinsVersion)))
	}
	if _, ok := parquet.SchemaOf(new(T)).Lookup("host"); ok {
		options = append(options, parquet.BloomFilters(parquet.SplitBlockFilter(10, "host")))
	}
	return options
}

// spareOf returns the pool in which parts of a table leave memory for later parts.
func (o *output) spareOf(table string) *sync.Pool {
	pool, _ := o.spare.LoadOrStore(table, new(sync.Pool))
	return pool.(*sync.Pool)
}

// Commit closes, syncs and renames all parts, syncs their folders, and writes the
// segment's record. After an error the segment does not count, and Commit removes
// its files. The exception is a failing disk that leaves in doubt whether the record
// survives a crash: then the parts stay, and [Open] decides. Several segments may be
// committed at the same time.
func (s *Segment) Commit() error {
	if s.over {
		return fmt.Errorf("segment %d is already committed or aborted", s.index)
	}
	err := s.commit()
	if err != nil && !errors.Is(err, store.ErrInDoubt) {
		s.Abort()
	}
	s.over, s.open = true, nil
	return err
}

func (s *Segment) commit() error {
	r := &journal.Record{Segment: s.index, Targets: s.Targets, Note: s.Note, Archive: s.Archive, Parts: []journal.Part{}}
	for _, p := range s.open {
		done, err := p.finish()
		if err != nil {
			return err
		}
		r.Parts = append(r.Parts, done)
	}
	for _, p := range s.open {
		if err := p.publish(); err != nil {
			return err
		}
	}
	if s.piece >= 0 {
		err := s.finishWARC(r)
		if err == nil {
			s.run.keep(s.piece, r)
		}
		return err
	}
	synced := ""
	for _, p := range r.Parts {
		folder := path.Dir(p.Path)
		if folder == synced {
			continue
		}
		if err := s.run.store.Sync(folder); err != nil {
			return fmt.Errorf("sync the folder of a part: %w", err)
		}
		synced = folder
	}
	if err := s.finishWARC(r); err != nil {
		return err
	}
	if err := s.run.enter(r); err != nil {
		return err
	}
	s.run.dropCaptures(s.index)
	return nil
}

// Abort removes the segment's files. The segment may then be started again. After
// Commit it does nothing.
func (s *Segment) Abort() {
	if s.over {
		return
	}
	for _, p := range s.open {
		p.discard()
	}
	if s.warc != nil {
		s.warc.Discard()
	}
	s.over, s.open = true, nil
	if s.piece < 0 {
		s.run.giveUp(s.index)
	}
}

func (w *writer[T]) finish() (journal.Part, error) {
	if err := w.rows.Close(); err != nil {
		return journal.Part{}, fmt.Errorf("close %s: %w", w.file.Path(), err)
	}
	digest, err := w.file.Finish()
	if err != nil {
		return journal.Part{}, fmt.Errorf("close a part: %w", err)
	}
	w.info.Digest = digest
	return w.info, nil
}

func (w *writer[T]) discard() {
	w.rows.Release()
	w.file.Discard()
}

func (w *writer[T]) publish() error {
	if err := w.file.Publish(); err != nil {
		return fmt.Errorf("publish a part: %w", err)
	}
	return nil
}

// WriteSeries writes rows of the table series as a Parquet file.
func WriteSeries(w io.Writer, rows []schema.Point, toolVersion string) error {
	metadata := map[string]string{layout.KeySchema: strconv.Itoa(schema.SchemaVersion), layout.KeyToolVersion: toolVersion}
	out, err := shred.New[schema.Point](w, new(sync.Pool), writerOptions[schema.Point]("series", toolVersion, metadata)...)
	if err != nil {
		return fmt.Errorf("create the table series: %w", err)
	}
	defer out.Release()
	if err = out.Write(rows); err == nil {
		err = out.Close()
	}
	return err
}

// ToolVersion returns the version for parts and manifests: linked, which is set at
// link time, else the version of the module in the build information.
func ToolVersion(linked string) string {
	if linked != "" {
		return linked
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}
