package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// maxTargets bounds the seqs of a segment in memory, because parts may be forged:
// 32 MB, a thousand times what a run writes.
const maxTargets = 4 << 20

// segmentFacts are facts from a segment's part of fetches.
type segmentFacts struct {
	path        string // path of the part
	known       bool   // the part exists and could be read
	targets     int64
	first, last int64 // least and greatest seq
}

// segmentCheck verifies the parts of one segment.
type segmentCheck struct {
	*verifier
	segmentFacts
	seqs           []int64        // the seqs in fetches, ascending; nil if unknown
	before         *rowCheck      // the check of the previous part
	since          []string       // the runs that states before may be from, of changes
	countedTargets *int64         // targets according to summary
	summary        string         // path of the part of summary
	labels         *segmentLabels // nil where nothing is counted by label
	counts         *labelCounts   // what label_counts has, nil unless it is wanted
}

// segment verifies the parts of a segment.
func (c *segmentCheck) segment(ctx context.Context, parts []journal.Part) error {
	// fetches first: the rows of the others must belong to its targets.
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b journal.Part) int {
		return slices.Index(schema.TableNames, a.Table) - slices.Index(schema.TableNames, b.Table)
	})
	for _, p := range parts {
		if err := c.part(ctx, p, nil); err != nil {
			return err
		}
	}
	if c.known && c.countedTargets != nil && *c.countedTargets != c.targets {
		c.add(c.summary, badSummary, fmt.Sprintf("counts %d targets, and fetches holds %d", *c.countedTargets, c.targets))
	}
	return nil
}

// part verifies a part. more holds the metadata that it must have besides that of
// all parts.
func (c *segmentCheck) part(ctx context.Context, p journal.Part, more map[string]string) error {
	f, err := c.open(ctx, p.Path, p.Digest)
	if f == nil {
		return err
	}
	defer f.Close()
	check := c.check(p)
	c.before = check
	ok, err := c.decode(ctx, p, f, more, check)
	if ok {
		check.end()
	}
	return err
}

// open opens a file if its contents match want. Otherwise it adds a problem and
// returns nil, because decoding other contents could report a hundred problems for
// one, or use up the memory.
func (v *verifier) open(ctx context.Context, name string, want store.Digest) (*os.File, error) {
	f, err := store.OpenWritten(ctx, v.store, name, want)
	switch {
	case err == nil:
		return f, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		v.add(name, badFile, "is missing")
	case errors.Is(err, store.ErrOtherBytes):
		v.add(name, badDigest, err.Error())
	default:
		return nil, v.blame(name, badFile, err)
	}
	return nil, nil
}

// contents verifies the contents of a file that has no rows.
func (v *verifier) contents(ctx context.Context, name string, want store.Digest) error {
	f, err := v.open(ctx, name, want)
	if f != nil {
		f.Close()
	}
	return err
}

// anyRows is the number of rows of a part that no record names: unknown.
const anyRows = -1

// decode decodes every cell of a part and checks its metadata, as [segmentCheck.part]
// does. It reports whether the part could be decoded.
func (v *verifier) decode(ctx context.Context, p journal.Part, f *os.File, more map[string]string, check *rowCheck) (
	ok bool, err error) {
	ok, err = v.decodeParquet(ctx, p, f, more, check)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		return ok, v.blame(p.Path, badParquet, err)
	}
	return ok, nil
}

func (v *verifier) decodeParquet(ctx context.Context, p journal.Part, f *os.File, more map[string]string,
	check *rowCheck) (ok bool, err error) {
	about, err := f.Stat()
	if err != nil {
		return false, err
	}
	in, err := rowio.Open(f, about.Size())
	if err != nil {
		return false, err
	}
	keys := map[string]string{layout.KeyRun: v.run, layout.KeySchema: strconv.Itoa(schema.SchemaVersion)}
	if p.Table == "summary" {
		keys[layout.KeyBins] = strconv.Itoa(schema.BinsVersion)
	}
	maps.Copy(keys, more)
	for key, want := range keys {
		if got := in.Metadata(key); got == nil || *got != want {
			v.add(p.Path, badSchema, fmt.Sprintf("its metadata says %s = %s, and not %s", key, shown(got), want))
		}
	}
	n := in.Rows()
	if n != p.Rows && p.Rows != anyRows {
		v.add(p.Path, badRows, fmt.Sprintf("has %d rows, and the manifest says %d", n, p.Rows))
	}
	if text := otherColumn(wanted(p.Table, v.layouts[p.Table], in.Layout()), in.Layout()); text != "" {
		v.add(p.Path, badSchema, text)
		return false, nil // columns of the wrong type cannot be checked further
	}
	read := int64(0)
	err = rowio.Read(ctx, in, rowio.Selection{Columns: check.columns(), Texts: check.text, Bounds: true},
		func(batch []row) error {
			read += int64(len(batch))
			check.batch(batch)
			return nil
		})
	if err == nil && read != n {
		err = fmt.Errorf("has %d rows, and its metadata says %d", read, n)
	}
	return err == nil, err
}

func shown(value *string) string {
	if value == nil {
		return "nothing"
	}
	return strconv.Quote(*value)
}

// layouts returns the columns of every table as package sink writes them.
func layouts() (map[string][]string, error) {
	out := make(map[string][]string)
	for _, table := range append(slices.Clip(schema.TableNames), layout.Changes) {
		content, err := schema.EmptyPart(table)
		if err != nil {
			return nil, err
		}
		part, err := rowio.Open(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", table, err)
		}
		out[table] = part.Layout()
	}
	return out, nil
}

// wanted returns the columns that a part should have, which may be older than some that a
// table has now, and could not leave others null.
func wanted(table string, now, got []string) []string {
	name := func(column string) string { return column[:strings.IndexAny(column, ". ")] }
	now = slices.Clone(now)
	for i, column := range now {
		if older := strings.Replace(column, ", levels 1 and 0", ", levels 0 and 0", 1); schema.Loosened[name(column)] &&
			slices.Contains(got, older) {
			now[i] = older
		}
	}
	return slices.DeleteFunc(now, func(column string) bool {
		return slices.Contains(journal.Later, table+"."+name(column)) &&
			!slices.ContainsFunc(got, func(other string) bool { return name(other) == name(column) })
	})
}

// otherColumn describes the first column that differs, or returns "".
func otherColumn(want, got []string) string {
	column := func(texts []string, i int) string {
		if i < len(texts) {
			return texts[i]
		}
		return "none"
	}
	for i := range max(len(want), len(got)) {
		if a, b := column(want, i), column(got, i); a != b {
			return fmt.Sprintf("column %d is %s, and should be %s", i, b, a)
		}
	}
	return ""
}
