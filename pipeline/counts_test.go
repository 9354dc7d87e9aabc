package pipeline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/source"
)

// The oddities of bodies are counted by host, each under its own key.
func TestOddBodiesAreCounted(t *testing.T) {
	rules := "User-agent: *\nDisallow: /\n"
	var archive strings.Builder
	for i, body := range []string{
		rules, "\ufeff" + rules, "\ufeff" + rules, rules + "# \xff", rules + "# \xfe", rules + "# \xfd",
		"<!doctype html><html><body>no such page</body></html>",
	} {
		archive.WriteString(warcResponse(string(rune('a'+i))+".example", "HTTP/1.1 200 OK\r\n\r\n"+body))
	}
	c := newConfig(t, nil, "")
	c.Source, c.Tables = source.Config{Schemes: []string{"http"},
		WARC: []string{writeFile(t, "a.warc", []byte(archive.String()))}}, []string{"fetches", "summary"}
	result, err := Run(t.Context(), c, new(Progress))
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int64)
	for _, row := range result.Counts.List() {
		if row.Metric == "body" || row.Metric == "targets" {
			got[row.Metric+" "+row.Key] += row.N
		}
	}
	if diff := cmp.Diff(map[string]int64{"targets ": 7, "body bom": 2, "body not_utf8": 3, "body html": 1},
		got); diff != "" {
		t.Error(diff)
	}
}
