package series

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/robocensus/robocensus/cmd/internal/report/reporttest"
)

// Text of registries, lists and files is text on the page, in attributes, and in the
// drawings.
func TestHostileTextOfASeries(t *testing.T) {
	page, err := Page(reporttest.Series())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	images := 0
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "img", "iframe", "object":
			t.Errorf("the page has <%s>", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.TrimSpace(a.Val), "javascript:") {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
			if strings.HasPrefix(a.Val, "data:image/svg") {
				images++
				reporttest.CheckCopy(t, a.Val)
			}
		}
	}
	if images < 2 {
		t.Errorf("%d drawings can be taken", images)
	}
	for _, raw := range []string{"\u202e", "\x1b", "\ufeff", "\u2066"} {
		if bytes.Contains(page, []byte(raw)) {
			t.Errorf("the page has %q", raw)
		}
	}
	if !bytes.Contains(page, []byte("&lt;script&gt;document")) {
		t.Error("the hostile text is not in the page")
	}
}

// Points are joined only where they can be compared, and the page says why not.
func TestGapsOfASeries(t *testing.T) {
	d := newSeriesData(reporttest.Series())
	f := d.ofAgents()
	for _, m := range f.Multiples {
		c, lines := m.Plots[0].Curves[0], m.Plots[0].Lines
		if len(c.Dots) != 3 || len(c.Paths) != 1 || strings.Count(c.Paths[0], "L") != 1 || len(c.Bands) != 1 ||
			!c.Dots[0].Hollow {
			t.Fatalf("%q: %+v", m.Name, c)
		}
		if !strings.HasPrefix(c.Paths[0], "M"+c.Dots[1].X+" ") {
			t.Errorf("the line %s does not begin at the second point, %s", c.Paths[0], c.Dots[1].X)
		}
		if len(lines) != 1 || lines[0].X != c.Dots[1].X || !strings.Contains(m.Why[0], "changed") {
			t.Errorf("%q is marked by %+v, %q", m.Name, lines, m.Why)
		}
	}
	// The scale leaves room for the greatest share, 30 %.
	if top := f.Multiples[0].Plots[0].Top; top != "50%" || f.Multiples[0].Plots[0].Curves[0].Dots[2].Y != "120.00" {
		t.Errorf("the top is %s, the last point at %s", top, f.Multiples[0].Plots[0].Curves[0].Dots[2].Y)
	}
	page, err := Page(reporttest.Series())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not comparable throughout",
		"No figure of run two can be compared with the run before it"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// A series of one run has points and no lines.
func TestASeriesOfOneRun(t *testing.T) {
	r := reporttest.Series()
	r.Runs, r.Points, r.Marks = r.Runs[:1], r.Points[:2], nil
	page, err := Page(r)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte("Crawl policies in one run, 1 January 2024")) {
		t.Errorf("the title is another")
	}
}

// The rows of an archive are captures, and the page does not call them hosts.
func TestASeriesOfArchives(t *testing.T) {
	r := reporttest.Series()
	for i := range r.Runs {
		r.Runs[i].Source = "warc"
	}
	d := newSeriesData(r)
	if said := fmt.Sprint(d.tiles()); !strings.Contains(said, "captures of the last run") {
		t.Errorf("tiles are %s", said)
	}
	if p := d.page(); !strings.HasSuffix(p.Sources[0].Value, "captures") {
		t.Errorf("sources are %v", p.Sources)
	}
}
