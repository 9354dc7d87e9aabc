package pipeline

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// A file that exceeds the limit is cut, and its row says so.
func TestBodiesAreCutAtTheLimit(t *testing.T) {
	dir := t.TempDir()
	rules := "User-agent: *\n"
	for name, body := range map[string]string{"a.example": rules, "b.example": rules + "#"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(body), 0o666))
	}
	c := newConfig(t, nil, "")
	c.Source, c.Fetch.MaxBody = source.Config{Schemes: []string{"http"}, Bodies: dir}, len(rules)
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	for _, row := range rowsOf[schema.Fetch](t, c, "fetches") {
		if cut := row.Host == "b.example"; row.BodyTruncated != cut || *row.BodyBytes != int64(len(rules)) {
			t.Errorf("%s: %d bytes, truncated %v", row.Host, *row.BodyBytes, row.BodyTruncated)
		}
	}
}

// A robots.txt in a folder is that of the host by which the folder is named; in a tar too.
func TestBodiesInFoldersOfTheirHosts(t *testing.T) {
	dir := t.TempDir()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, name := range []string{"a.example/robots.txt", "b.example_8443/robots.txt", "some/c.example"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(file), 0o777))
		must(t, os.WriteFile(file, nil, 0o666))
		must(t, w.WriteHeader(&tar.Header{Name: "./" + name, Typeflag: tar.TypeReg}))
	}
	must(t, w.Close())
	for _, bodies := range []string{dir, writeFile(t, "bodies.tar", archive.Bytes())} {
		c := newConfig(t, nil, "")
		c.Source = source.Config{Schemes: []string{"http"}, Bodies: bodies}
		_, err := Run(t.Context(), c, new(Progress))
		must(t, err)
		var got []string
		for _, row := range rowsOf[schema.Fetch](t, c, "fetches") {
			got = append(got, row.Input+" "+row.Origin)
		}
		want := []string{"a.example http://a.example", "b.example_8443 http://b.example:8443", "c.example http://c.example"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: inputs and origins (-want +got):\n%s", bodies, diff)
		}
	}
}

// Each sitemap is compared with the host of its own file.
func TestSitemapsOfSeveralHosts(t *testing.T) {
	dir := t.TempDir()
	for name, body := range map[string]string{
		"a.example": "Sitemap: https://b.example/1\nSitemap: http://a.example/2\nSitemap: https://user:pass@a.example/3\n" +
			"Sitemap: https://a.example@b.example/4\nSitemap: http://b.example/@a.example\n",
		"b.example": "Sitemap: https://b.example:444/1\nSitemap: /2\nSitemap: //b.example/3\nSitemap: //u@b.example:8080\n" +
			"Sitemap: //a.example/b\n",
		"c.example": "User-agent: *\n",
		"d.example": "Sitemap: http://e.example/1\n",
		"f.example": "Sitemap: \"https://f.example/1\"\nSitemap: https://f.example/1 https://f.example/2\n", // no URL
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(body), 0o666))
	}
	c := newConfig(t, nil, "")
	c.Source = source.Config{Schemes: []string{"http"}, Bodies: dir}
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	got := make(map[string][]bool)
	for _, row := range rowsOf[schema.Sitemap](t, c, "sitemaps") {
		got[row.Host] = append(got[row.Host], row.IsSameHost)
	}
	want := map[string][]bool{"a.example": {false, true, true, false, false}, "b.example": {true, true, true, true,
		false}, "d.example": {false}, "f.example": {false, false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("is_same_host (-want +got):\n%s", diff)
	}
	counts := make(map[string]int64)
	for _, row := range rowsOf[schema.Count](t, c, "summary") {
		if row.Metric == "sitemap" {
			counts[*row.Key] += row.Count
		}
	}
	if diff := cmp.Diff(map[string]int64{"same_host": 3, "other_host": 5, "relative": 5}, counts); diff != "" {
		t.Errorf("counts of sitemaps (-want +got):\n%s", diff)
	}
}

// A list that selects stored answers gives their ranks, unless --ranks does.
func TestRanksOfAListThatSelects_NoRace(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.example", "b.example", "c.example"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
	}
	list := writeFile(t, "hosts.csv", []byte("rank,host\n7,b.example\n,a.example\n"))
	for ranks, want := range map[string]map[string]int64{
		"": {"a.example": 0, "b.example": 7},
		writeFile(t, "ranks.csv", []byte("1,a.example\n")): {"a.example": 1, "b.example": 0},
	} {
		c := newConfig(t, nil, "")
		c.Source = source.Config{Schemes: []string{"http"}, Bodies: dir, Hosts: list, Ranks: ranks}
		_, err := Run(t.Context(), c, new(Progress))
		must(t, err)
		got := make(map[string]int64)
		for _, row := range rowsOf[schema.Fetch](t, c, "fetches") {
			if got[row.Host] = 0; row.Rank != nil {
				got[row.Host] = *row.Rank
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ranks of %q (-want +got):\n%s", ranks, diff)
		}
	}
}

