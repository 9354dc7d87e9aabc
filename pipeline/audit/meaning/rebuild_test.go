package meaning

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

// rebuiltOf gives, for each target of a run with one part of each table, what
// the rows of groups and rules say, and its body.
func rebuiltOf(t *testing.T, dir, id string, each func(groups, rules records.Decoder, body []byte)) {
	t.Helper()
	in := sinktest.Open(t, dir)
	m, err := journal.ReadManifest(in, id)
	sinktest.Must(t, err)
	found := &store.Sorter{Memory: 1 << 30}
	var all []records.Wanted
	for _, p := range m.Parts {
		var list []records.Wanted
		for _, row := range sinktest.RowsOf[schema.Fetch](t, filepath.Join(dir, strings.Replace(p.Path, p.Table, "fetches",
			1))) {
			if row.ContentDigest != nil {
				list = append(list, records.Wanted{Seq: row.Seq, N: row.Seq, Digest: *row.ContentDigest})
			}
		}
		switch p.Table {
		case "fetches":
			all = append(all, list...)
		case "groups":
			sinktest.Must(t, records.Read(t.Context(), in, p, records.Groups, list, new(records.Names), found))
		case "rules":
			sinktest.Must(t, records.Read(t.Context(), in, p, records.Rules, list, new(records.Names), found))
		case "bodies":
			sinktest.Must(t, records.ReadBodies(t.Context(), in, []journal.Part{p}, list, found))
		}
	}
	r, err := records.NewFound(found)
	sinktest.Must(t, err)
	for _, w := range all {
		rows, err := r.Take(w.N)
		sinktest.Must(t, err)
		each(rows[records.Groups], rows[records.Rules], rows[records.Bodies][1:])
	}
}

// profilesRebuilt are those whose reading the tables hold.
func profilesRebuilt() (out []*robots.Profile) {
	for _, name := range robots.ProfileNames() {
		if p, _ := robots.ProfileNamed(name); ReadsTables(p) {
			out = append(out, p)
		}
	}
	return out
}

// A file that is rebuilt from the tables is read as the file itself, line by
// line; where that cannot be known, it is not rebuilt.
func TestRebuiltFilesReadTheSame(t *testing.T) {
	if _, err := os.Stat(audittest.Corpus); err != nil {
		t.Skip("the corpus of real files is not here")
	}
	for i, p := range profilesRebuilt() {
		if i > 0 && testing.Short() {
			break
		}
		t.Run(p.Name, func(t *testing.T) {
			dir, files, left := t.TempDir(), 0, 0
			audittest.StoredRun(t, dir, "r", audittest.Corpus, "fetches groups rules bodies", p)
			rebuiltOf(t, dir, "r", func(groups, rules records.Decoder, body []byte) {
				files++
				if why := checkRebuilt(p, groups, rules, body); why == "left" {
					left++
				} else if why != "" {
					t.Errorf("%s:\n%.300q", why, body)
				}
			})
			if files < 2000 || left > 20 {
				t.Errorf("%d files, %d of them not rebuilt", files, left)
			}
		})
	}
	if n := len(profilesRebuilt()); n != 4 {
		t.Errorf("%d profiles", n) // google-2012 leaves misspellings open
	}
}

