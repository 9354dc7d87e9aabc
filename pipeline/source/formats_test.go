package source

import (
	"compress/gzip"
	"errors"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/fetch"
)

// A list in another format is refused by the name of that format.
func TestOtherFormatsAreNamed(t *testing.T) {
	for head, want := range map[string]string{
		"\xff\xfea\x00.\x00": "UTF-16", "PK\x03\x04\x14": ".xlsx", `{"host": "a.example"}`: "is JSON", " [\n  \"a.example\"]": "is JSON", `[{"host"`: "is JSON",
		zipped(t, "PK\x03\x04\x14"): ".xlsx", zipped(t, `{"host": "a.example"}`): "is JSON", zipped(t, strings.Repeat("a", 257)+"ustar"): "tar archive",
	} {
		if _, _, err := plainText(strings.NewReader(head)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", head, err, want)
		}
	}
	for _, head := range []string{"", "a", "PK.example\n", "[2001:db8::1]\n", "[::1]", "[", "{", zipped(t, "a.example\n"), zipped(t, "")} {
		if _, _, err := plainText(strings.NewReader(head)); err != nil {
			t.Errorf("%q: %v", head, err)
		}
	}
}

func zipped(t *testing.T, text string) string {
	var out strings.Builder
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Only files that are named by a host are captures of one.
func TestFilesNamedByHosts(t *testing.T) {
	for name, want := range map[string]string{
		"example.com": "https://example.com", "bakery.example": "https://bakery.example", "localhost": "https://localhost",
		"intranet_80": "http://intranet", "example.com_8443": "https://example.com:8443", "192.0.2.1": "https://192.0.2.1",
		"[2001:db8::1]": "https://[2001:db8::1]", "nic.md": "https://nic.md", "1.md": "https://1.md", "data.zip": "https://data.zip", // top-level domains
		"README.md": "", "LICENSE-2.0.md": "", "README": "", "bakery.example.txt": "", "robots.txt": "", "index.HTML": "", "hosts.csv.gz": "", "Makefile": "",
	} {
		o, err := originOfFile(name, "https")
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
