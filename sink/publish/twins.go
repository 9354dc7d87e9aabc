package publish

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/store"
)

// areTwins reports whether two parts have the same bytes but for what the footer says of
// the run and the program: then they have the same rows, which are not decoded. The same
// answers give the same bytes, so this is so unless a part was rewritten to be published,
// shards were joined, or another version wrote it. An error means that it is not known.
func areTwins(
	ctx context.Context, in store.Store, a journal.Part, otherIn store.Store, b journal.Part,
) (same bool, err error) {
	if a.Rows != b.Rows {
		return false, nil
	}
	defer rowio.Recovered(&err)
	one, err := rowio.OpenPart(ctx, in, a)
	if err != nil {
		return false, err
	}
	defer one.Close()
	other, err := rowio.OpenPart(ctx, otherIn, b)
	if err != nil {
		return false, err
	}
	defer other.Close()
	published, err := footerOf(one.Raw, a.Bytes)
	if err != nil {
		return false, err
	}
	again, err := footerOf(other.Raw, b.Bytes)
	if err != nil || again.begin != published.begin || !bytes.Equal(again.saying(published), published.text) {
		return false, err
	}
	return sameBytes(ctx, io.NewSectionReader(one.Raw, 0, again.begin), io.NewSectionReader(other.Raw, 0, again.begin))
}

// footer is the end of a Parquet file, which says where its pages are.
type footer struct {
	begin int64
	text  []byte
	said  map[string]string // of the run and the program
}

func footerOf(f *os.File, size int64) (*footer, error) {
	opened, err := parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	end := make([]byte, 8)
	if _, err := f.ReadAt(end, size-8); err != nil {
		return nil, err
	}
	footer := &footer{begin: size - 8 - int64(binary.LittleEndian.Uint32(end)), said: make(map[string]string)}
	footer.text = make([]byte, size-footer.begin)
	for _, pair := range opened.Metadata().KeyValueMetadata {
		footer.said["key "+pair.Key] = pair.Value
	}
	footer.said["created by"] = opened.Metadata().CreatedBy
	_, err = f.ReadAt(footer.text, footer.begin)
	return footer, err
}

// saying returns a footer that says what another says of the run and the program, nil if
// there is none. All its other bytes are its own, whatever they mean.
func (f *footer) saying(other *footer) []byte {
	if len(f.said) != len(other.said) {
		return nil
	}
	text := bytes.Clone(f.text[:len(f.text)-8])
	for _, key := range slices.Sorted(maps.Keys(f.said)) {
		// A text of Thrift begins with its length.
		own, their := f.said[key], other.said[key]
		is := append(binary.AppendUvarint(nil, uint64(len(own))), own...)
		if own == their {
			continue
		}
		if bytes.Count(text, is) != 1 {
			return nil
		}
		text = bytes.Replace(text, is, append(binary.AppendUvarint(nil, uint64(len(their))), their...), 1)
	}
	return append(binary.LittleEndian.AppendUint32(text, uint32(len(text))), "PAR1"...)
}

func sameBytes(ctx context.Context, a, b io.Reader) (bool, error) {
	one, other := make([]byte, 256<<10), make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, err := io.ReadFull(a, one)
		m, e := io.ReadFull(b, other)
		if !bytes.Equal(one[:n], other[:m]) {
			return false, nil
		}
		for _, err := range []error{err, e} {
			switch err {
			case nil:
			case io.EOF, io.ErrUnexpectedEOF:
				return n == m, nil
			default:
				return false, err
			}
		}
	}
}
