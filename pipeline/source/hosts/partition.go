package hosts

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// Partition is a list of hosts divided into the lists of shards, so that each shard
// reads its own rows only. Memory does not grow with the list: rows of a shard are
// collected in a chunk, and a full chunk becomes a zstd frame of the scratch file.
// The list of a shard is the concatenation of its frames.
//
// The list of a shard is CSV without a header, a row of the list to a line: its
// ordinal, its line, whether a row of another origin precedes it ("+"), its host, URL
// and rank, why it cannot be read, and its text where that is not the host. In a list with
// labels an empty field follows, and then, label by label, its name, its value and what it
// counts as where that is another value. A line of a list that cannot be taken as it is for
// its labels stands in the first shard, with "!" and the role of that list in place of "+" and
// the host.
type Partition struct {
	scratch *store.Scratch
	end     int64
	frames  [][]frame // by shard
	chunks  []strings.Builder
	most    int // bytes of a chunk
	rows    []int64
	encoder *zstd.Encoder
	packed  []byte

	labels func(host string) []target.Label // nil without labels
}

// PlannedLabels reads the labels of a list, and returns those of a host.
type PlannedLabels func(reject func(role string, line int64, text, reason string) error) (
	of func(host string) []target.Label, err error)

type frame struct {
	from int64
	size int32
}

// partitionBytes bounds the memory of all chunks, of up to 16,384 shards: a chunk has
// at least leastChunk bytes, for the sake of compression.
const (
	partitionBytes = 64 << 20
	leastChunk     = 4 << 10
	mostChunk      = 256 << 10
)

