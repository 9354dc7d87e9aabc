package sink

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// rowGroupRows is a multiple of DuckDB's vector size (120 vectors of 2,048
// rows), so that one thread scans one row group.
const rowGroupRows = 245_760

// SegmentsPerVolume keeps the segments of several files apart that are read at
// the same time: those of the third are numbered from 200,000. Segments are
// numbered without gaps otherwise.
const SegmentsPerVolume = 100_000

// TableNames lists every table, in the order in which a reader meets them.
var TableNames = []string{
	"fetches", "groups", "rules", "sitemaps", "lines", "signals",
	"agents", "policies", "verdicts", "summary", "examples", "bodies",
}

// hasPart tells which segments have a part of a table. What is one for the
// whole run stands with segment 0, which every complete run has.
func hasPart(table string, segment int) bool { return table != "agents" || segment == 0 }

// Part is one part file as the manifest names it.
type Part struct {
	Table   string `json:"table"`
	Segment int    `json:"segment"`
	Path    string `json:"path"` // relative to the output folder, with slashes
	Rows    int64  `json:"rows"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
}

// Segment writes the parts of one run of targets. It is not safe for
// concurrent use; several segments of a run may be written side by side.
type Segment struct {
	Fetches  Table[Fetch]
	Groups   Table[Group]
	Rules    Table[Rule]
	Sitemaps Table[Sitemap]
	Lines    Table[Line]
	Signals  Table[Signal]
	Policies Table[Policy]
	Verdicts Table[Verdict]
	Agents   Table[Agent] // of segment 0 alone
	Summary  Table[Count]
	Examples Table[Example]
	Bodies   Table[Body]

	// Note is the caller's own, for going on after a crash (see [Run.Note]):
	// up to about a megabyte of JSON on one line, committed with the segment.
	Note json.RawMessage

	run   *Run
	index int
	open  []part
	over  bool // committed or aborted
}

// Table is one part under way. The zero value stands for a table that was
// not asked for, or of which the segment has no part: it takes rows and drops
// them.
type Table[T any] struct{ w *writer[T] }

// Write appends rows. Their memory may be reused once it returns. The error
// of a full disk may come only from [Segment.Commit].
func (t Table[T]) Write(rows ...T) error {
	if t.w == nil || len(rows) == 0 {
		return nil
	}
	if err := t.w.write(rows); err != nil {
		return fmt.Errorf("write %s: %w", t.w.tmp, err)
	}
	t.w.rows += int64(len(rows))
	return nil
}

// Wanted reports whether rows are kept, so that a caller can save the work of
// making them.
func (t Table[T]) Wanted() bool { return t.w != nil }

// part is a writer whatever its row type.
type part interface {
	finish() (Part, error) // close and sync, under the temporary name
	discard()
	publish() error
	folder() string
}

type writer[T any] struct {
	parquet  *parquet.GenericWriter[T]
	shredder *shredder[T] // nil where parquet-go takes rows apart
	file     *os.File
	sum      hash.Hash
	bytes    int64
	rows     int64
	info     Part
	tmp      string
	final    string
}

// Segment starts the parts of segment number index, counted from 0. It refuses
// one that is committed, or under way.
func (r *Run) Segment(index int) (*Segment, error) {
	if err := r.begin(index); err != nil {
		return nil, err
	}
	s := &Segment{run: r, index: index}
	for _, open := range []func() error{
		func() error { return openTable(s, "fetches", &s.Fetches) },
		func() error { return openTable(s, "groups", &s.Groups) },
		func() error { return openTable(s, "rules", &s.Rules) },
		func() error { return openTable(s, "sitemaps", &s.Sitemaps) },
		func() error { return openTable(s, "lines", &s.Lines) },
		func() error { return openTable(s, "signals", &s.Signals) },
		func() error { return openTable(s, "agents", &s.Agents) },
		func() error { return openTable(s, "policies", &s.Policies) },
		func() error { return openTable(s, "verdicts", &s.Verdicts) },
		func() error { return openTable(s, "summary", &s.Summary) },
		func() error { return openTable(s, "examples", &s.Examples) },
		func() error { return openTable(s, "bodies", &s.Bodies) },
	} {
		if err := open(); err != nil {
			s.Abort()
			return nil, err
		}
	}
	return s, nil
}

func openTable[T any](s *Segment, name string, t *Table[T]) error {
	if !slices.Contains(s.run.tables, name) || !hasPart(name, s.index) {
		return nil
	}
	path := partPath(name, s.run.id, s.index)
	final := filepath.Join(s.run.dir, filepath.FromSlash(path))
	w, err := newWriter[T](final, Part{Table: name, Segment: s.index, Path: path}, s.run.toolVersion, s.run.metadata, s.run.spareOf(name))
	if err != nil {
		return err
	}
	t.w = w
	s.open = append(s.open, w)
	return nil
}

func newWriter[T any](final string, info Part, toolVersion string, metadata map[string]string, spare *sync.Pool) (*writer[T], error) {
	tmp := final + ".tmp"
	file, err := os.Create(tmp)
	if err != nil {
		return nil, fmt.Errorf("create a part: %w", err)
	}
	w := &writer[T]{file: file, sum: sha256.New(), tmp: tmp, final: final, info: info}
	out := &counted{w: io.MultiWriter(file, w.sum), n: &w.bytes}
	// A writer is not used again for another part: after Reset parquet-go
	// 0.32 leaves the column paths out of the footer.
	options := append(writerOptions(info.Table, toolVersion, metadata), withoutBounds[T]()...)
	if w.shredder, err = newShredder[T](out, spare, options); err != nil {
		file.Close()
		os.Remove(tmp)
		return nil, fmt.Errorf("create %s: %w", tmp, err)
	}
	if w.shredder != nil {
		w.parquet = w.shredder.file
	} else {
		w.parquet = parquet.NewGenericWriter[T](out, options...)
	}
	return w, nil
}

// partPath is where a part lies, relative to the output folder, with slashes.
func partPath(table, run string, segment int) string {
	return fmt.Sprintf("%s/run=%s/part-%06d.parquet", table, run, segment)
}

// codec is shared by all writers: each of its encoders holds a window of
// megabytes, and it needs only as many as compress at the same moment.
var codec = &zstd.Codec{Level: zstd.SpeedDefault, Concurrency: 1}

func writerOptions(table, toolVersion string, metadata map[string]string) []parquet.WriterOption {
	options := []parquet.WriterOption{
		parquet.Compression(codec),
		parquet.MaxRowsPerRowGroup(rowGroupRows),
		parquet.CreatedBy("robocensus", toolVersion, ""),
	}
	for key, value := range metadata {
		options = append(options, parquet.KeyValueMetadata(key, value))
	}
	if table == "summary" {
		options = append(options, parquet.KeyValueMetadata(metadataBins, strconv.Itoa(BinsVersion)))
	}
	if table == "bodies" {
		// The least and the greatest body of a page would stand before it, and
		// those of the row group in the footer. A large body is a page of its
		// own: that made files of five times the size.
		options = append(options, parquet.SkipPageStatistics("body"), parquet.SkipPageBounds("body"))
	}
	if hasHost[table] {
		options = append(options, parquet.BloomFilters(parquet.SplitBlockFilter(10, "host")))
	}
	return options
}

// withoutBounds leaves the least and the greatest value out of the pages of
// texts: no table is ordered by one, so that nobody could pass a page over,
// and to find them costs a seventh of the writing.
func withoutBounds[T any]() (options []parquet.WriterOption) {
	row := reflect.TypeFor[T]()
	for i := range row.NumField() {
		name, rest, _ := strings.Cut(row.Field(i).Tag.Get("parquet"), ",")
		if rest == "dict" {
			options = append(options, parquet.SkipPageBounds(name), parquet.SkipPageStatistics(name))
		}
	}
	return options
}

// spareOf is where the parts of a table leave memory to those that follow.
func (r *Run) spareOf(table string) *sync.Pool {
	pool, _ := r.spare.LoadOrStore(table, new(sync.Pool))
	return pool.(*sync.Pool)
}

var hasHost = map[string]bool{
	"fetches": true, "groups": true, "rules": true, "sitemaps": true,
	"lines": true, "signals": true, "policies": true, "verdicts": true, "examples": true, "changes": true,
}

// Commit closes, syncs and renames all parts, syncs their folders, and enters
// them into the journal. After an error nothing of the segment is entered, and
// what was written is removed; only where a failing disk leaves in doubt
// whether it is entered do the parts stay, for [Open] to decide. Several
// segments may be committed at the same time.
func (s *Segment) Commit() error {
	if s.over {
		return fmt.Errorf("segment %d is committed or aborted already", s.index)
	}
	err := s.commit()
	if err != nil && !errors.Is(err, errInDoubt) {
		s.Abort()
	}
	s.over, s.open = true, nil
	return err
}

func (s *Segment) commit() error {
	e := entry{Segment: s.index, Note: s.Note, Parts: []Part{}}
	for _, p := range s.open {
		done, err := p.finish()
		if err != nil {
			return err
		}
		e.Parts = append(e.Parts, done)
	}
	for _, p := range s.open {
		if err := p.publish(); err != nil {
			return err
		}
	}
	for _, p := range s.open {
		if err := syncFolder(p.folder()); err != nil {
			return err
		}
	}
	return s.run.enter(e)
}

// Abort removes what the segment has written, which may then be begun anew.
// After Commit it does nothing.
func (s *Segment) Abort() {
	if s.over {
		return
	}
	for _, p := range s.open {
		p.discard()
	}
	s.over, s.open = true, nil
	s.run.giveUp(s.index)
}

func (w *writer[T]) write(rows []T) error {
	if w.shredder != nil {
		return w.shredder.write(rows)
	}
	_, err := w.parquet.Write(rows)
	return err
}

func (w *writer[T]) release() {
	if w.shredder != nil {
		w.shredder.release()
	}
}

func (w *writer[T]) finish() (Part, error) {
	// parquet-go reports a full disk only here.
	if err := w.parquet.Close(); err != nil {
		return Part{}, fmt.Errorf("close %s: %w", w.tmp, err)
	}
	w.release()
	if err := syncFile(w.file); err != nil {
		return Part{}, fmt.Errorf("sync %s: %w", w.tmp, err)
	}
	if err := w.file.Close(); err != nil {
		return Part{}, fmt.Errorf("close %s: %w", w.tmp, err)
	}
	w.info.Rows, w.info.Bytes = w.rows, w.bytes
	w.info.SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	return w.info, nil
}

func (w *writer[T]) discard() {
	w.release()
	w.file.Close()
	os.Remove(w.tmp)
	os.Remove(w.final)
}

func (w *writer[T]) publish() error {
	if err := os.Rename(w.tmp, w.final); err != nil {
		return fmt.Errorf("publish a part: %w", err)
	}
	return nil
}

func (w *writer[T]) folder() string { return filepath.Dir(w.final) }

// unsynced leaves out all syncing, for the benchmark that says what it costs.
var unsynced bool

func syncFile(f *os.File) error {
	if unsynced {
		return nil
	}
	return f.Sync()
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	defer d.Close()
	if err := syncFile(d); err != nil {
		return fmt.Errorf("sync folder %s: %w", path, err)
	}
	return nil
}

type counted struct {
	w io.Writer
	n *int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	*c.n += int64(n)
	return n, err
}

// ToolVersion is the version that parts and manifests carry: the one set at
// link time, else the module's own as the build recorded it.
func ToolVersion(linked string) string {
	if linked != "" {
		return linked
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}