// A rule shows its pattern as written and as compared; a class of lines counts lines
// and hosts.
func TestRulesAndLinesOfAFile(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.example"),
		[]byte("User-agent: *\nDisallow: /\u00e9\nDisallow: /a\nx-one: 1\nx-two: 2\n"), 0o666))
	c := newConfig(t, nil, "")
	c.Source = source.Config{Schemes: []string{"http"}, Bodies: dir}
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	var got [][2]string
	for _, row := range rowsOf[schema.Rule](t, c, "rules") {
		got = append(got, [2]string{row.Pattern, row.Normalized})
	}
	if diff := cmp.Diff([][2]string{{"/\u00e9", "/%C3%A9"}, {"/a", "/a"}}, got); diff != "" {
		t.Errorf("pattern and normalized (-want +got):\n%s", diff)
	}
	counts := make(map[string]int64)
	for _, row := range rowsOf[schema.Count](t, c, "summary") {
		if row.Key != nil && *row.Key == "unknown_field" {
			counts[row.Metric] += row.Count
		}
	}
	if diff := cmp.Diff(map[string]int64{"line_class": 2, "line_class_hosts": 1}, counts); diff != "" {
		t.Errorf("unknown fields (-want +got):\n%s", diff)
	}
}

// The date of a run that judges another again is that of the user, otherwise that of the
// other run.
func TestTheDateOfARunThatJudgesAgain(t *testing.T) {
	first := storedConfig(t, source.Config{Schemes: []string{"http"},
		WARC: []string{writeFile(t, "a.warc", []byte(warcResponse("a.example", "HTTP/1.1 200 OK\r\n\r\n")))}})
	dates := []time.Time{time.Date(2024, 5, 14, 0, 0, 0, 0, time.UTC), time.Date(2025, 6, 15, 0, 0, 0, 0, time.UTC)}
	first.AsOf = &dates[0]
	_, err := Run(t.Context(), first, new(Progress))
	must(t, err)
	for run, asOf := range map[string]*time.Time{"again": nil, "dated": &dates[1]} {
		c := first
		c.Run, c.AsOf, c.Source = run, asOf, source.Config{FromRun: filepath.Join(first.Dir, "_runs", first.Run)}
		_, err := Run(t.Context(), c, new(Progress))
		must(t, err)
		m, err := journal.ReadManifest(sinktest.Open(t, c.Dir), run)
		must(t, err)
		want := dates[0]
		if asOf != nil {
			want = *asOf
		}
		if !m.Date.Equal(want) {
			t.Errorf("run %s is of %v, want %v", run, m.Date, want)
		}
	}
}

// A body that the first profile read in part was captured whole up to the largest limit of
// the earlier run, whoever defined its profile.
func TestLimitsOfOwnProfilesJudgedAgain(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.example"), bytes.Repeat([]byte("#\n"), 50), 0o666))
	profiles := make([]*robots.Profile, 2)
	for i, size := range []int{40, 200} {
		p, _ := robots.ProfileNamed("google")
		own := *p
		own.Name, own.SizeLimit = fmt.Sprintf("own-%d", size), size
		profiles[i] = &own
	}
	first := newConfig(t, nil, "")
	first.Source, first.Fetch.MaxBody = source.Config{Schemes: []string{"http"}, Bodies: dir, Limits: fetch.Limits{
		MaxBody: 200}}, 200
	first.Evaluate.Profiles, first.Tables = profiles, []string{"fetches", "bodies"}
	_, err := Run(t.Context(), first, new(Progress))
	must(t, err)
	again := first
	again.Run, again.Evaluate.Profiles = "again", profiles[1:]
	again.Source = source.Config{FromRun: filepath.Join(first.Dir, "_runs", first.Run)}
	_, err = Run(t.Context(), again, new(Progress))
	must(t, err)
	for _, row := range []struct {
		of  Config
		cut bool
	}{{first, true}, {again, false}} {
		if got := rowsOf[schema.Fetch](t, row.of, "fetches")[0]; got.BodyTruncated != row.cut {
			t.Errorf("run %s: %d bytes, truncated %v", row.of.Run, *got.BodyBytes, got.BodyTruncated)
		}
	}
}