// Nothing that a file can hold makes a rebuilt one read otherwise.
func TestRebuiltOddFiles(t *testing.T) {
	const group = "User-agent: RoboTestA\n"
	long := strings.Repeat("x", 16_700)
	files := map[string]string{
		"empty": "", "orphans": "Disallow: /a%3Ab\nAllow: /\n" + group + "Disallow: /b\n", "no rules": group +
			"User-agent: *",
		"bytes": group + "Disallow: /\xe9\xff%4\xe1%e9\nAllow: /\u00e9\nDisallow: /%\xe9/%%E9",
		"nul":   group + "Disallow: /a\x00b\nDisallow: /c\nUser-agent: a\x00b\nDisallow: /\x00",
		"white": "\v" + group + "\fDisallow:\v/a\v\nDisallow:\t /b c\t\rAllow: /d\x85\n",
		"long": group + "Disallow: /" + long + "\nDisalow:/" + long + "\nDisallow /" + long[:16_655] + "\n" +
			strings.Repeat(" ", 9000) + "Allow: /" + long,
		"lists": "User-agent: RoboTestA RoboTestB\tc\nDisallow: /a /b\t /a\nUser-agent: d\nUser-agent: e\nDisallow: /f",
		"odd": "user agent: RoboTestA\nDisalow: /a\nuseragent: b\nDisallow /c\ndisallowed: /d\nUser-agent: *\n" +
			"Disallow: \nAllow:",
		"apart": group + "Sitemap: /s\nCrawl-delay: 1\n<html>\nUser-agent: b # c\n\nDisallow: /#x\nHost: h\nDisallow: /y",
		"bom":   "\xef\xbb\xbf" + group + "Disallow: /\ufeff",
		"half":  "\xef" + group + "Disallow: /a",
		"names": "User-agent: MJ12bot/1.2 (x)\nUser-agent: *\xe9\nUser-agent: * x\nUser-agent:\nUser-agent: %E9\n" +
			"User-agent: \xe9t\xe9\nDisallow: /x$\nAllow: *.php$",
		"index":   group + "Allow: /a/index.html\nDisallow: /a/\nDisallow: a\nDisallow: *\nDisallow: $\nDisallow: /$x$",
		"many":    strings.Repeat(group+"Disallow:/\xff\n", 18_000), // beyond the limit, and longer where it is rebuilt
		"returns": strings.ReplaceAll(group+"Disallow: /a\nDisallow: /b\n", "\n", "\r\r\n\n"),
	}
	folder := t.TempDir()
	for what, text := range files {
		sinktest.Must(t, os.WriteFile(folder+"/"+strings.ReplaceAll(what, " ", "-")+".example", []byte(text), 0o666))
	}
	own, _ := robots.ProfileNamed("google")
	own.Name, own.Escapes, own.SizeLimit = "own", robots.EscapesLiteral, 200
	for _, p := range append(profilesRebuilt(), own) {
		dir, left := t.TempDir(), []string{}
		audittest.StoredRun(t, dir, "r", folder, "fetches groups rules bodies", p)
		rebuiltOf(t, dir, "r", func(groups, rules records.Decoder, body []byte) {
			if why := checkRebuilt(p, groups, rules, body); why == "left" {
				left = append(left, fmt.Sprintf("%.20q", body))
			} else if why != "" {
				t.Errorf("%s: %s:\n%.300q", p.Name, why, body)
			}
		})
		t.Logf("%s: not rebuilt: %s", p.Name, left)
		if len(left) > 5 {
			t.Errorf("%s: %d files are not rebuilt", p.Name, len(left))
		}
	}
}

// checkRebuilt says what differs, or "left" for what is not rebuilt.
func checkRebuilt(p *robots.Profile, groups, rules records.Decoder, body []byte) string {
	got := FromTables(p, WithoutLimit(p), groups, rules)
	if got == nil {
		return "left"
	}
	want := Parse(p, body)
	a, b := &want.File, &got.File
	if len(a.Rules) != len(b.Rules) || len(a.Groups) != len(b.Groups) || len(a.Agents) != len(b.Agents) {
		return fmt.Sprintf("%d rules, %d groups, %d agents, and rebuilt %d, %d, %d", len(a.Rules), len(a.Groups),
			len(a.Agents), len(b.Rules), len(b.Groups), len(b.Agents))
	}
	for i := range a.Rules {
		x, y := a.Rules[i], b.Rules[i]
		if !bytes.Equal(x.Normalized, y.Normalized) && p.Escapes != robots.EscapesLiteral {
			return fmt.Sprintf("rule %q, and rebuilt %q", x.Normalized, y.Normalized)
		}
		x.Pattern, x.Normalized, y.Pattern, y.Normalized = nil, nil, nil, nil
		if fmt.Sprint(x) != fmt.Sprint(y) {
			return fmt.Sprintf("rule %+v, and rebuilt %+v", x, y)
		}
	}
	for i := range a.Groups {
		if a.Groups[i].Line != b.Groups[i].Line || a.Groups[i].Agents != b.Groups[i].Agents ||
			a.Groups[i].Rules != b.Groups[i].Rules {
			return fmt.Sprintf("group %+v, and rebuilt %+v", a.Groups[i], b.Groups[i])
		}
	}
	for i := range a.Agents {
		x, y := a.Agents[i], b.Agents[i]
		if x.Line != y.Line || p.AgentMatch != robots.MatchSubstring && (!bytes.Equal(x.Token, y.Token) ||
			!bytes.Equal(x.Wide, y.Wide)) {
			return fmt.Sprintf("agent %+v, and rebuilt %+v", x, y)
		}
	}
	return ""
}
