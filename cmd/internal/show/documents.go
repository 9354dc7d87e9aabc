package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/schema"
)

const documentColumns = "document, url, status, outcome, remark"

// wasAsked reports whether somebody asked for a document. What is not asked for may be that to
// which a redirect leads: it has the status of the redirect.
func wasAsked(d *schema.Document) bool {
	switch consent.Outcome(d.Outcome) {
	case consent.NotAsked:
		return d.Status != nil
	case consent.Uncaptured:
		return false
	}
	return true
}

// printDocuments says which documents of consent there are, which answers are none though they
// look like one, and what else came of the requests.
func (v *hostView) printDocuments(p *cli.Text) {
	if len(v.Documents.rows) == 0 {
		return
	}
	asked := make(map[string]bool)     // by URL, which may be of two documents
	names := make(map[string][]string) // by outcome
	for i := range v.Documents.rows {
		d := &v.Documents.rows[i]
		if wasAsked(d) {
			asked[d.URL] = true
		}
		text := d.Document
		if remark := schema.OrZero(d.Remark); remark != "" {
			text += " (" + strings.NewReplacer("_", " ", ",", ", ").Replace(remark) + ")"
		}
		if !slices.Contains(names[d.Outcome], text) {
			names[d.Outcome] = append(names[d.Outcome], text)
		}
	}
	p.Line(fmt.Sprintf("  documents of consent: %s asked for", words.Number(int64(len(asked)))))
	for _, outcome := range consent.Outcomes {
		all := names[string(outcome)]
		if len(all) == 0 {
			continue
		}
		text := strings.Join(all[:min(len(all), mostDocumentsShown)], ", ")
		if n := len(all) - mostDocumentsShown; n > 0 {
			text += fmt.Sprintf(" and %s more, all in --json", words.Number(int64(n)))
		}
		p.Line("    " + p.Foreign(words.DocumentOutcome.Of(string(outcome))+": "+text))
	}
}

// mostDocumentsShown is how many documents of an outcome the terminal names.
const mostDocumentsShown = 20
