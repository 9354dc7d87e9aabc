package warc

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
)

// A zipped is a file in a ZIP file.
type zipped struct {
	name    string
	method  uint16
	content []byte
}

func zipFile(t *testing.T, files ...zipped) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: f.method})
		must(t, err)
		_, err = w.Write(f.content)
		must(t, err)
	}
	must(t, z.Close())
	return out.Bytes()
}

// twoOf returns an archive of two hosts.
func twoOf(name string, pack func(string) []byte) (file []byte) {
	for i := range 2 {
		file = append(file, pack(warcResponse(fmt.Sprintf("%s%d.test", name, i), "HTTP/1.1 200 OK\r\n\r\n"+name))...)
	}
	return file
}

// The archives in a ZIP file are read, however they are stored, and each capture has its
// place: the member in the ZIP file, or the file in it if that is compressed again.
func TestZIP(t *testing.T) {
	file := zipFile(t,
		zipped{"datapackage.json", zip.Deflate, []byte("{}")},
		zipped{"archive/a.warc.gz", zip.Store, twoOf("a", gzipped)},
		zipped{"archive/b.WARC", zip.Store, twoOf("b", unpacked)},
		zipped{"archive/c.warc.zst", zip.Store, twoOf("c", zstandard)},
		zipped{"indexes/index.cdx.gz", zip.Store, gzipped("x")},
		zipped{"d.warc.gz", zip.Deflate, twoOf("d", gzipped)},
		zipped{"e/e/e.arc", zip.Deflate, []byte(arcHead(1) + arcResponse("e0.test", "HTTP/1.0 200 OK\n\nx") +
			arcResponse("e1.test", "HTTP/1.0 200 OK\n\nx"))},
		zipped{"archive/f.warc.gz", zip.Store, append(twoOf("f", gzipped), "x"...)},
		zipped{"archive/notawarc.gz", zip.Store, gzipped("x")},
	)
	captures, damages, _ := readAll(t, bytes.NewReader(file))
	var hosts []string
	for _, c := range captures {
		hosts = append(hosts, c.Origin.Host)
		again := bytes.NewReader(file[c.Offset:])
		if c.Length > 0 {
			again = bytes.NewReader(file[c.Offset:][:c.Length])
		}
		one := new(RecordReader)
		found := ""
		_, err := one.Read(t.Context(), "", again, Config{Limits: fetch.Limits{MaxBody: limit}}, func(c *Capture) error {
			found = c.Origin.Host
			return nil
		}, func(int64, string) error { return nil })
		must(t, err)
		one.Close()
		if isPacked := strings.ContainsAny(c.Origin.Host[:1], "de"); isPacked != (c.Length == 0) || !isPacked &&
			found != c.Origin.Host {
			t.Errorf("at %d+%d lies %q, and not %s", c.Offset, c.Length, found, c.Origin.Host)
		}
	}
	if got := strings.Join(hosts, " "); got != "a0.test a1.test b0.test b1.test c0.test c1.test d0.test d1.test e0.test "+
		"e1.test f0.test f1.test" {
		t.Errorf("captures of %s", got)
	}
	at := bytes.Index(file, gzipped(warcResponse("f1.test", "HTTP/1.1 200 OK\r\n\r\nf"))) +
		len(gzipped(warcResponse("f1.test", "HTTP/1.1 200 OK\r\n\r\nf")))
	if len(damages) != 1 || !strings.HasPrefix(damages[0], fmt.Sprintf("%d: ", at)) {
		t.Errorf("damages %q, want one at %d", damages, at)
	}
}

