package show

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/schema"
)

// What an identity met on a page says the status, and of a refusal by 404 or 410 that there is no
// page.
func TestPagesAreTold(t *testing.T) {
	for want, a := range map[string]schema.Answer{
		"/ as bot: refused, status 404: there is no page for it; robots.txt: open": {Treatment: "refused",
			Status: new(int32(404))},
		"/ as bot: refused, status 410: there is no page for it; robots.txt: open": {Treatment: "refused",
			Status: new(int32(410))},
		"/ as bot: refused, status 403; robots.txt: open": {Treatment: "refused",
			Status: new(int32(403))},
		"/ as bot: refused, 402 without a price; robots.txt: open": {Treatment: "refused",
			Status: new(int32(402)), Remark: new("no_price")},
		"/ as bot: asked to pay, USD 1; robots.txt: open": {Treatment: "payment",
			Status: new(int32(402)), Price: new("USD 1")},
		"/ as bot: refused, status 403, price USD 1; robots.txt: open": {Treatment: "refused",
			Status: new(int32(403)), Price: new("USD 1")},
		"/ as bot: served; robots.txt: open": {Treatment: "served",
			Status: new(int32(200))},
	} {
		a.Path, a.Identity, a.Paper = "/", "bot", new("open")
		if got := pageWords(&a); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// The remarks about a document are apart. What was asked for counts once, whatever documents it is, and a redirect too
// that is not followed; what was not does not count.
func TestRemarksOfDocuments(t *testing.T) {
	v := &hostView{target: &lookup.Target{}, Documents: shown[schema.Document]{rows: []schema.Document{
		{Document: "rsl", URL: "/a", Outcome: "absent", Remark: new("elsewhere,disallowed")}, {Document: "license.xml",
			URL: "/a", Outcome: "absent"},
		{Document: "tdmrep", URL: "/b", Outcome: "absent", Remark: new("no_control")}, {Document: "rsl", URL: "/c",
			Outcome: "not_asked", Status: new(int32(302))},
		{Document: "page", URL: "/", Outcome: "not_asked", Remark: new("disallowed")}, {Document: "ai.txt", URL: "/d",
			Outcome: "uncaptured"}}}}
	var out strings.Builder
	v.printDocuments(&cli.Text{Out: &out})
	if text := out.String(); !strings.Contains(text, "documents of consent: 3 asked for\n    not there: rsl (elsewhere, "+
		"disallowed), license.xml, tdmrep (no control)\n") {
		t.Errorf("it says\n%s", text)
	}
}

// A sitemap that nobody was asked for is not said to be missing.
func TestSparedSitemaps(t *testing.T) {
	want := "https://b.example/s: not asked for, as its host is busy or wants to be left alone, named in line 3"
	f := schema.SitemapFile{URL: "https://b.example/s", Kind: "none", Outcome: "spared", Line: new(int32(3))}
	if got := fault(&f); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
