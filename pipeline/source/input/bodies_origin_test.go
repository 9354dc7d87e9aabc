package input

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/fetch"
)

// Only files that are named by a host are captures of one.
func TestFilesNamedByHosts(t *testing.T) {
	for name, want := range map[string]string{
		"example.com": "https://example.com", "bakery.example": "https://bakery.example", "localhost": "https://localhost",
		"intranet_80": "http://intranet", "example.com_8443": "https://example.com:8443", "192.0.2.1": "https://192.0.2.1",
		// top-level domains
		"[2001:db8::1]": "https://[2001:db8::1]", "nic.md": "https://nic.md", "1.md": "https://1.md",
		"data.zip":  "https://data.zip",
		"README.md": "", "LICENSE-2.0.md": "", "README": "", "bakery.example.txt": "", "robots.txt": "", "index.HTML": "",
		"hosts.csv.gz": "", "Makefile": "",
	} {
		o, err := originOf(name, "https")
		switch {
		case want == "" && !errors.Is(err, errNotHost):
			t.Errorf("%s is taken for the host %s (%v)", name, o, err)
		case want != "" && (err != nil || o.String() != want):
			t.Errorf("%s is %s (%v), want %s", name, o, err, want)
		case want == "" && o != (fetch.Origin{}):
			t.Errorf("%s has the origin %s", name, o)
		}
	}
}

func TestOriginOfFile(t *testing.T) {
	for base, want := range map[string]string{
		"a.test": "https://a.test", "a.test_80": "http://a.test", "a.test_8080": "https://a.test:8080",
		"::1":      "https://[::1]",
		"::1_8080": "https://[::1]:8080", "[::1]_80": "http://[::1]", "2001:db8::1_443": "https://[2001:db8::1]",
	} {
		if o, err := originOf(base, "https"); err != nil || o.String() != want {
			t.Errorf("%s is %v, %v, want %s", base, o, err, want)
		}
	}
}

// A file is named by a host with a top-level domain; a folder around robots.txt may be
// called anything.
func TestFilesOfOtherFolders(t *testing.T) {
	for name, want := range map[string]bool{
		"main.go": false, "css/style.css": false, "wiki.corp": false, "wiki.corp/robots.txt": true, "wiki.internal": true,
		"wiki.corp_80": true, "example.com": true,
	} {
		if _, err := (&BodyFile{Name: name}).Origin("https"); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Only a folder without any robots.txt is refused.
func TestAFolderOfPages(t *testing.T) {
	page, file := []byte(" <!doctype html>"), []byte("User-agent: *\n")
	for want, files := range map[string]map[string][]byte{
		"such as a.test, are web pages": {"a.test": page, "b.test": []byte("%PDF-1.7"), "empty.test": nil, "notes.txt": file},
		"":                              {"a.test": page, "b.test": file},
	} {
		folder := t.TempDir()
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := CheckBodies(t.Context(), folder); want == "" && err != nil || want != "" &&
			(err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	empty := t.TempDir()
	if err := CheckBodies(t.Context(), empty); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
}
