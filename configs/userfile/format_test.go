package userfile

import (
	"strings"
	"testing"
)

// A file in another format is refused by the name of that format.
func TestFormat(t *testing.T) {
	tar := strings.Repeat("a", 257) + "ustar\x0000"
	for head, want := range map[string]string{
		"\xff\xfea\x00.\x00": "UTF-16;", "\xfe\xff\x00a": "UTF-16;", "\xff\xfe\x00\x00a\x00\x00\x00": "UTF-32",
		"a\x00.\x00e\x00x\x00": "UTF-16LE", "\x00a\x00.\x00e\x00x": "UTF-16BE",
		"PK\x03\x04\x14": ".xlsx", "BZh91AY": "bzip2", "\xfd7zXZ\x00\x00": "xz", "\xd0\xcf\x11\xe0\xa1": ".xls",
		"SQLite format 3\x00": "SQLite",
		"\x1f\x8b\x08":        "gzip", "\x28\xb5\x2f\xfd": "zstd", "7z\xbc\xaf\x27\x1c": "7z", "%PDF-1.4": "PDF",
		tar: "tar archive", "PAR1\x15\x00": "Parquet", "ARROW1\x00\x00\xff": "Arrow", "GIF89a\x01": "image",
		"RIFF\x1a\x00\x00\x00WEBPVP8 ": "image",
	} {
		if err := Format([]byte(head)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", head, err, want)
		}
	}
	for _, head := range []string{"", "a", "PK.example\n", "BZ.example", "\ufeffa.example", "ustar.example", "a\x00",
		"PAR1.example\n", "ARROW1.example", "GIF.example", "my-host.WEBP",
		"a\x00b\x00c\x00de", tar[:258]} {
		if err := Format([]byte(head)); err != nil {
			t.Errorf("%q: %v", head, err)
		}
	}
	// A document of YAML may be UTF-16. Others are named where they cannot be read.
	if root, err := Parse("f.yaml", []byte("\xff\xfea\x00:\x00 \x00b\x00\n\x00")); err != nil || root == nil {
		t.Errorf("YAML in UTF-16: %v", err)
	}
	if _, err := Parse("f.yaml", []byte("PK\x03\x04\x14")); err == nil || !strings.HasPrefix(err.Error(),
		"f.yaml: is a zip archive") {
		t.Errorf("a spreadsheet as YAML: %v", err)
	}
}

// The bytes of a binary file are no ends of lines.
func TestFormatOfLines(t *testing.T) {
	for head, want := range map[string]string{
		"PK\x03\x04\x14\x00\r\x00a": ".xlsx", "\xd0\xcf\x11\xe0\r\x00": ".xls", "%PDF-1.4\ra": "PDF",
		"\x7fELF\x02\x01\ra": "is a binary file", "a\rb": "CR alone", "a,1\tb\rb,2\r": "CR alone",
	} {
		if err := FormatOfLines([]byte(head)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", head, err, want)
		}
	}
	for _, head := range []string{"", "a", "a\r", "a\r\nb", "a\rb\n", "\x01a\x00b"} {
		if err := FormatOfLines([]byte(head)); err != nil {
			t.Errorf("%q: %v", head, err)
		}
	}
}

func TestWideTexts(t *testing.T) {
	for head, want := range map[string]bool{"\xff\xfea\x00": true, "a\x00b\x00c\x00d\x00": true, "a": false,
		"PK\x03\x04": false, "": false} {
		if IsWide([]byte(head)) != want {
			t.Errorf("%q is wide: %v, want %v", head, !want, want)
		}
	}
}

func TestMarkup(t *testing.T) {
	for _, head := range []string{"<html>", "\ufeff \r\n<?xml version", "<!-- a", "<urlset ", "<a"} {
		if !IsMarkup([]byte(head)) {
			t.Errorf("%q is no markup", head)
		}
	}
	for _, head := range []string{"", "<", "< a", "<https://a.example>", "a <b>", "User-agent: *", "<1"} {
		if IsMarkup([]byte(head)) {
			t.Errorf("%q is markup", head)
		}
	}
}
