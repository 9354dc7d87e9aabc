package show

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/sink/lookup"
)

// A page is not a robots.txt, though it has the status of one.
func TestAPageIsNamed(t *testing.T) {
	v := &hostView{Origin: "https://a.example", Reason: "success", Bytes: new(int64(83)), target: &lookup.Target{}}
	for page, want := range map[bool]string{true: ": a page of HTML in place of a robots.txt\n",
		false: ": a robots.txt\n"} {
		v.target.IsHTML = page
		var out strings.Builder
		v.print(&cli.Text{Out: &out})
		if text := out.String(); !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

// A wall is not a robots.txt, though it has the status and bytes of one.
func TestAWallIsNamed(t *testing.T) {
	v := &hostView{Origin: "https://a.example", Reason: "success", Bytes: new(int64(86)), Challenge: new("cloudflare"),
		target: &lookup.Target{}}
	var out strings.Builder
	v.print(&cli.Text{Out: &out})
	if text := out.String(); !strings.Contains(text,
		": a wall (Cloudflare), so that the host counts as unread; by its status a robots.txt\n") ||
		strings.Contains(text, "file:") {
		t.Errorf("it says\n%s", text)
	}
}

// The screen of a host has the words of the summary for who turned us away, and says an error once.
func TestAnswersAreNamedOnce(t *testing.T) {
	for _, row := range []struct {
		reason, class string
		status        int32
		retryAfter    *string
		want          string
	}{
		{"client_error", "", 403, nil, "refused (401, 403, 451)"},
		{"client_error", "", 402, nil, "payment demanded (402)"},
		{"client_error", "", 429, nil, "throttled (429, or 503 with Retry-After)"},
		{"server_error", "server_error", 503, new("60"), "throttled (429, or 503 with Retry-After)"},
		{"stale_copy", "server_error", 503, new("60"),
			"throttled (429, or 503 with Retry-After); unreachable; an earlier copy is judged (server error)"},
		{"client_error", "", 404, nil, "no robots.txt (4xx)"},
		{"server_error", "server_error", 503, nil, "server error"},
		{"server_error", "ftp_refused", 0, nil, "server error (FTP session refused)"},
		{"address_blocked", "address_blocked", 0, nil, "not asked: special address"},
		{"no_route", "no_route", 0, nil, "not asked: no route from here"},
		{"incomplete_body", "truncated_body", 200, nil, "answer that broke off"},
		{"network_failure", "timeout", 0, nil, "could not be reached (timeout)"},
	} {
		v := &hostView{Origin: "https://a.example", Reason: row.reason, target: &lookup.Target{}}
		v.target.FinalURL, v.target.Status, v.target.RetryAfter = new("https://a.example/robots.txt"), &row.status,
			row.retryAfter
		if row.class != "" {
			v.ErrorClass = &row.class
		}
		var out strings.Builder
		v.print(&cli.Text{Out: &out})
		if want := ": " + row.want + "\n"; !strings.Contains(out.String(), want) {
			t.Errorf("%s, %s, %d: want %q in\n%s", row.reason, row.class, row.status, want, out.String())
		}
	}
}
