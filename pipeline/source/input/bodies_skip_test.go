package input

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// counted counts what is read.
type counted struct {
	io.ReaderAt
	bytes, reads int
}

func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.bytes, c.reads = c.bytes+n, c.reads+1
	return n, err
}

// Of a tar whose files are skipped, little more is read than headers and the files that are
// wanted, and each of these as it is. One of which all is wanted takes few reads.
func TestSkippedFilesAreNotRead(t *testing.T) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	sizes := []int{0, 1, 511, 512, 513, 4096, 100_000, 1_000_000}
	content := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i%26)}, sizes[i%len(sizes)]) }
	const files = 80
	for i := range files {
		name := fmt.Sprintf("%03d.%s", i, strings.Repeat("x", 20*(i%9))) // some take several headers
		must(t, w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(content(i))), Mode: 0o666}))
		_, err := w.Write(content(i))
		must(t, err)
	}
	must(t, w.Close())
	for _, every := range []int{1, 3, 7, files} {
		in := &counted{ReaderAt: bytes.NewReader(packed.Bytes())}
		entries := tar.NewReader(&skipper{in: in})
		wanted := 0
		for i := range files {
			entry, err := entries.Next()
			must(t, err)
			if i%every != 0 {
				continue
			}
			f := &BodyFile{size: entry.Size, open: func() (io.ReadCloser, error) { return io.NopCloser(entries), nil }}
			got, err := f.Read(1 << 30)
			if wanted += len(got); err != nil || !bytes.Equal(got, content(i)) {
				t.Fatalf("one of %d: file %d: %d bytes, %v", every, i, len(got), err)
			}
		}
		if _, err := entries.Next(); err != io.EOF {
			t.Errorf("one of %d: at the end: %v", every, err)
		}
		if most := wanted + files*(3<<10); every > 1 && in.bytes > most || every == 1 && in.reads > packed.Len()/(100<<10) {
			t.Errorf("one of %d: %d bytes in %d reads, %d of them wanted", every, in.bytes, in.reads, wanted)
		}
	}
	// What ends early does so however it is read.
	for _, size := range []int{packed.Len() - 1024, packed.Len() / 2, 700} {
		for _, in := range []io.Reader{bytes.NewBuffer(packed.Bytes()[:size]),
			&skipper{in: bytes.NewReader(packed.Bytes()[:size])}} {
			entries, files := tar.NewReader(in), 0
			var err error
			for ; err == nil; files++ {
				_, err = entries.Next()
			}
			want := io.ErrUnexpectedEOF
			if size == packed.Len()-1024 {
				want = io.EOF // without the two empty blocks
			}
			if err != want {
				t.Errorf("%d bytes by %T: %v after %d files, want %v", size, in, err, files, want)
			}
		}
	}
}
