package template

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots"
)

var someTemplates = []Template{
	{ID: "managed", Kind: "cdn", Version: "2", Begin: "# BEGIN Managed content", End: "# END Managed Content",
		Has: "User-agent: NewBot"},
	{ID: "managed", Kind: "cdn", Begin: "# BEGIN Managed content", End: "# END Managed Content"},
	{ID: "outer", Kind: "plugin", Begin: "# BEGIN Outer", End: "# END Outer"},
	{ID: "shop", Kind: "cms", Line: "# we use Shop"},
	{ID: "shop", Kind: "cms", Version: "1", Line: "# old Shop"},
	{ID: "law", Kind: "legal", Comment: "ARTICLE 4 OF"},
	{ID: "ghost", Kind: "cms", Agent: "*", Disallows: []string{"/ghost/", "/p/"}},
	{ID: "block", Kind: "list", Digest: digestOf("user-agent: a\nuser-agent: b\ndisallow: /x\nallow: /y\n")},
}

func profile(t testing.TB, name string) *robots.Profile {
	p, ok := robots.ProfileNamed(name)
	if !ok {
		t.Fatalf("no profile %s", name)
	}
	return p
}

func digestOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:32] }

// SPECIFICATION.md, section 11, clause by clause.
func TestTemplates(t *testing.T) {
	for _, c := range []struct{ clause, body, matches, groups string }{
		{"a region includes its markers and claims its groups", "# BEGIN Managed content\nUser-agent: A\nDisallow: /\n" +
			"# END Managed Content\nUser-agent: *\nDisallow: /x\n", "managed 1-4 1/1", "managed -"},
		{"has tells versions apart", "# BEGIN Managed content\nUser-agent: NewBot\nDisallow: /\n# END Managed Content\n",
			"managed@2 1-4 1/1", "managed"},
		{"what has names outside the region does not", "User-agent: NewBot\nAllow: /\n# BEGIN Managed content\n" +
			"User-agent: A\nDisallow: /\n# END Managed Content\n", "managed 3-6 1/1", "- managed"},
		{"a begin without its end is no region", "# BEGIN Managed content\nUser-agent: A\nDisallow: /\n", "", "-"},
		{"an end without its begin neither", "User-agent: A\nDisallow: /\n# END Managed Content\n", "", "-"},
		{"an end ends one region", "# BEGIN Managed content\n# END Managed Content\nUser-agent: A\nDisallow: /\n" +
			"# END Managed Content\n", "managed 1-2 0/0", "-"},
		{"lines end with CR too", "User-agent: *\r# we use Shop\rDisallow: /\r", "shop 1-3 1/1", "-"},
		{"of two begins the later one counts", "# BEGIN Managed content\nUser-agent: A\nDisallow: /\n" +
			"# BEGIN Managed content\n# END Managed Content\n", "managed 4-5 0/0", "-"},
		{"lines compare with regard to case", "# begin managed content\n# END Managed Content\n", "", ""},
		{"lines compare as prefixes, without white space around",
			"\t # BEGIN Managed content (1)\r\n  # END Managed Content!\r\n", "managed 1-2 0/0", ""},
		{"a group that continues behind the end is the file's",
			"# BEGIN Managed content\nUser-agent: A\n# END Managed Content\nDisallow: /\n", "managed 1-3 1/0", "-"},
		{"each region claims the groups in it", "User-agent: A\nAllow: /\n# BEGIN Managed content\nUser-agent: B\n" +
			"Allow: /\nUser-agent: C\nAllow: /\n# END Managed Content\nUser-agent: D\nAllow: /\n# BEGIN Managed content\n" +
			"# END Managed Content\n# BEGIN Managed content\nUser-agent: E\nAllow: /\n# END Managed Content\nUser-agent: F\n",
			"managed 3-8 2/2, managed 11-12 0/0, managed 13-16 1/1", "- managed managed - managed -"},
		{"a region within another", "# BEGIN Outer\nUser-agent: A\nAllow: /\n# BEGIN Managed content\nUser-agent: B\n" +
			"Allow: /\n# END Managed Content\nUser-agent: C\nAllow: /\n# END Outer\n", "outer 1-10 3/3, managed 4-7 1/1",
			"outer managed outer"},
		{"a line names the file and claims no group", "User-agent: *\n# we use Shop as ever\nDisallow: /cart\n",
			"shop 1-3 1/1", "-"},
		{"a line behind a byte order mark", "\ufeff# we use Shop\nUser-agent: *\nDisallow: /cart", "shop 1-3 1/1", "-"},
		{"a line that stands twice names it once", "# we use Shop\n# we use Shop\n", "shop 1-2 0/0", ""},
		{"a comment contains the text", "# UNDER ARTICLE 4 OF X\nUser-agent: *\nDisallow: /\n", "law 1-3 1/1", "-"},
		{"in a box", "#  | ARTICLE 4 OF X |\n", "law 1-1 0/0", ""},
		{"behind a rule", "User-agent: *\nDisallow: / # see ARTICLE 4 OF X\n", "law 1-2 1/1", "-"},
		{"not outside a comment", "User-agent: *\nDisallow: /ARTICLE 4 OF\nARTICLE 4 OF # X\n", "", "-"},
		{"not outside a comment, beside another mark", "# we use Shop\nUser-agent: *\nDisallow: /ARTICLE 4 OF\n",
			"shop 1-3 1/1", "-"},
		{"not in another case", "# Article 4 of\n", "", ""},
		{"not over two lines", "# ARTICLE 4\n# OF\n", "", ""},
		{"of several templates with one id the first of the list counts, wherever its line stands",
			"# old Shop\n# we use Shop\n", "shop 1-2 0/0", ""},
		{"rules of one group", "User-agent: *\nDisallow: /p/\nDisallow: /ghost/\nDisallow: /own\n", "ghost 1-4 1/3", "ghost"},
		{"not rules of two groups", "User-agent: *\nDisallow: /p/\nUser-agent: A\nDisallow: /ghost/\n", "", "- -"},
		{"nor of another agent, nor allow rules", "User-agent: A\nDisallow: /p/\nDisallow: /ghost/\nUser-agent: *\n" +
			"Allow: /p/\nDisallow: /ghost/\n", "", "- -"},
		{"a digest has sorted tokens in lower case and rules in order", "User-agent: B\nUser-agent: A\nCrawl-delay: 1\n" +
			"Disallow: /x # why\nAllow: /y\nSitemap: https://x/\n", "block 1-5 1/2", "block"},
		{"another order of rules is another group", "User-agent: A\nUser-agent: B\nAllow: /y\nDisallow: /x\n", "", "-"},
	} {
		f := new(robots.File)
		f.Parse([]byte(c.body), profile(t, "google"))
		matches, groups := New(someTemplates).Find(f)
		var got, of []string
		for _, m := range matches {
			id := m.ID
			if m.Version != "" {
				id += "@" + m.Version
			}
			got = append(got, fmt.Sprintf("%s %d-%d %d/%d", id, m.First, m.Last, m.Groups, m.Rules))
		}
		for _, k := range groups {
			if k < 0 {
				of = append(of, "-")
			} else {
				of = append(of, matches[k].ID)
			}
		}
		if text := strings.Join(got, ", "); text != c.matches || strings.Join(of, " ") != c.groups {
			t.Errorf("%s: got %s; %s\nwant %s; %s", c.clause, text, strings.Join(of, " "), c.matches, c.groups)
		}
	}
}