// What is wrong with a ZIP file is said, with what to do, and costs the other files nothing.
func TestZIPDamage(t *testing.T) {
	good := zipped{"good.warc.gz", zip.Store, twoOf("g", gzipped)}
	with := func(name string, method uint16, content []byte, change func([]byte) []byte) []byte {
		return change(zipFile(t, zipped{name, method, content}, good))
	}
	same := func(b []byte) []byte { return b }
	setAll := func(magic string, at int, to uint16) func([]byte) []byte { // in the first header of a kind
		return func(b []byte) []byte {
			binary.LittleEndian.PutUint16(b[bytes.Index(b, []byte(magic))+at:], to)
			return b
		}
	}
	const inDirectory = "PK\x01\x02"
	noise := bytes.Repeat([]byte("0123456789abcdef\n"), 1)
	for name, row := range map[string]struct {
		file     []byte
		captures int
		want     string
	}{
		"no archive": {zipFile(t, zipped{"a.txt", zip.Store, noise}), 0, "a ZIP file without a WARC file"},
		"no files":   {zipFile(t), 0, "a ZIP file without a WARC file"},
		"cut off": {with("x.warc", zip.Store, twoOf("x", unpacked), func(b []byte) []byte { return b[:len(b)-10] }),
			0, "the directory of the ZIP file cannot be read"},
		"encrypted": {with("x.warc", zip.Store, twoOf("x", unpacked), setAll(inDirectory, 8, 1)), 2, "is encrypted"},
		"another method": {with("x.warc", zip.Store, twoOf("x", unpacked), setAll(inDirectory, 10, 93)), 2,
			"the compression method 93, which is not read: unpack it"},
		"not deflated": {with("x.warc", zip.Store, twoOf("x", unpacked), setAll(inDirectory, 10, 8)), 2,
			"flate: corrupt input"},
		"a bomb": {with("x.warc", zip.Deflate, append(twoOf("x", unpacked), make([]byte, 3<<20)...), same), 4,
			"expands more than 100 times"},
		"a wrong content": {with("x.warc", zip.Deflate, twoOf("x", unpacked), setAll(inDirectory, 16, 1)), 4,
			"zip: checksum error"},
		"an empty file": {with("x.warc", zip.Store, nil, same), 2, "the file holds no record"},
	} {
		captures, damages, _ := readAll(t, bytes.NewReader(row.file))
		if len(captures) != row.captures || !strings.Contains(strings.Join(damages, " "), row.want) {
			t.Errorf("%s: %d captures, damages %q, want %d and %q", name, len(captures), damages, row.captures, row.want)
		}
	}

	// Many files of the same bytes, and a directory that does not fit into memory.
	var many []zipped
	for i := range 40 {
		many = append(many, zipped{fmt.Sprintf("%02d.warc.gz", i), zip.Store, nil})
	}
	file := zipFile(t, append([]zipped{{"first.warc.gz", zip.Store, twoOf("a", gzipped)}}, many...)...)
	size := uint32(len(twoOf("a", gzipped)))
	for from := bytes.Index(file, []byte(inDirectory)); ; {
		binary.LittleEndian.PutUint32(file[from+20:], size)
		binary.LittleEndian.PutUint32(file[from+24:], size)
		binary.LittleEndian.PutUint32(file[from+42:], 0) // where the first file is
		next := bytes.Index(file[from+4:], []byte(inDirectory))
		if next < 0 {
			break
		}
		from += 4 + next
	}
	if captures, damages, _ := readAll(t, bytes.NewReader(file)); len(captures) > 40 ||
		!strings.Contains(strings.Join(damages, " "), errZipOverlap.Error()) {
		t.Errorf("files of the same bytes: %d captures, %d damages", len(captures), len(damages))
	}
	var long []zipped
	for i := range 200 {
		long = append(long, zipped{fmt.Sprintf("%s%d.warc", strings.Repeat("x", 60_000), i), zip.Store, nil})
	}
	if _, damages, _ := readAll(t, bytes.NewReader(zipFile(t, long...))); len(damages) != 1 ||
		!strings.Contains(damages[0], errZipDirectory.Error()) {
		t.Errorf("a directory of 12 MB: damages %.300q", damages)
	}
	// A pipe cannot be read from its end.
	if _, damages, _ := readAll(t, io.MultiReader(bytes.NewReader(zipFile(t, good)))); len(damages) != 1 ||
		!strings.Contains(damages[0], "give it as a file, or unpack it") {
		t.Errorf("a pipe: damages %q", damages)
	}
	// A file that cannot be read is the user's to mend, and an end of the run is none.
	ignore := func(*Capture) error { return nil }
	input := &failing{bytes.NewReader(zipFile(t, good)), 100}
	_, err := Read(t.Context(), "a.wacz", input, Config{}, ignore, func(int64, string) error { return nil })
	if of, ok := errors.AsType[*userfile.Error](err); !ok || of.Path != "a.wacz" || !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("a file that cannot be read: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Read(ctx, "", bytes.NewReader(zipFile(t, good)), Config{}, func(*Capture) error { cancel(); return nil },
		func(int64, string) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an end: %v", err)
	}
}

// failing fails beyond an offset.
type failing struct {
	*bytes.Reader
	from int64
}

func (f *failing) Read(p []byte) (int, error) {
	if at, _ := f.Seek(0, io.SeekCurrent); at >= f.from {
		return 0, iotest.ErrTimeout
	}
	return f.Reader.Read(p)
}
