package pipeline

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// A body is parsed the first time, parsed and cached the second time, and found in
// the cache the third time; cut off, it is another body. The rows must not depend
// on that.
func TestCachedContentGivesTheSameRows_NoRace(t *testing.T) {
	files, err := filepath.Glob("../testdata/demo/hosts/*")
	must(t, err)
	if len(files) == 0 {
		t.Fatal("no files")
	}
	const times = 4
	var archive strings.Builder
	for k := range times {
		for i, name := range files {
			body, err := os.ReadFile(name)
			must(t, err)
			answer := "HTTP/1.1 200 OK\r\n\r\n" + string(body)
			for _, record := range []string{
				warcResponse(fmt.Sprintf("t%d.i%d.good.example", k, i), answer),
				strings.Replace(warcResponse(fmt.Sprintf("t%d.i%d.cut.example", k, i), answer), "WARC-Date",
					"WARC-Truncated: length\r\nWARC-Date", 1),
				warcResponse(fmt.Sprintf("t%d.i%d.gone.example", k, i), strings.Replace(answer, "200 OK", "404 Gone", 1)),
			} {
				archive.WriteString(record)
			}
		}
	}
	c := storedConfig(t, source.Config{Schemes: []string{"http"},
		WARC: []string{writeFile(t, "a.warc", []byte(archive.String()))}})
	for _, name := range []string{"rfc9309", "google-2012"} {
		p, ok := robots.ProfileNamed(name)
		if !ok {
			t.Fatal(name)
		}
		c.Evaluate.Profiles = append(c.Evaluate.Profiles, p)
	}
	c.Evaluate.Samples, err = registry.ParseSamples("urls",
		[]byte("/\n/private\n/search?q=1\nhttps://t3.i0.good.example/private/own\n"))
	must(t, err)
	_, err = Run(t.Context(), c, &Progress{})
	must(t, err)

	// compare checks that the hosts with one body have the same rows, whichever
	// time the body occurs.
	compare := func(table string, hosts []string, rows []string) {
		t.Helper()
		of := make(map[string]*[times][]string)
		for i, host := range hosts {
			k, rest, _ := strings.Cut(host, ".")
			if of[rest] == nil {
				of[rest] = new([times][]string)
			}
			n := int(k[1] - '0')
			of[rest][n] = append(of[rest][n], strings.ReplaceAll(rows[i], host, "HOST"))
		}
		if len(of) == 0 {
			t.Errorf("%s: no rows", table)
		}
		for rest, told := range of {
			for k := 1; k < times; k++ {
				if diff := cmp.Diff(told[0], told[k]); diff != "" {
					t.Fatalf("%s of %s, met %d times before:\n%s", table, rest, k, diff)
				}
			}
		}
	}
	compareRows(t, c, "fetches", compare, func(r *schema.Fetch) string {
		r.Seq, r.WARCOffset, r.WARCLength = 0, nil, nil
		return r.Host
	})
	compareRows(t, c, "groups", compare, func(r *schema.Group) string { r.Seq = 0; return r.Host })
	compareRows(t, c, "rules", compare, func(r *schema.Rule) string { r.Seq = 0; return r.Host })
	compareRows(t, c, "sitemaps", compare, func(r *schema.Sitemap) string { r.Seq = 0; return r.Host })
	compareRows(t, c, "lines", compare, func(r *schema.Line) string { r.Seq = 0; return r.Host })
	compareRows(t, c, "signals", compare, func(r *schema.Signal) string { r.Seq = 0; return r.Host })
	compareRows(t, c, "preferences", compare, func(r *schema.Preference) string { r.Seq = 0; return r.Host })
	compareRows(t, c, "policies", compare, func(r *schema.Policy) string { r.Seq = 0; return r.Host })
	own := 0
	compareRows(t, c, "verdicts", compare, func(r *schema.Verdict) string {
		r.Seq = 0
		if !strings.HasPrefix(r.URL, "/") {
			own++
			return "" // of one host alone
		}
		return r.Host
	})
	if own != len(c.Evaluate.Agents)*len(c.Evaluate.Profiles) {
		t.Errorf("%d verdicts on the URL that one host has for itself", own)
	}
}

// compareRows passes the rows of a table to compare as texts, with their hosts. The
// function which returns a row's host, "" to skip the row, and clears the cells
// that distinguish hosts.
func compareRows[T any](t *testing.T, c Config, table string, compare func(string, []string, []string),
	host func(*T) string) {
	t.Helper()
	var hosts, texts []string
	for _, r := range rowsOf[T](t, c, table) {
		if h := host(&r); h != "" {
			hosts, texts = append(hosts, h), append(texts, show(r))
		}
	}
	compare(table, hosts, texts)
}

// show formats a row, with the values behind its pointers.
func show(row any) string {
	text, err := json.Marshal(row)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
