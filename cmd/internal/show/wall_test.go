package show

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/screen"
	"github.com/robocensus/robocensus/sink/lookup"
)

// A page is not a robots.txt, though it has the status of one.
func TestAPageIsNamed(t *testing.T) {
	v := &hostView{Origin: "https://a.example", Reason: "success", Bytes: new(int64(83)), target: &lookup.Target{}}
	for page, want := range map[bool]string{true: ": a page of HTML in place of a robots.txt\n", false: ": a robots.txt\n"} {
		v.target.IsHTML = page
		var out strings.Builder
		v.print(&screen.Text{Out: &out})
		if text := out.String(); !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

// A wall is not a robots.txt, though it has the status and bytes of one.
func TestAWallIsNamed(t *testing.T) {
	v := &hostView{Origin: "https://a.example", Reason: "success", Bytes: new(int64(86)), Challenge: new("cloudflare"), target: &lookup.Target{}}
	var out strings.Builder
	v.print(&screen.Text{Out: &out})
	if text := out.String(); !strings.Contains(text, ": a wall (Cloudflare), so that the host counts as unread; by its status a robots.txt\n") || strings.Contains(text, "file:") {
		t.Errorf("it says\n%s", text)
	}
}
