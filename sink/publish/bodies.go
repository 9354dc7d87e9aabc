package publish

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/publish/describe"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// ErrNoBody reports that a body is not among those given.
var ErrNoBody = errors.New("a body is missing")

// Bodies are the files that hosts answered with, by their digest and by the name that
// tells the host.
type Bodies struct{ byDigest, byName map[string]string }

// IndexBodies reads a folder of files, or a tar, plain or compressed, which it unpacks into the folder
// scratch. Bodies are cut at limit bytes.
func IndexBodies(ctx context.Context, name, scratch string, limit int64) (*Bodies, error) {
	b := &Bodies{make(map[string]string), make(map[string]string)}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return b, b.unpack(ctx, name, scratch, limit)
	}
	return b, filepath.WalkDir(name, func(file string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		return errors.Join(ctx.Err(), b.add(file, userfile.HostName(filepath.ToSlash(file)), f, limit))
	})
}

func (b *Bodies) add(file, name string, body io.Reader, limit int64) error {
	text, err := io.ReadAll(io.LimitReader(body, limit))
	if err != nil {
		return err
	}
	b.byDigest[schema.ContentDigest(text)] = file
	b.byName[name] = file
	return nil
}

// unpack writes the regular files of a tar under numbers.
func (b *Bodies) unpack(ctx context.Context, name, scratch string, limit int64) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	plain, err := uncompressed(f)
	if err != nil {
		return fmt.Errorf("read %s as a tar: %w", name, err)
	}
	entries := tar.NewReader(plain)
	for n := 0; ; n++ {
		entry, err := entries.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("read %s as a tar: %w", name, err)
		}
		if entry.Typeflag != tar.TypeReg {
			continue
		}
		file := filepath.Join(scratch, fmt.Sprintf("body-%d", n))
		body, err := io.ReadAll(io.LimitReader(entries, limit))
		if err == nil {
			err = os.WriteFile(file, body, 0o600)
		}
		if err == nil {
			err = b.add(file, userfile.HostName(entry.Name), strings.NewReader(string(body)), limit)
		}
		if err != nil {
			return err
		}
	}
}

