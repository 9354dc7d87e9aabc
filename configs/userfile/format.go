package userfile

import (
	"bytes"
	"errors"
	"strings"
)

// formats are what users give by mistake, by the first bytes.
var formats = []struct {
	at        int
	magic, is string
}{
	{0, "\xff\xfe\x00\x00", "is UTF-32; convert it: iconv -f UTF-32 -t UTF-8"},
	{0, "\xff\xfe", "is UTF-16; convert it: iconv -f UTF-16 -t UTF-8"},
	{0, "\xfe\xff", "is UTF-16; convert it: iconv -f UTF-16 -t UTF-8"},
	{0, "PK\x03\x04", "is a zip archive or a spreadsheet (.xlsx); unpack it, or save the sheet as CSV"},
	{0, "\x1f\x8b", "is compressed with gzip; unpack it"},
	{0, "\x28\xb5\x2f\xfd", "is compressed with zstd; unpack it"},
	{0, "BZh", "is compressed with bzip2; use bunzip2, or gzip or zstd in its place"},
	{0, "\xfd7zXZ\x00", "is compressed with xz; use unxz, or gzip or zstd in its place"},
	{0, "7z\xbc\xaf\x27\x1c", "is a 7z archive; unpack it"},
	{0, "\xd0\xcf\x11\xe0", "is an old spreadsheet (.xls); save the sheet as CSV"},
	{0, "SQLite format 3\x00", "is an SQLite database; export a table as CSV"},
	{0, "PAR1\x15", "is Parquet; export its rows as plain text"}, // and the head of a page
	{0, "ARROW1\x00\x00", "is an Arrow file; export its rows as plain text"},
	{0, "%PDF-", "is a PDF; give plain text"},
	{0, "{\\rtf", "is rich text (.rtf); save it as plain text"},
	{0, "\x89PNG", "is an image; give plain text"},
	{0, "\xff\xd8\xff", "is an image; give plain text"},
	{0, "GIF87a", "is an image; give plain text"},
	{0, "GIF89a", "is an image; give plain text"},
	{8, "WEBPVP8", "is an image; give plain text"},
	{tarAt, tarMagic, "is a tar archive; unpack it"},
}

// FormatHead is the number of first bytes that [Format] looks at.
const FormatHead = 512

// Format returns an error that names the format of a file by its first bytes, and says
// what to do, or nil if they may be text.
func Format(head []byte) error {
	for _, f := range formats {
		if len(head) > f.at && bytes.HasPrefix(head[f.at:], []byte(f.magic)) {
			return errors.New(f.is)
		}
	}
	for first, order := range []string{"BE", "LE"} {
		if halfNUL(head, first) {
			return errors.New("is UTF-16; convert it: iconv -f UTF-16" + order + " -t UTF-8")
		}
	}
	return nil
}

// FormatOfLines is [Format] of a file that is read by lines, which end with LF. Binary files
// have CR by chance.
func FormatOfLines(head []byte) error {
	if err := Format(head); err != nil {
		return err
	}
	at := bytes.IndexByte(head, '\r')
	switch {
	case at < 0 || at+1 == len(head) || bytes.Contains(head, []byte("\n")):
		return nil
	case bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && r != '\t' && r != '\r' }):
		return errors.New("is a binary file; give plain text")
	}
	return errors.New(`has lines that end with CR alone, as old Macs write them; convert it: tr '\r' '\n'`)
}

// IsMarkup reports whether a text begins like a web page or XML: with a tag, a comment or a
// declaration.
func IsMarkup(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if len(head) < 2 || head[0] != '<' || bytes.HasPrefix(bytes.ToLower(head), []byte("<http")) {
		return false
	}
	c := head[1] | 0x20
	return head[1] == '!' || head[1] == '?' || c >= 'a' && c <= 'z'
}

// IsWide reports whether a text is UTF-16 or UTF-32.
func IsWide(head []byte) bool {
	err := Format(head)
	return err != nil && strings.HasPrefix(err.Error(), "is UTF-")
}

const tarAt, tarMagic = 257, "ustar"

// IsTar reports whether a file begins like a tar archive, for those who read one.
func IsTar(head []byte) bool {
	return len(head) > tarAt && bytes.HasPrefix(head[tarAt:], []byte(tarMagic))
}

// halfNUL reports whether every other byte is NUL, from first on, and no other: ASCII in
// UTF-16 without a byte order mark.
func halfNUL(head []byte, first int) bool {
	if len(head) < 8 {
		return false
	}
	for i, b := range head {
		if (b == 0) != (i%2 == first) {
			return false
		}
	}
	return true
}
