package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The definitions of two studies, reimplemented from their code, give every agent
// and file the class that the view gives: for the corpus
func TestDefinitionsAreTheStudies(t *testing.T) {
	t.Parallel()
	c, _ := corpusDatabase(t)
	definitions(t, c)
}

// and for random files, in which clauses meet that real files seldom combine.
func TestDefinitionsOfRandomFiles(t *testing.T) {
	t.Parallel()
	files := 1500
	if testing.Short() {
		files = 300
	}
	random := rand.New(rand.NewPCG(1, 2))
	c := map[string][]byte{}
	dir := filepath.Join(scratch, "random-files")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	var hosts bytes.Buffer
	for i := range files {
		host := fmt.Sprintf("host-%d.test", i)
		c[host] = randomFile(random)
		if err := os.WriteFile(filepath.Join(dir, host), c[host], 0o666); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&hosts, host)
	}
	run, err := survey("random", dir, c, hosts.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	definitions(t, run)
}

// randomFile returns a file with everything that the definitions look at, without
// four things that the tables do not show: lines that end with CR alone, a NUL in a
// line, white space beyond ASCII, and a web page that begins with a comment.
func randomFile(random *rand.Rand) []byte {
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	var b bytes.Buffer
	if random.IntN(12) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	for range random.IntN(14) {
		switch random.IntN(20) {
		case 0, 1, 2, 3, 4, 5:
			b.WriteString(pick("User-agent", "user-agent", "USER-AGENT", "User-agent ", "Useragent", "User-agents"))
			b.WriteString(pick(":", ": ", ":\t", " "))
			b.WriteString(pick("*", "*", "GPTBot", "gptbot", "CCBot", "CCBot/2.0", "Googlebot", "Googlebot # a comment", "",
				"other"))
		case 6, 7, 8, 9, 10, 11:
			b.WriteString(pick("Disallow", "Disallow", "Disallow", "disallow", "  Disallow", "Disallow\t", "Disalow"))
			b.WriteString(pick(":", ": ", ": ", " "))
			b.WriteString(pick("/", "/", "", "", "/a", "/a?b", "/?", "*", "/ # all", "/ /"))
		case 12, 13, 14:
			b.WriteString(pick("Allow", "Allow", "allow", "Allow "))
			b.WriteString(pick(":", ": "))
			b.WriteString(pick("/", "", "*", "/*", "/a", "/a", "/a?b"))
		case 15:
			b.WriteString(pick("Crawl-delay: 5", "crawl-delay:soon", "Crawl-delay : 5", "Crawl-delay 5"))
		case 16:
			b.WriteString(pick("Sitemap: https://host.test/s.xml", "sitemap:", "Site-map: /s.xml", "Sitemap : /s.xml"))
		case 17:
			b.WriteString(pick("# comment", "Host: host.test", "Noindex: /", "what is this", ": /"))
		}
		b.WriteString(pick("\n", "\n", "\n", "\r\n"))
	}
	return b.Bytes()
}

func definitions(t *testing.T, c *census) {
	t.Helper()
	_, rows, err := ask(c.database(t), `SELECT CASE port WHEN 80 THEN c.host ELSE c.host || ':' || port END, agent,
		class_cc_published, class_cc_mended, class_longpre_published, class_longpre_mended
		FROM classifications c JOIN fetches USING (run, seq)`)
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[string]string{}, map[string]string{}
	asked := map[string][]string{}
	for _, r := range rows {
		key := r[0] + " " + r[1]
		if got[key] != "" {
			t.Fatalf("%s has two rows", key)
		}
		got[key] = r[2] + " " + r[3] + " " + r[4] + " " + r[5]
		asked[r[0]] = append(asked[r[0]], r[1])
	}
	files := 0
	for host, agents := range asked {
		body, ok := c.files[host]
		if !ok {
			for _, agent := range agents {
				want[host+" "+agent] = "NULL NULL no_robots no_robots"
			}
			continue
		}
		files++
		cc, ccMended := ccSets(body, false), ccSets(body, true)
		longpre, longpreMended := longpreSets(body, false), longpreSets(body, true)
		for _, agent := range agents {
			want[host+" "+agent] = ccOf(cc, agent) + " " + ccOf(ccMended, agent) + " " + longpreOf(longpre, agent) + " " +
				longpreOf(longpreMended, agent)
		}
	}
	if files != len(c.files) {
		t.Errorf("%d of %d files were asked for", files, len(c.files))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows differ (-studies +view):\n%s", diff)
	}
}
