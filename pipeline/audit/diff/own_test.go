package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// Under own the files of an agent are compared as its parser reads them: a blank line
// that ends a group for urllib changes its policy and nobody else's. Without bodies that
// is undecided, for the tables hold google's reading.
func TestOwnComparesByEachParser(t *testing.T) {
	own, _ := robots.ProfileNamed("own")
	agents, _, err := registry.ParseAgents("agents",
		[]byte("- {name: RoboTestA}\n- {name: RoboTestB, reads_as: urllib-2025}\n"))
	sinktest.Must(t, err)
	texts := map[string][2]string{
		"blank.example": {
			"User-agent: RoboTestA\nUser-agent: RoboTestB\nDisallow: /b\n\nUser-agent: *\nDisallow: /s\n",
			"User-agent: RoboTestA\nUser-agent: RoboTestB\n\nDisallow: /b\n\nUser-agent: *\nDisallow: /s\n",
		},
		"both.example": {"User-agent: *\nDisallow: /s\n", "User-agent: *\nDisallow: /s\nDisallow: /t\n"},
	}
	for _, c := range []struct {
		tables string
		want   []string
	}{
		{"fetches groups rules agents policies bodies", []string{
			"blank.example rules major RoboTestB other own /s - both - 7",
			"both.example rules major RoboTestA other own /t - closes - 3",
			"both.example rules major RoboTestB other own /t - closes - 3",
		}},
		{"fetches groups rules agents policies", []string{
			"blank.example rules minor - - own - - undecided - -",
			"both.example rules major RoboTestA other own /t - closes - 3",
			"both.example rules minor - - own - - undecided - -",
		}},
	} {
		dir := eachFolder(t, texts, func(dir, run, folder string, _ int) {
			audittest.StoredRunOf(t, dir, run, folder, c.tables, evaluate.Config{Agents: agents, Profiles: []*robots.Profile{
				own}})
		})
		_, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b"})
		sinktest.Must(t, err)
		var got []string
		for _, row := range shownChanges(t, dir) {
			if strings.Contains(row, " rules ") {
				got = append(got, row)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.tables, diff)
		}
	}
}
