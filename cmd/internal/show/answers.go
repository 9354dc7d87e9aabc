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

// answerView is what the origin answered to a further identity.
type answerView struct {
	Identity   string  `json:"identity"`
	IsControl  bool    `json:"is_control"`
	Agent      *string `json:"agent"`
	Status     *int32  `json:"status"`
	ErrorClass *string `json:"error_class"`
	Challenge  *string `json:"challenge"`
	Same       *bool   `json:"same"`
	Treatment  string  `json:"treatment"`
	Policy     string  `json:"policy"`
	Difference *string `json:"first_difference"`
	Price      *string `json:"price"`
}

// pageView is what a further identity met on a page.
type pageView struct {
	Identity    string  `json:"identity"`
	IsControl   bool    `json:"is_control"`
	Agent       *string `json:"agent"`
	Path        string  `json:"path"`
	Status      *int32  `json:"status"`
	ErrorClass  *string `json:"error_class"`
	Challenge   *string `json:"challenge"`
	Same        *bool   `json:"same"`
	Treatment   string  `json:"treatment"`
	Remark      *string `json:"remark"`
	Paper       *string `json:"paper"`
	Verdict     *string `json:"verdict"`
	Price       *string `json:"price"`
	PriceHeader *string `json:"price_header"`
}

// addAnswers adds what the origin answered to further identities.
func (v *hostView) addAnswers(ctx context.Context, r *lookup.Run, t *lookup.Target) error {
	all, err := lookup.Rows[schema.Answer](ctx, r, "answers", t)
	for _, a := range all {
		if schema.IsPage(a.Path) {
			v.Pages = append(v.Pages, pageView{a.Identity, a.IsControl, a.Agent, a.Path, a.Status, a.ErrorClass, a.Challenge,
				a.Same, a.Treatment, a.Remark, a.Paper, a.Verdict, a.Price, a.PriceHeader})
			continue
		}
		v.Answers = append(v.Answers, answerView{a.Identity, a.IsControl, a.Agent, a.Status, a.ErrorClass, a.Challenge,
			a.Same, a.Treatment, a.Policy, a.FirstDifference, a.Price})
	}
	return err
}

func (v *hostView) printAnswers(p *cli.Text) {
	if v.FrontPage != nil {
		p.Line("  front page: " + words.PageOutcome.Of(*v.FrontPage))
	}
	for _, a := range v.Answers {
		p.Line("  " + p.Foreign(a.words()))
	}
	for _, a := range v.Pages {
		p.Line("  " + p.Foreign(a.words()))
	}
}

// words tells what an identity met, such as "/ as gptbot: asked to pay, USD 0.01; robots.txt: open".
func (a *pageView) words() string {
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

// words tells an answer, such as "asked as gptbot: refused, status 403".
func (a *answerView) words() string {
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
		if a.Difference != nil {
			text += ": " + *a.Difference
		}
	}
	return text
}