// uncompressed reads a file that may be gzip or zstd.
func uncompressed(f io.Reader) (io.Reader, error) {
	in := bufio.NewReader(f)
	begin, _ := in.Peek(4)
	switch {
	case bytes.HasPrefix(begin, []byte{0x1f, 0x8b}):
		return gzip.NewReader(in)
	case bytes.Equal(begin, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	}
	return in, nil
}

// read returns the body of a host: the one with that digest, else that in the file
// named by the host, which is another one.
func (b *Bodies) read(digest, host string, port int32, limit int64) ([]byte, error) {
	file := b.byDigest[digest]
	for _, name := range []string{host, fmt.Sprintf("%s_%d", host, port), fmt.Sprintf("%s:%d", host, port)} {
		if file == "" {
			file = b.byName[name]
		}
	}
	if file == "" {
		return nil, fmt.Errorf("%w: none has the digest %s, and none is named %s", ErrNoBody, digest, host)
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is gone", ErrNoBody, file)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// Assemble writes the parts of fetches and verdicts of a published run to dir, with the
// table bodies from b, and a manifest: a run that can be re-evaluated. Where a body is
// another than the published one, the row has its digest.
func (b *Bodies) Assemble(ctx context.Context, in store.Store, m *sink.Manifest, dir string, limit int64) error {
	out, err := store.Create(ctx, dir)
	if err != nil {
		return err
	}
	defer out.Close()
	run := *m
	run.RunParts, run.Parts, run.Tables = nil, nil, []string{"fetches", "bodies"}
	run.Without = slices.DeleteFunc(slices.Clone(m.Without), func(name string) bool { return strings.HasPrefix(name, "bodies.") })
	p := &publisher{Config: Config{In: in}, ctx: ctx, DataSet: describe.DataSet{Out: out}}
	if m.NamesURLs() {
		run.Tables = append(run.Tables, "verdicts")
		for _, part := range m.PartsOf("verdicts") {
			if part.Digest, err = p.part(part); err != nil {
				return Unreadable(part.Path, err)
			}
			run.Parts = append(run.Parts, part)
		}
	}
	for _, part := range m.PartsOf("fetches") {
		fetches, bodies, err := b.parts(p, m.Run, part, limit)
		if err != nil && !errors.Is(err, ErrNoBody) {
			err = Unreadable(part.Path, err)
		}
		if err != nil {
			return err
		}
		run.Parts = append(run.Parts, fetches, bodies)
	}
	slices.SortStableFunc(run.Parts, func(a, b sink.Part) int { return a.Segment - b.Segment })
	return sink.PutManifest(out, &run)
}

// parts writes a part of fetches, and that of its bodies.
func (b *Bodies) parts(p *publisher, run string, part sink.Part, limit int64) (fetches, bodies sink.Part, err error) {
	defer scan.Recovered(&err)
	in, err := scan.OpenPart(p.ctx, p.In, part)
	if err != nil {
		return fetches, bodies, err
	}
	defer in.Close()
	opened, err := schema.OpenRows[schema.Fetch](in, part.Bytes)
	if err != nil {
		return fetches, bodies, err
	}
	rows, err := createRows[schema.Fetch](p, part)
	if err != nil {
		return fetches, bodies, err
	}
	defer rows.Abandon()
	files, err := createRows[schema.Body](p, sink.Part{Table: "bodies", Segment: part.Segment, Path: layout.Part("bodies", run, part.Segment, layout.Attempt(part.Path))})
	if err != nil {
		return fetches, bodies, err
	}
	defer files.Abandon()
	for _, group := range opened.RowGroups() {
		if err := b.group(p.ctx, group, rows, files, limit); err != nil {
			return fetches, bodies, err
		}
	}
	if fetches, err = rows.finish(); err == nil {
		bodies, err = files.finish()
	}
	return fetches, bodies, err
}

// group writes the rows of a row group, and for them each body once, in the order of the
// rows, as those who re-evaluate read them.
func (b *Bodies) group(ctx context.Context, group parquet.RowGroup, fetches *rowsOf[schema.Fetch], bodies *rowsOf[schema.Body], limit int64) error {
	in := parquet.NewGenericRowGroupReader[schema.Fetch](group)
	defer in.Close()
	digests := make(map[string]string) // of the bodies given, by those published
	written := make(map[string]bool)
	for rows := make([]schema.Fetch, 256); ; clear(rows) {
		n, err := in.Read(rows)
		for i := range rows[:n] {
			row := &rows[i]
			named := row.KeptDigest()
			if named == nil {
				continue
			}
			published := strings.Clone(*named)
			if digests[published] == "" {
				body, err := b.read(published, row.Host, row.Port, limit)
				if err != nil {
					return err
				}
				own := schema.ContentDigest(body)
				if digests[published] = own; !written[own] {
					if err := bodies.write(schema.Body{ContentDigest: own, Body: body}); err != nil {
						return err
					}
				}
				written[own] = true
			}
			for _, digest := range []**string{&row.ContentDigest, &row.CopyDigest} {
				if *digest != nil {
					*digest = schema.Some(digests[published])
				}
			}
		}
		if err := errors.Join(ctx.Err(), fetches.write(rows[:n]...)); err != nil {
			return err
		}
		if err == io.EOF {
			return fetches.w.Flush()
		}
		if err != nil {
			return err
		}
	}
}

// rowsOf writes a part.
type rowsOf[T any] struct {
	*store.File
	w    *parquet.GenericWriter[T]
	part sink.Part
}

func createRows[T any](p *publisher, part sink.Part) (*rowsOf[T], error) {
	f, err := p.create(part.Path)
	if err != nil {
		return nil, err
	}
	part.Rows = 0
	return &rowsOf[T]{f, parquet.NewGenericWriter[T](f), part}, nil
}

func (r *rowsOf[T]) write(rows ...T) error {
	n, err := r.w.Write(rows)
	r.part.Rows += int64(n)
	return err
}

func (r *rowsOf[T]) finish() (sink.Part, error) {
	err := r.w.Close()
	if err == nil {
		r.part.Digest, err = finish(r.File)
	}
	return r.part, err
}
