package input

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// Stopping the run ends the wait for a pipe without data.
func TestAWaitForDataEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, w := io.Pipe()
	defer w.Close()
	if _, err := io.ReadAll(interruptible(ctx, r)); !errors.Is(err, context.Canceled) {
		t.Errorf("a pipe: %v", err)
	}
}

// A list in another format is refused by the name of that format.
func TestOtherFormatsAreNamed(t *testing.T) {
	for head, want := range map[string]string{
		"\xff\xfea\x00.\x00": "UTF-16", "PK\x03\x04\x14": ".xlsx", `{"host": "a.example"}`: "is JSON",
		" [\n  \"a.example\"]": "is JSON", `[{"host"`: "is JSON",
		"a.example\rb.example\r": "CR alone", zipped(t, "host,rank\ra.example,1\r"): "CR alone",
		zipped(t, "PK\x03\x04\x14"): ".xlsx", zipped(t, `{"host": "a.example"}`): "is JSON",
		zipped(t, strings.Repeat("a", 257)+"ustar"): "tar archive",
	} {
		if _, _, err := Plain(strings.NewReader(head)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", head, err, want)
		}
	}
	for _, head := range []string{"", "a", "a\r", "a\r\nb", "a\rb\n", "PK.example\n", "[2001:db8::1]\n", "[::1]", "[",
		"{", zipped(t, "a.example\n"), zipped(t, "")} {
		if _, _, err := Plain(strings.NewReader(head)); err != nil {
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