func TestTemplateValidate(t *testing.T) {
	for _, x := range []Template{
		{}, {ID: "x", Kind: "cms"}, {ID: "x", Kind: "cms", Begin: "a"}, {ID: "x", Kind: "cms", Line: "a", End: "b"},
		{ID: "x", Kind: "cms", Line: "a", Digest: "b"},
		{ID: "x", Kind: "cms", Agent: "*"}, {ID: "x", Kind: "cms", Disallows: []string{"/"}},
		{ID: "x", Kind: "cms", Digest: "a", Has: "b"}, {Kind: "cms", Line: "a"},
		{ID: "x", Kind: "new", Line: "a"},
	} {
		if x.Validate() == nil {
			t.Errorf("%+v is valid", x)
		}
	}
	for _, x := range someTemplates {
		if err := x.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// A hostile file has a bounded number of matches, and its groups stay the file's own.
func TestTemplatesAreBounded(t *testing.T) {
	f := new(robots.File)
	f.Parse([]byte(strings.Repeat("# BEGIN Managed content\n# END Managed Content\n# we use Shop\n", 8000)),
		profile(t, "google"))
	if matches, _ := New(someTemplates).Find(f); len(matches) == 0 || len(matches) > 2*maxMatches {
		t.Errorf("%d matches", len(matches))
	}
}

func FuzzTemplates(f *testing.F) {
	f.Add([]byte("# BEGIN Managed content\nUser-agent: A\nDisallow: /\n# END Managed Content\n# we use Shop\n" +
		"User-agent: *\nDisallow: /ghost/\nDisallow: /p/"))
	templates := New(someTemplates)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, name := range []string{"google", "classic-1996", "heritrix"} {
			file := new(robots.File)
			file.Parse(body, profile(t, name))
			matches, groups := templates.Find(file)
			if len(groups) != len(file.Groups) {
				t.Fatalf("%d groups of %d", len(groups), len(file.Groups))
			}
			for i, m := range matches {
				if m.First < 1 || m.Last < m.First || int(m.Last) > max(file.Lines, 1) || i > 0 && m.First < matches[i-1].First {
					t.Fatalf("match %d: %+v of %d lines", i, m, file.Lines)
				}
			}
			for _, k := range groups {
				if k >= int32(len(matches)) || k >= 0 && !matches[k].Claims {
					t.Fatalf("a group has match %d", k)
				}
			}
		}
	})
}

// BenchmarkTemplates compares finding templates with parsing, on a file of a real size and
// on a hostile one.
func BenchmarkTemplates(b *testing.B) {
	templates := New(someTemplates)
	for name, body := range map[string]string{
		"plain":   strings.Repeat("# a comment\nUser-agent: A\nDisallow: /a\nDisallow: /b\n\n", 40),
		"hostile": strings.Repeat("# BEGIN Managed content\n", 20000),
		"many regions and groups": strings.Repeat("# BEGIN Managed content\n# END Managed Content\n", 1000) +
			strings.Repeat("User-agent:a\nallow:\n", 20000),
	} {
		f, google := new(robots.File), profile(b, "google")
		b.Run(name+"/parse", func(b *testing.B) {
			for b.Loop() {
				f.Parse([]byte(body), google)
			}
		})
		b.Run(name+"/parse and find", func(b *testing.B) {
			for b.Loop() {
				f.Parse([]byte(body), google)
				templates.Find(f)
			}
		})
	}
}
