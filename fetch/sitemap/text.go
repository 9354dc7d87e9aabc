package sitemap

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// errPacked is the error of a compressed document that ends or breaks in the middle. What
// came before it counts.
var errPacked = errors.New("the document is damaged gzip")

// unpack undoes gzip, up to twice: a server may pack what is packed. Only the first bytes
// tell, not the name. The bound is on what is unpacked.
func unpack(in io.Reader, bound *bounded) (io.Reader, error) {
	for range 2 {
		b := bufio.NewReaderSize(in, 1<<16)
		in = b
		if head, _ := b.Peek(2); !bytes.Equal(head, []byte{0x1f, 0x8b}) {
			break
		}
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, errPacked
		}
		in = &unpacked{z}
	}
	bound.in = in
	return bound, nil
}

type unpacked struct{ in io.Reader }

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.in.Read(p)
	if err != nil && err != io.EOF {
		err = errPacked
	}
	return n, err
}

var prolog = regexp.MustCompile(`^[ \t\r\n]*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// utf8Of decodes a document by its byte order mark, else by what its prolog says, else as
// UTF-8.
func utf8Of(in io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(in, 1<<16)
	head, err := b.Peek(512)
	if len(head) == 0 && err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{'<', 0}):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(b), nil
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}) || bytes.HasPrefix(head, []byte{0, '<'}):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder().Reader(b), nil
	}
	if m := prolog.FindSubmatch(bytes.TrimPrefix(head, []byte("\ufeff"))); m != nil {
		if e, err := htmlindex.Get(string(m[1])); err == nil {
			// the bytes deny the latter
			if name, _ := htmlindex.Name(e); name != "utf-8" && name != "utf-16le" && name != "utf-16be" {
				return e.NewDecoder().Reader(b), nil
			}
		}
	}
	return b, nil
}

var names = map[string]byte{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\''}

// unescape appends text with the references of XML undone. An ampersand that begins none
// stands for itself, and bare reports whether there is one; entity reports whether there is a
// name with a semicolon that XML does not define.
func unescape(out, text []byte) (_ []byte, bare, entity bool) {
	for {
		at := bytes.IndexByte(text, '&')
		if at < 0 {
			return append(out, text...), bare, entity
		}
		out = append(out, text[:at]...)
		text = text[at:]
		end := bytes.IndexByte(text[:min(len(text), 32)], ';')
		if end < 0 {
			out, text, bare = append(out, '&'), text[1:], true
			continue
		}
		name := string(text[1:end])
		r, isNumber := number(name)
		switch c, ok := names[name]; {
		case ok:
			out, text = append(out, c), text[end+1:]
		case isNumber:
			out, text = utf8.AppendRune(out, r), text[end+1:]
		default:
			entity = entity || isName(name)
			out, text, bare = append(out, '&'), text[1:], true
		}
	}
}

// number returns the character of a numeric reference.
func number(name string) (rune, bool) {
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' || digits[0] == 'X' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 21)
	if err != nil || n == 0 || !utf8.ValidRune(rune(n)) {
		return 0, false
	}
	return rune(n), true
}

func isName(name string) bool {
	for i, c := range name {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || i > 0 &&
			(c >= '0' && c <= '9' || c == '-' || c == '.') {
			continue
		}
		return false
	}
	return name != ""
}
