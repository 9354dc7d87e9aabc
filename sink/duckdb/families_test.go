package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A group that stands on several registered domains is a family, whether or not a template
// is known: with its domains and hosts, the best-ranked host that has it, and the first run
// with it. Order, case and names of a group do not matter as far as its digest goes.
func TestFamilies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	const (
		block  = "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\nAllow: /about\n"
		same   = "# differs in nothing that counts\nuser-agent: ccbot\nUSER-AGENT: gptbot\n\ndisallow: /\nallow: /about\n"
		later  = "User-agent: *\nDisallow: /new/\n"
		shared = "# BEGIN Cloudflare Managed content\nUser-agent: Bytespider\nDisallow: /\n# END Cloudflare Managed Content\n"
	)
	write(t, filepath.Join(dir, "ranks.csv"), "7,b.two.com\n3,c.three.org\n9,a.one.com\n")
	for run, files := range map[string]map[string]string{
		"a": {"a.one.com": block, "b.one.com": block, "b.two.com": "User-agent: *\nDisallow: /own/\n",
			"d.four.net": "User-agent: *\nDisallow:\n"},
		"b": {
			"a.one.com": block + later, "b.one.com": block, "b.two.com": same,
			"c.three.org": "User-agent: x\nDisallow: /x\n\n" + later, "d.four.net": later,
			"e.one.com": "User-agent: *\nDisallow: /single\n", "f.one.com": "User-agent: *\nDisallow: /single\n",
			"g.five.net": shared, "h.six.net": shared,
			"i.six.net": "User-agent: *\n", "j.seven.net": "User-agent: *\n",
		},
	} {
		bodies := filepath.Join(dir, run)
		must(t, os.Mkdir(bodies, 0o777))
		for host, text := range files {
			write(t, filepath.Join(bodies, host), text)
		}
		robocensus(t, 0, "run", "--bodies", bodies, "--ranks", filepath.Join(dir, "ranks.csv"), "--out", out, "--run", run,
			"--as-of", fmt.Sprintf("2026-0%d-01", map[string]int{"a": 1, "b": 2}[run]), "--progress", "none")
	}
	_, rows, err := ask(quick(t, out), "SELECT template, domains, hosts, example, line, agents, rules, "+
		"first_seen::DATE::VARCHAR FROM families ORDER BY domains DESC, hosts DESC, example")
	must(t, err)
	want := [][]string{
		{"NULL", "3", "3", "c.three.org", "4", "1", "1", "2026-02-01"},
		{"NULL", "2", "3", "b.two.com", "2", "2", "2", "2026-01-01"},
		{"cloudflare-managed", "2", "2", "g.five.net", "2", "1", "1", "2026-02-01"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("families (-want +got):\n%s", diff)
	}
}

// A family has the template in whose words more than half of its hosts have it: not one that
// fewer, or as many, have, and none that is only the commonest of several. Hosts count, not
// domains, and a group of one domain is no family.
func TestFamilyIsInTheWordsOfMost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bodies := filepath.Join(dir, "bodies")
	must(t, os.Mkdir(bodies, 0o777))
	within := map[string]string{"own": "%s",
		"cdn": "# BEGIN Cloudflare Managed content\n%s# END Cloudflare Managed Content\n",
		"seo": "# START YOAST BLOCK\n%s# END YOAST BLOCK\n"}
	cases := []struct {
		name    string
		holders []string // in whose words, and from the second host of a domain on the domain
		want    string   // "" for no family
	}{
		{"all-own", []string{"own", "own"}, "NULL"},
		{"one-of-three", []string{"own", "cdn", "own"}, "NULL"},
		{"half", []string{"cdn", "own"}, "NULL"},
		{"half-of-four", []string{"cdn", "seo", "own", "cdn"}, "NULL"},
		{"commonest", []string{"cdn", "cdn", "seo", "own", "own"}, "NULL"},
		{"tied", []string{"cdn", "seo"}, "NULL"},
		{"two-of-three", []string{"cdn", "own", "cdn"}, "cloudflare-managed"},
		{"three-of-five", []string{"seo", "own", "seo", "cdn", "seo"}, "yoast"},
		{"all", []string{"seo", "seo"}, "yoast"},
		{"by-hosts", []string{"cdn", "cdn 0", "cdn 0", "own", "own"}, "cloudflare-managed"},
		{"by-hosts-own", []string{"own", "own 0", "cdn", "own 0", "cdn"}, "NULL"},
		{"one-host", []string{"cdn"}, ""},
		{"one-domain", []string{"cdn", "own 0", "cdn 0"}, ""},
	}
	var want [][]string
	for _, c := range cases {
		for i, holder := range c.holders {
			words, domain, _ := strings.Cut(holder, " ")
			if domain == "" {
				domain = strconv.Itoa(i)
			}
			host := fmt.Sprintf("h%d.%s-%s.com", i, c.name, domain)
			write(t, filepath.Join(bodies, host), fmt.Sprintf(within[words], fmt.Sprintf("User-agent: Bot\nDisallow: /%s/\n",
				c.name)))
		}
		if c.want != "" {
			want = append(want, []string{"h0." + c.name + "-0.com", strconv.Itoa(len(c.holders)), c.want})
		}
	}
	slices.SortFunc(want, slices.Compare)
	out := filepath.Join(dir, "out")
	robocensus(t, 0, "run", "--bodies", bodies, "--out", out, "--run", "r", "--progress", "none")
	_, rows, err := ask(quick(t, out), "SELECT example, hosts, template FROM families ORDER BY example")
	must(t, err)
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("families (-want +got):\n%s", diff)
	}
}
