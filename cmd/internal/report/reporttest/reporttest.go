// Package reporttest has what tests of pages need: hostile text, and a check of what can
// be downloaded.
package reporttest

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/schema"
)

// Hostile holds attacks in text from the network: markup, attributes, style
// sheets, terminal escapes, invisible and bidirectional characters.
var Hostile = []string{
	`<script>document.documentElement.setAttribute("data-ran", "1")</script>`,
	`"><img src=x onerror='document.documentElement.setAttribute("data-ran", "1")'>`,
	`' autofocus onfocus=document.documentElement.setAttribute("data-ran","1") x='`,
	`</title></svg></style><svg onload=document.documentElement.setAttribute("data-ran","1")>`,
	`<a href="javascript:document.documentElement.setAttribute('data-ran','1')">x</a>`,
	`{{.}}<style>*{background:url(//127.0.0.1:9/x)}</style><!--`,
	"\x1b]0;title\x07\x1b[31mred", "safe\u202etxt.exe", "a\u200bb\u2066c\ufeff", "line\r\nbreak\u2028",
}

// Series is a series of three runs: the second and the third are comparable,
// and the registry, the list and the signals have hostile text.
func Series() *series.Result {
	r := &series.Result{Profiles: []string{"google"}, Warnings: []string{"a warning " + Hostile[0]}}
	for i, run := range []string{"one", "two", "three"} {
		at := series.Run{Run: run, Date: time.Date(2024+i, 1, 1, 0, 0, 0, 0, time.UTC), Hosts: 2000, Files: new(int64(1500))}
		if i == 1 {
			at.Breaks = []string{"another list of hosts: " + Hostile[1]}
		}
		r.Runs = append(r.Runs, at)
	}
	r.Strips = &series.Strips{Of: Hostile[0], Runs: []string{"one", "two", "three"}}
	for k, text := range Hostile {
		r.Strips.Sites = append(r.Strips.Sites, series.Strip{Site: text, Access: []string{"open", "", "shut out"}})
		r.Marks = append(r.Marks, series.Mark{Run: "two", Kind: "agent_changed", Of: text, Text: "the entry of " + text +
			" changed"})
		for i, run := range r.Runs {
			share, low, high := 0.1*float64(i+1), 0.05*float64(i+1), 0.2*float64(i+1)
			p := schema.Point{
				Metric: "policy", Population: "all", Stratum: "all", Agent: &text, Category: &text, Profile: new("google"),
				Key: new("disallow_all"), Run: run.Run, Date: run.Date,
				Base: "hosts", Count: int64(200*(i+1) - k), Denominator: 2000, Share: &share, Low: &low, High: &high,
				Method: new("wilson"), Caution: new("rare"),
			}
			if i > 0 {
				p.Comparable = new(i == 2)
			}
			if i == 1 {
				p.WhyNot = new("another list of hosts: " + Hostile[1])
			}
			signal := p
			signal.Metric, signal.Agent, signal.Category, signal.Profile, signal.Key = "signal", nil, nil, nil, &text
			r.Points = append(r.Points, p, signal)
		}
	}
	return r
}

// CheckCopy checks a download for what a browser or a spreadsheet would execute:
// the SVG must be inert, and the CSV must have no formula.
func CheckCopy(t testing.TB, link string) {
	t.Helper()
	kind, content := Copied(t, link)
	for _, r := range string(content) {
		if unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) && r != '\n' {
			t.Fatalf("%U stands in a copy", r)
		}
	}
	if kind == "text/csv;charset=utf-8" {
		rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			for _, cell := range row {
				if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
					t.Errorf("a cell begins a formula: %q", cell)
				}
			}
		}
		return
	}
	if kind != "image/svg+xml" {
		t.Fatalf("a copy is %s", kind)
	}
	decoder := xml.NewDecoder(bytes.NewReader(content))
	titles := 0
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if !slices.Contains(strings.Fields("svg title desc rect text g line path"), token.Name.Local) {
				t.Errorf("a drawing has an element %s", token.Name.Local)
			}
			for _, a := range token.Attr {
				if !slices.Contains(strings.Fields(
					"xmlns width height viewBox preserveAspectRatio overflow d fill-opacity stroke-width stroke-linecap "+
						"stroke-dasharray vector-effect role aria-labelledby font-family font-size font-weight text-anchor id x y x1 "+
						"x2 y1 y2 fill stroke transform"), a.Name.Local) {
					t.Errorf("%s has an attribute %s", token.Name.Local, a.Name.Local)
				}
				if a.Name.Local == "id" {
					titles++
				}
				if a.Name.Local == "fill" && a.Value == "" {
					t.Error("a shape has no colour")
				}
			}
		case xml.ProcInst, xml.Directive, xml.Comment:
			t.Errorf("a drawing has %v", token)
		}
	}
	if titles != 2 {
		t.Errorf("a drawing has %d of a title and a description", titles)
	}
}

// Copied returns the contents of a data: URL.
func Copied(t testing.TB, link string) (kind string, content []byte) {
	t.Helper()
	head, text, ok := strings.Cut(strings.TrimPrefix(link, "data:"), ";base64,")
	content, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil {
		t.Fatalf("a link carries %.40q: %v", link, err)
	}
	return head, content
}
