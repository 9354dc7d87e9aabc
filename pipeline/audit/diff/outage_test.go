package diff

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// A site that answers every missing page with 500 has opened for Google, and is
// an outage under RFC 9309: of that profile nothing has changed, whichever tables
// tell so and whichever way the outage came or went.
func TestAnOutageOfOneProfileIsNoChange(t *testing.T) {
	for _, tables := range []string{"fetches policies verdicts", "fetches policies", "fetches verdicts"} {
		for _, broken := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s, run %d", tables, broken), func(t *testing.T) {
				now := 0
				c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
					switch {
					case r.URL.Path == "/":
					case now == broken:
						w.WriteHeader(http.StatusInternalServerError)
					default:
						fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
					}
				}, "h.example\n")
				c.Tables, c.Evaluate.Profiles, c.Fetch.ProbeMisconfigured = strings.Fields(tables), nil, true
				for _, name := range []string{"google", "rfc9309"} {
					p, _ := robots.ProfileNamed(name)
					c.Evaluate.Profiles = append(c.Evaluate.Profiles, p)
				}
				for i, run := range []string{"a", "b"} {
					now, c.Run = i, run
					if _, err := pipeline.Run(t.Context(), c, new(pipeline.Progress)); err != nil {
						t.Fatal(err)
					}
				}
				diffOf(t, c.Dir)
				byProfile := make(map[string]int)
				for _, row := range changesOf(t, c.Dir, "b", "a") {
					if row.Profile == nil {
						byProfile[row.Kind]++
						continue
					}
					byProfile[*row.Profile]++
					if *row.Profile == "rfc9309" {
						t.Errorf("%s", showChange(&row))
					}
				}
				delete(byProfile, "google")
				if diff := cmp.Diff(map[string]int{"outcome": 1}, byProfile); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// A redirect that nobody followed, and a revisit record without its body, do not say
// what a host's robots.txt is: the host is unread, and no policy has changed.
func TestAnUnresolvedCaptureIsNoChange(t *testing.T) {
	const file = "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /private\n"
	revisit := strings.Replace(sinktest.Response("h.example", "HTTP/1.1 200 OK\r\n\r\n"), "WARC-Type: response",
		"WARC-Type: revisit", 1)
	for reason, capture := range map[string]string{
		"redirect_unresolved": sinktest.Response("h.example",
			"HTTP/1.1 301 Moved\r\nLocation: https://elsewhere.example/robots.txt\r\n\r\n"),
		"revisit_unresolved": revisit,
	} {
		t.Run(reason, func(t *testing.T) {
			c := audittest.Config(t, func(http.ResponseWriter, *http.Request) {}, "")
			for run, archive := range map[string]string{"a": sinktest.Response("h.example", file), "b": capture} {
				c.Run, c.Source.Hosts, c.Source.WARC = run, "", []string{sinktest.WriteFile(t, run+".warc", []byte(archive))}
				_, err := pipeline.Run(t.Context(), c, new(pipeline.Progress))
				sinktest.Must(t, err)
			}
			want := []string{"h.example reachability major success " + reason + " - -"}
			if diff := cmp.Diff(want, diffOf(t, c.Dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
