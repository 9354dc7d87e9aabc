package show

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

const (
	answerColumns = "identity, is_control, agent, status, error_class, challenge, same, treatment, policy, " +
		"first_difference, price"

	pageColumns = "identity, is_control, agent, path, status, error_class, challenge, same, treatment, remark, " +
		"paper, verdict, price, price_header"
)

// addAnswers adds what the origin answered to further identities, and what they met on a page.
func (v *hostView) addAnswers(ctx context.Context, r *lookup.Run, t *lookup.Target) error {
	all, err := lookup.Rows[schema.Answer](ctx, r, "answers", t)
	v.Answers.columns = answerColumns
	for _, a := range all {
		if schema.IsPage(a.Path) {
			v.Pages = shown[schema.Answer]{pageColumns, append(v.Pages.rows, a)}
		} else {
			v.Answers.rows = append(v.Answers.rows, a)
		}
	}
	return err
}

func (v *hostView) printAnswers(p *cli.Text) {
	if v.FrontPage != nil {
		p.Line("  front page: " + words.PageOutcome.Of(*v.FrontPage))
	}
	for i := range v.Answers.rows {
		p.Line("  " + p.Foreign(answerWords(&v.Answers.rows[i])))
	}
	for i := range v.Pages.rows {
		p.Line("  " + p.Foreign(pageWords(&v.Pages.rows[i])))
	}
}

// pageWords tells what an identity met, such as "/ as gptbot: asked to pay, USD 0.01; robots.txt: open".
func pageWords(a *schema.Answer) string {
	text := a.Path + " as " + a.Identity
	if a.IsControl {
		text += ", our own user agent"
	}
	text += ": " + words.PageTreatment.Of(a.Treatment)
	switch {
	case a.Remark != nil:
		text += ", " + words.TreatmentReason.Of(*a.Remark)
	case a.Challenge != nil:
		text += ", " + words.Challenge.Of(*a.Challenge)
	case a.ErrorClass != nil:
		text += ", " + words.ErrorClass.Of(*a.ErrorClass)
	case a.Price != nil && a.Treatment == string(consent.PagePayment):
		text += ", " + *a.Price
	case a.Status != nil && (*a.Status == http.StatusNotFound || *a.Status == http.StatusGone):
		text += fmt.Sprintf(", status %d: there is no page for it", *a.Status)
	case a.Status != nil && !strings.HasPrefix(a.Treatment, "served"):
		text += fmt.Sprintf(", status %d", *a.Status)
	case a.IsControl && a.Same != nil && !*a.Same:
		text += ", and another page when asked again"
	}
	if a.Price != nil && a.Treatment != string(consent.PagePayment) {
		text += ", price " + *a.Price
	}
	if a.Paper != nil {
		text += "; robots.txt: " + words.Paper.Of(*a.Paper)
	}
	return text
}

// answerWords tells an answer, such as "asked as gptbot: refused, status 403".
func answerWords(a *schema.Answer) string {
	text := "asked as " + a.Identity
	if a.IsControl {
		text += ", our own user agent once more"
	}
	text += ": " + words.Treatment.Of(a.Treatment)
	switch {
	case a.Challenge != nil:
		text += ", " + words.Challenge.Of(*a.Challenge)
	case a.ErrorClass != nil:
		text += ", " + words.ErrorClass.Of(*a.ErrorClass)
	case a.Price != nil && a.Treatment == summary.TreatmentNames[summary.Payment]:
		text += ", " + *a.Price
	case a.Status != nil && a.Treatment != "served":
		text += fmt.Sprintf(", status %d", *a.Status)
	}
	if a.Price != nil && a.Treatment != summary.TreatmentNames[summary.Payment] {
		text += ", price " + *a.Price
	}
	if a.Same != nil && !*a.Same {
		text += ", of other bytes; its policy is " + a.Policy
		if a.FirstDifference != nil {
			text += ": " + *a.FirstDifference
		}
	}
	return text
}
