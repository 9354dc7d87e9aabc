package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/internal/shred"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// rewriting is how the parts of a table are rewritten.
type rewriting struct {
	table  string
	schema *parquet.Schema
	change map[int]func(string) string // by leaf column
}

// rewriterOf returns how to rewrite the parts of a table, nil to copy them. With shorten,
// names of archives do not say where they are on this machine. A part that is older than
// some columns gets them, without values.
func rewriterOf(s selection, table string, shorten, older bool) *rewriting {
	row := schema.Describe(table).Row()
	r := &rewriting{table: table, change: make(map[int]func(string) string)}
	var fields []reflect.StructField
	for f := range row.Fields() {
		if !slices.Contains(s.Without[table], schema.ColumnOf(f)) {
			fields = append(fields, f)
		}
	}
	r.schema = parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
	if s.Hash || shorten {
		for i, path := range r.schema.Columns() {
			switch {
			case shorten && path[0] == archiveColumn:
				r.change[i] = archiveName
			case !s.Hash:
			case len(path) == 1 && slices.Contains(hashedColumns, path[0]):
				r.change[i] = hash
			case table == "verdicts" && path[0] == "url":
				r.change[i] = hashAbsolute
			}
		}
	}
	if len(fields) == row.NumField() && len(r.change) == 0 && !older {
		return nil
	}
	return r
}

// archiveColumn is the column of fetches that names archives as the user does.
const archiveColumn = "warc_file"

// isOlder reports whether a part lacks a column that its table has now.
func isOlder(part *rowio.File, table string) bool {
	return slices.ContainsFunc(journal.Later, func(name string) bool {
		of, column, _ := strings.Cut(name, ".")
		return of == table && !part.Has(column)
	})
}

// namesMachine reports whether a part has names of archives to shorten.
func namesMachine(ctx context.Context, s selection, in store.Store, part journal.Part) (yes bool, err error) {
	if part.Table != "fetches" || slices.Contains(s.Without[part.Table], archiveColumn) {
		return false, nil
	}
	last := ""
	what := rowio.Selection{Columns: []string{archiveColumn}}
	err = rowio.Of(ctx, in, []journal.Part{part}, what, func(batch []schema.Fetch) error {
		for i := range batch {
			if name := schema.OrZero(batch[i].WARCFile); name != last {
				last = name
				yes = yes || archiveName(name) != name
			}
		}
		return nil
	})
	return yes, err
}

// hash returns the name by which a host is published: the same in every data set, so
// that they can be joined, and no secret from those who know the host.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

func hashAbsolute(url string) string {
	if strings.HasPrefix(url, "/") {
		return url
	}
	return hash(url)
}

// write rewrites a part.
func (r *rewriting) write(ctx context.Context, out io.Writer, in *rowio.PartFile, size int64) (err error) {
	defer rowio.Recovered(&err)
	if err := in.CheckPages(); err != nil {
		return err
	}
	part, err := parquet.OpenFile(in.Raw, size)
	if err != nil {
		return err
	}
	conversion, err := parquet.Convert(r.schema, part.Schema())
	if err != nil {
		return err
	}
	w := parquet.NewGenericWriter[any](out, r.options(part)...)
	for _, group := range part.RowGroups() {
		if err := r.group(ctx, w, group, conversion); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return w.Close()
}

func (r *rewriting) options(part *parquet.File) []parquet.WriterOption {
	options := append(shred.Bounds(r.schema), parquet.Compression(shred.Zstd), parquet.CreatedBy("robocensus", "", ""))
	for _, pair := range part.Metadata().KeyValueMetadata {
		options = append(options, parquet.KeyValueMetadata(pair.Key, pair.Value))
	}
	if _, ok := r.schema.Lookup("host"); ok {
		options = append(options, parquet.BloomFilters(parquet.SplitBlockFilter(10, "host")))
	}
	return options
}

func (r *rewriting) group(
	ctx context.Context, w *parquet.GenericWriter[any], group parquet.RowGroup, conversion parquet.Conversion,
) error {
	all := group.Rows()
	defer all.Close()
	converted := parquet.ConvertRowReader(all, conversion)
	rows := make([]parquet.Row, 64)
	var written int64
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := converted.ReadRows(rows)
		for _, row := range rows[:n] {
			for i, v := range row {
				if change := r.change[v.Column()]; change != nil && !v.IsNull() {
					row[i] = parquet.ByteArrayValue([]byte(change(string(v.ByteArray())))).Level(
						v.RepetitionLevel(), v.DefinitionLevel(), v.Column(),
					)
				}
			}
		}
		if n > 0 {
			if _, err := w.WriteRows(rows[:n]); err != nil {
				return err
			}
			written += int64(n)
		}
		switch {
		case errors.Is(err, io.EOF):
			if written != group.NumRows() {
				return fmt.Errorf("has %d rows, where %d are announced", written, group.NumRows())
			}
			return nil
		case err != nil:
			return err
		}
	}
}
