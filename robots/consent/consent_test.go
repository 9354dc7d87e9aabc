package consent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots/usage"
)

// labels is a vocabulary as configs/uses.yaml has it, as far as pages need it.
var labels = usage.Vocabulary{
	{Mechanism: usage.ContentUsage, Name: "train-ai"}: usage.AITrain, {Mechanism: usage.ContentUsage,
		Name: "search"}: usage.Search,
	{Mechanism: usage.ContentSignal, Name: "ai-train"}: usage.AITrain, {Mechanism: usage.ContentSignal,
		Name: "ai-input"}: usage.AIInput, {Mechanism: usage.ContentSignal, Name: "search"}: usage.Search,
	{Mechanism: usage.PageHeader, Name: "noai"}: usage.AITrain, {Mechanism: usage.PageHeader,
		Name: "noimageai"}: usage.AITrain, {Mechanism: usage.PageHeader, Name: "tdm-reservation"}: usage.AITrain,
	{Mechanism: usage.PageHeader, Name: "nofollow"}: usage.NoUse, {Mechanism: usage.PageHeader,
		Name: "noindex"}: usage.NoUse, {Mechanism: usage.PageHeader, Name: "nosnippet"}: usage.NoUse,
	{Mechanism: usage.PageHeader, Name: "noarchive"}: usage.NoUse, {Mechanism: usage.PageHeader,
		Name: "nocache"}: usage.NoUse, {Mechanism: usage.PageHeader, Name: "max-snippet"}: usage.NoUse,
	{Mechanism: usage.PageHeader, Name: "unavailable_after"}: usage.NoUse,
}

// shared are documents with what each must mean.
const shared = "../../../shared/consent/examples"

// A question of the examples.
type question struct {
	File, Kind string
	Served     struct{ URL, Type string }
	FoundBy    string `json:"found_by"`
	Beside     string
	Path, Use, Agent, User,
	Geo string

	Means, Policy, Raw, Remark, Condition, Price, Amount, Form, Treatment string
	PriceHeader                                                           string `json:"price_header"`

	Why string
}

// examplesTime is when the examples were made.
var examplesTime = time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)

func (q *question) read(t *testing.T, file, kind string) *meantDocument {
	body, err := os.ReadFile(filepath.Join(shared, file))
	if err != nil {
		t.Fatal(err)
	}
	by := AtPath
	switch q.FoundBy {
	case "License: line":
		by = Named
	case "front page", "feed":
		by = Embedded
	}
	return readMeant(Kind(kind), body, Served{URL: "https://example.com" + q.Served.URL, Type: q.Served.Type,
		Time: examplesTime, By: by})
}

// Every question of the examples has its answer.
func TestExamples(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(shared, "index.jsonl"))
	if os.IsNotExist(err) {
		t.Skip("the examples are not at hand")
	} else if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(index) {
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			t.Fatal(err)
		}
		n++
		got := q.answer(t)
		for _, c := range []struct{ what, want, got string }{
			{"means", q.Means, got.Means}, {"policy", q.Policy, got.Policy}, {"raw", q.Raw, got.Raw}, {"condition", q.Condition,
				got.Condition}, {"price", q.Price, got.Price},
			{"price_header", q.PriceHeader, got.PriceHeader}, {"amount", q.Amount, got.Amount}, {"form", q.Form, got.Form},
			{"treatment", q.Treatment, got.Treatment},
		} {
			if c.want != "" && c.want != c.got {
				t.Errorf("%s %s %s %s: %s %q, want %q (%s)", q.File, q.Path, q.Use, q.Agent, c.what, c.got, c.want, q.Why)
			}
		}
		if q.Remark != "" && !slices.Contains(strings.Fields(got.Remark), q.Remark) {
			t.Errorf("%s %s %s: remarks %q lack %s (%s)", q.File, q.Path, q.Use, got.Remark, q.Remark, q.Why)
		}
	}
	if n == 0 {
		t.Error("no question")
	}
}

var preferenceWords = map[usage.Preference]string{usage.Unknown: "nothing", usage.Allows: "allow",
	usage.Refuses: "disallow", usage.Priced: "priced"}

// answer returns the question with the answer in place of the wanted one.
func (q *question) answer(t *testing.T) (got question) {
	ask := Question{Path: q.Path, Use: q.Use, Agent: q.Agent, User: q.User, Geo: q.Geo}
	take := func(a Answer) {
		got.Means, got.Policy, got.Raw, got.Condition = preferenceWords[a.Means], a.Policy, a.Raw, a.Condition
		got.Remark += " " + strings.Join(a.Remarks, " ")
	}
	if filepath.Ext(q.File) == ".http" {
		raw, err := os.ReadFile(filepath.Join(shared, q.File))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		body.ReadFrom(response.Body)
		if q.Kind == "price" {
			price, ok := PriceOf(response.StatusCode, response.Header, body.Bytes())
			if got.Means = "nothing"; ok {
				got.Means = "priced"
			}
			if got.Price, got.PriceHeader, got.Amount = price.Text, price.Header,
				price.Amount; response.StatusCode == http.StatusPaymentRequired {
				got.Treatment = "payment"
			}
			return got
		}
		page := ReadPage(labels, response.Header, body.Bytes())
		var file *meantDocument
		if q.Beside != "" {
			file = q.read(t, q.Beside, string(TDMRep))
		}
		take(page.Means(ask, file))
		return got
	}
	d := q.read(t, q.File, q.Kind)
	got.Remark, got.Form = strings.Join(d.Remarks, " "), d.Form
	switch {
	case d.Invalid != "":
		got.Means = "invalid"
	case q.Use == "":
		got.Means = "present"
	default:
		a := d.Means(ask)
		take(a)
		// The rows that the census keeps say it too, unless nobody says so but the specification.
		if a.Means != usage.Unknown && !slices.Contains(a.Remarks, remarkDefault) && !slices.ContainsFunc(d.Statements,
			func(s Statement) bool {
				return s.Preference == a.Means && (s.Label == q.Use || s.Use != usage.NoUse && s.Use.String() == q.Use)
			}) {
			t.Errorf("%s %s %s: no statement says %s", q.File, q.Path, q.Use, got.Means)
		}
	}
	return got
}