// NewPartition divides a list at a path into shards. The scratch file holds the
// lists, compressed; the caller closes it after the last [Partition.WriteShard].
// progress is called with the number of rows read. labels may be nil.
func NewPartition(ctx context.Context, l List, shards int, scratch *store.Scratch, labels PlannedLabels,
	progress func(rows int64)) (*Partition, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(mostChunk))
	if err != nil {
		return nil, err
	}
	defer encoder.Close()
	p := &Partition{
		scratch: scratch, encoder: encoder, frames: make([][]frame, shards), chunks: make([]strings.Builder, shards),
		rows: make([]int64, shards),
		most: min(max(partitionBytes/shards, leastChunk), mostChunk),
	}
	if labels != nil {
		p.labels, err = labels(func(role string, line int64, text, reason string) error {
			return p.add(0, "", &row{role: role, line: line, text: text, err: reason})
		})
		if err != nil {
			return nil, err
		}
	}
	g := &grouper{schemes: l.Schemes}
	var before []fetch.Origin
	seq, hosts := int64(0), int64(0)
	err = l.rows(ctx, sha256.New(), func(r row) error {
		seq++
		progress(seq)
		r.seq = seq
		shard, host := 0, "" // of a row that names no host
		candidates, sample, why := g.read(r)
		if r.err = why; why == "" {
			hosts++
			if r.parted = !isShared(before, candidates); r.parted {
				before = candidates
			}
			before = joined(before, candidates, sample)
			host = candidates[0].Host
			shard = target.ShardOf(host, shards)
		}
		return p.add(shard, host, &r)
	})
	if err != nil {
		return nil, err
	}
	if hosts == 0 {
		return nil, &userfile.Error{Path: remote.Name(l.Path),
			Err: errors.New("holds no host; give one host, origin or URL to a line, or a table with a column host, url or " +
				"host_rev")}
	}
	for shard := range p.chunks {
		if err := p.flush(shard); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// add adds a row to the list of a shard, with the labels of its host.
func (p *Partition) add(shard int, host string, r *row) error {
	chunk := &p.chunks[shard]
	fields := []string{strconv.FormatInt(r.seq, 10), strconv.FormatInt(r.line, 10), "", r.host, r.url, "", r.err, r.text}
	switch {
	case r.role != "":
		fields[2], fields[3] = rejectedLine, r.role
	case r.parted:
		fields[2] = "+"
	}
	if p.labels != nil {
		fields = append(fields, "")
		if host != "" {
			for _, l := range p.labels(host) {
				as := l.CountAs
				if as == l.Value {
					as = ""
				}
				fields = append(fields, l.Name, l.Value, as)
			}
		}
	}
	switch {
	case r.badRank:
		fields[5] = badRank
	case r.rank != nil:
		fields[5] = strconv.FormatInt(*r.rank, 10)
	}
	if r.text == r.host {
		fields[7] = ""
	}
	w := csv.NewWriter(chunk)
	if err := w.Write(fields); err != nil {
		return err
	}
	w.Flush()
	p.rows[shard]++
	if chunk.Len() < p.most {
		return nil
	}
	return p.flush(shard)
}

// rejectedLine marks a line that is rejected for its labels.
const rejectedLine = "!"

// badRank stands for a rank that is not a number.
const badRank = "?"

// flush writes the chunk of a shard to the scratch file.
func (p *Partition) flush(shard int) error {
	chunk := &p.chunks[shard]
	if chunk.Len() == 0 {
		return nil
	}
	p.packed = p.encoder.EncodeAll([]byte(chunk.String()), p.packed[:0])
	chunk.Reset()
	if _, err := p.scratch.WriteAt(p.packed, p.end); err != nil {
		return fmt.Errorf("divide the list: %w", err)
	}
	p.frames[shard] = append(p.frames[shard], frame{p.end, int32(len(p.packed))})
	p.end += int64(len(p.packed))
	return nil
}

// Rows returns the number of rows of a shard.
func (p *Partition) Rows(shard int) int64 { return p.rows[shard] }

// WriteShard writes the list of a shard.
func (p *Partition) WriteShard(w io.Writer, shard int) error {
	for _, f := range p.frames[shard] {
		if _, err := io.Copy(w, io.NewSectionReader(p.scratch, f.from, int64(f.size))); err != nil {
			return fmt.Errorf("write the list of a shard: %w", err)
		}
	}
	return nil
}

// readPlanned calls yield for every row of the list of a shard, in order.
func readPlanned(ctx context.Context, path string, labelled bool, yield func(row) error) error {
	f, done, err := input.Open(ctx, path)
	if err != nil {
		return err
	}
	defer done()
	plain, end, err := input.Plain(f)
	if err != nil {
		return &userfile.Error{Path: path, Err: err}
	}
	defer end()
	in := csv.NewReader(store.While(ctx, plain))
	in.FieldsPerRecord, in.ReuseRecord = -1, true
	for {
		fields, err := in.Read()
		if err == io.EOF || ctx.Err() != nil {
			return ctx.Err()
		}
		var r row
		if err == nil {
			r, err = plannedRow(fields, labelled)
		}
		if err != nil {
			return &userfile.Error{Path: path, Err: fmt.Errorf("is not the list of a shard: %w", err)}
		}
		if err := yield(r); err != nil {
			return err
		}
	}
}

// plannedFields is the number of fields of a row, without labels.
const plannedFields = 8

func plannedRow(fields []string, labelled bool) (r row, err error) {
	switch n := len(fields); {
	case n == plannedFields && labelled && fields[2] != rejectedLine:
		return r, errors.New("it has no labels: it was planned by another version; plan the run again, under another name")
	case n != plannedFields && (n < plannedFields || (n-plannedFields)%3 != 1):
		return r, fmt.Errorf("a line has %d fields", n)
	}
	if r.seq, err = strconv.ParseInt(fields[0], 10, 64); err != nil {
		return r, err
	}
	if r.line, err = strconv.ParseInt(fields[1], 10, 64); err != nil {
		return r, err
	}
	r.planned, r.bare = true, true // the plan has rejected what is no host
	r.parted, r.host, r.url, r.err, r.text = fields[2] != "", fields[3], fields[4], fields[6], fields[7]
	if fields[2] == rejectedLine {
		r.role, r.host = fields[3], ""
		return r, nil
	}
	for at := plannedFields + 1; at < len(fields); at += 3 {
		l := target.Label{Name: fields[at], Value: fields[at+1], CountAs: fields[at+2]}
		if l.CountAs == "" {
			l.CountAs = l.Value
		}
		r.planLabels = append(r.planLabels, l)
	}
	if r.text == "" {
		r.text = r.host
	}
	switch fields[5] {
	case "":
	case badRank:
		r.badRank = true
	default:
		rank, err := strconv.ParseInt(fields[5], 10, 64)
		if err != nil {
			return r, err
		}
		r.rank = &rank
	}
	return r, nil
}
