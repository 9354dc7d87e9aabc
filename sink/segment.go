package sink

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// rowGroupRows is a multiple of DuckDB's vector size (120 vectors of 2,048
// rows), so that one thread scans one row group.
const rowGroupRows = 245_760

// TableNames lists every table, in the order in which a reader meets them.
var TableNames = []string{
	"fetches", "groups", "rules", "sitemaps", "lines", "signals",
	"policies", "verdicts", "summary", "bodies",
}

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
	Summary  Table[Count]
	Bodies   Table[Body]

	run   *Run
	index int
	open  []part
}

// Table is one part under way. The zero value stands for a table that was
// not asked for: it takes rows and drops them.
type Table[T any] struct{ w *writer[T] }

// Write appends rows. Their memory may be reused once it returns. The error
// of a full disk may come only from [Segment.Commit].
func (t Table[T]) Write(rows ...T) error {
	if t.w == nil || len(rows) == 0 {
		return nil
	}
	if _, err := t.w.parquet.Write(rows); err != nil {
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
	parquet *parquet.GenericWriter[T]
	file    *os.File
	sum     hash.Hash
	bytes   int64
	rows    int64
	info    Part
	tmp     string
	final   string
}

// Segment starts the parts of segment number index, counted from 0.
func (r *Run) Segment(index int) (*Segment, error) {
	s := &Segment{run: r, index: index}
	err := errors.Join(
		openTable(s, "fetches", &s.Fetches),
		openTable(s, "groups", &s.Groups),
		openTable(s, "rules", &s.Rules),
		openTable(s, "sitemaps", &s.Sitemaps),
		openTable(s, "lines", &s.Lines),
		openTable(s, "signals", &s.Signals),
		openTable(s, "policies", &s.Policies),
		openTable(s, "verdicts", &s.Verdicts),
		openTable(s, "summary", &s.Summary),
		openTable(s, "bodies", &s.Bodies),
	)
	if err != nil {
		s.Abort()
		return nil, err
	}
	return s, nil
}

func openTable[T any](s *Segment, name string, t *Table[T]) error {
	if !slices.Contains(s.run.tables, name) {
		return nil
	}
	path := fmt.Sprintf("%s/run=%s/part-%06d.parquet", name, s.run.id, s.index)
	final := filepath.Join(s.run.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(final), 0o777); err != nil {
		return fmt.Errorf("create the folder of table %s: %w", name, err)
	}
	tmp := final + ".tmp"
	file, err := os.Create(tmp)
	if err != nil {
		return fmt.Errorf("create a part: %w", err)
	}
	w := &writer[T]{
		file: file, sum: sha256.New(), tmp: tmp, final: final,
		info: Part{Table: name, Segment: s.index, Path: path},
	}
	out := &counted{w: io.MultiWriter(file, w.sum), n: &w.bytes}
	// A writer is not used again for another part: after Reset parquet-go
	// 0.32 leaves the column paths out of the footer.
	w.parquet = parquet.NewGenericWriter[T](out, s.run.writerOptions(name)...)
	t.w = w
	s.open = append(s.open, w)
	return nil
}

// codec is shared by all writers: each of its encoders holds a window of
// megabytes, and it needs only as many as compress at the same moment.
var codec = &zstd.Codec{Level: zstd.SpeedDefault, Concurrency: 1}

func (r *Run) writerOptions(table string) []parquet.WriterOption {
	options := []parquet.WriterOption{
		parquet.Compression(codec),
		parquet.MaxRowsPerRowGroup(rowGroupRows),
		parquet.CreatedBy("robocensus", r.toolVersion, ""),
	}
	for key, value := range r.metadata {
		options = append(options, parquet.KeyValueMetadata(key, value))
	}
	if hasHost[table] {
		options = append(options, parquet.BloomFilters(parquet.SplitBlockFilter(10, "host")))
	}
	return options
}

var hasHost = map[string]bool{
	"fetches": true, "groups": true, "rules": true, "sitemaps": true,
	"lines": true, "signals": true, "policies": true, "verdicts": true,
}

// Commit closes, syncs and renames all parts, syncs their folders, and enters
// them into the manifest. After an error nothing of the segment is entered,
// and what was written is removed.
func (s *Segment) Commit() error {
	var parts []Part
	for _, p := range s.open {
		done, err := p.finish()
		if err != nil {
			s.Abort()
			return err
		}
		parts = append(parts, done)
	}
	for _, p := range s.open {
		if err := p.publish(); err != nil {
			s.Abort()
			return err
		}
	}
	for _, p := range s.open {
		if err := syncFolder(p.folder()); err != nil {
			s.Abort()
			return err
		}
	}
	if err := s.run.enter(parts); err != nil {
		s.Abort()
		return err
	}
	s.open = nil
	return nil
}

// Abort removes what the segment has written. It may follow Commit.
func (s *Segment) Abort() {
	for _, p := range s.open {
		p.discard()
	}
	s.open = nil
}

func (w *writer[T]) finish() (Part, error) {
	// parquet-go reports a full disk only here.
	if err := w.parquet.Close(); err != nil {
		return Part{}, fmt.Errorf("close %s: %w", w.tmp, err)
	}
	if err := w.file.Sync(); err != nil {
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

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
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
