package audit

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/robots"
)

// A site that answers every missing page with 500 has opened for Google, and is
// an outage under RFC 9309: of that profile nothing has changed, whichever tables
// tell so and whichever way the outage came or went.
func TestAnOutageOfOneProfileIsNoChange(t *testing.T) {
	for _, tables := range []string{"fetches policies verdicts", "fetches policies", "fetches verdicts"} {
		for _, broken := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s, run %d", tables, broken), func(t *testing.T) {
				now := 0
				c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
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
