package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// A way is shown on its best-ranked host, and of equal ranks on the first in order.
func TestWaysNameTheBestRankedHost(t *testing.T) {
	for _, c := range []struct {
		ranks string // of hosts in order, - for none
		want  string
	}{
		{"- - -", "a.example"},
		{"- 7 -", "b.example"},
		{"7 - -", "a.example"},
		{"- - 7", "c.example"},
		{"9 8 7", "c.example"},
		{"7 8 9", "a.example"},
		{"8 7 9", "b.example"},
		{"7 7 7", "a.example"},
		{"8 7 7", "b.example"},
	} {
		var w Ways
		for i, rank := range strings.Fields(c.ranks) {
			host := string(rune('a'+i)) + ".example"
			row := schema.Change{
				Host: host, Origin: "https://" + host, Kind: "verdict", Severity: change.Major, Agent: new("GPTBot"),
				URL:    new("https://" + host + "/x"),
				Before: new("allow"), After: new("disallow"), LineBefore: new(int32(host[0]) + 1), LineAfter: new(int32(host[0])),
			}
			var n int64
			if _, err := fmt.Sscan(rank, &n); err == nil {
				row.Rank = &n
			}
			w.Add(&row)
			w.Add(&schema.Change{Host: host, Origin: row.Origin, Rank: row.Rank, Kind: "redirect", Severity: change.Major,
				Before: new("https://x/"), After: &host})
			w.EndOfHost()
		}
		got := w.Commonest()
		if len(got) != 1 || got[0].Host != c.want || got[0].Origin != "https://"+c.want || *got[0].URL != "https://"+c.want+
			"/x" || *got[0].LineAfter != int32(c.want[0]) || *got[0].LineBefore != int32(c.want[0])+1 ||
			got[0].Kind != "verdict" || got[0].Hosts != 3 {
			t.Errorf("%s: %+v, want %s", c.ranks, got, c.want)
		}
	}
}

// A change of the host's own, such as a redirect, is in no way, even if the host
// shares other changes.
func TestExamplesOfTheHostItself(t *testing.T) {
	r := newResult(Config{}, nil, nil)
	for _, host := range []string{"a.example", "b.example"} {
		for _, row := range []schema.Change{
			{Kind: "group", Severity: change.Minor, Agent: new("x"), After: new("empty")},
			{Kind: "redirect", Severity: change.Major, Before: new("https://a/"), After: new("https://b/")},
		} {
			row.Host, row.Origin = host, "https://"+host
			r.add(&row)
		}
		r.endOfPair()
	}
	r.finish()
	var got []string
	for _, e := range append(r.Examples, r.Together...) {
		got = append(got, fmt.Sprint(e.Host, " ", e.Kind, " ", e.Hosts))
	}
	if diff := cmp.Diff([]string{"a.example redirect 1", "b.example redirect 1", "a.example group 2"}, got); diff != "" {
		t.Error(diff)
	}
}

// Of hosts that changed as severely, those stand first that reverse what they say about the training
// of models, and so does that change among those of a host.
func TestExamplesOfReversals(t *testing.T) {
	r := newResult(Config{}, nil, nil)
	for i, row := range []schema.Change{
		{Kind: "policy_class", Before: new("disallow_all"), After: new("allow_all")},
		{Kind: "preference", Use: new("ai-train"), After: new("disallow")},
		{Kind: "preference", Use: new("search"), Before: new("allow"), After: new("disallow")},
		{Kind: "preference", Use: new("ai-train"), Before: new("disallow"), After: new("priced")},
		{Kind: "preference", Use: new("ai-train"), Before: new("partial"), After: new("disallow")},
		{Kind: "preference", Use: new("ai-train"), Before: new("allow"), After: new("disallow")},
		{Kind: "preference", Use: new("ai-train"), Document: new("tdmrep"), Before: new("priced"), After: new("allow")},
		{Kind: "rules", Severity: change.Critical, After: new("closes")},
	} {
		if row.Severity == "" {
			row.Severity = change.Major
		}
		row.Host, row.Rank = fmt.Sprint(i, ".example"), new(int64(i+1))
		r.add(&schema.Change{Host: row.Host, Origin: "https://" + row.Host, Rank: row.Rank, Kind: "policy_class",
			Severity: change.Major, Agent: new(fmt.Sprint(i)), Before: new("partial"), After: new("allow_all")})
		row.Origin, row.Agent = "https://"+row.Host, new(fmt.Sprint(i))
		r.add(&row)
		r.endOfPair()
	}
	r.finish()
	var got []string
	for _, e := range r.Examples {
		got = append(got, e.Host[:1]+" "+e.Kind)
	}
	if want := "7 rules, 5 preference, 6 preference, 0 policy_class, 1 policy_class, 2 policy_class, 3 policy_class, " +
		"4 policy_class"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %s", got, want)
	}
}

// Hosts whose template changed in the same way form one way. Their names and their
// sitemaps may differ, and the lines on which their rules stand.
func TestHostsThatChangeInTheSameWay(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	texts := make(map[string][2]string)
	for i := range 9 {
		host := fmt.Sprintf("shop%d.example", i)
		before := strings.Repeat("# of this shop\n", i) + "User-agent: *\nDisallow: /cart/\nHost: " + host + "\n"
		after := strings.Replace(before, "/cart/", "/cart/\nDisallow: /news/", 1)
		switch {
		case i == 7:
			after = strings.Replace(after, "/news/", "/blog/", 1)
		case i == 8:
			after = "# today\n" + before
		default:
			after = strings.Replace(after, "Host: ", "Host: www.", 1) + "Sitemap: https://" + host + fmt.Sprintf("/%d.xml\n", i)
		}
		texts[host] = [2]string{before, after}
	}
	for i := range 3 {
		texts[fmt.Sprintf("forum%d.example", i)] = [2]string{"User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /\n"}
	}
	dir := twoFolders(t, texts, tablesOfRules, google)
	r, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b"})
	sinktest.Must(t, err)
	show := func(list []Example) (out []string) {
		for _, e := range list {
			out = append(out, fmt.Sprintf("%s %s %s %s %d", e.Severity, e.Host, e.Kind, schema.OrZero(e.URL), e.Hosts))
		}
		return out
	}
	if diff := cmp.Diff([]string{"major shop0.example rules /news/ 7", "critical forum0.example policy_class  3"},
		show(r.Together)); diff != "" {
		t.Errorf("together (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"critical forum0.example policy_class  3", "major shop0.example rules /news/ 7",
		"major shop7.example rules /blog/ 1", "cosmetic shop8.example text  1",
	}, show(r.Examples)); diff != "" {
		t.Errorf("examples (-want +got):\n%s", diff)
	}
}
