package show

import (
	"context"
	"fmt"

	"github.com/robocensus/robocensus/cmd/internal/screen"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/schema"
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
}

// addAnswers adds what the origin answered to further identities.
func (v *hostView) addAnswers(ctx context.Context, r *lookup.Run, t *lookup.Target) error {
	all, err := lookup.Rows[schema.Answer](ctx, r, "answers", t)
	for _, a := range all {
		v.Answers = append(v.Answers, answerView{a.Identity, a.IsControl, a.Agent, a.Status, a.ErrorClass, a.Challenge,
			a.Same, a.Treatment, a.Policy, a.FirstDifference})
	}
	return err
}

func (v *hostView) printAnswers(p *screen.Text) {
	if v.FrontPage != nil {
		p.Line("  front page: " + words.PageOutcome.Of(*v.FrontPage))
	}
	for _, a := range v.Answers {
		p.Line("  " + p.Foreign(a.words()))
	}
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
	case a.Status != nil && a.Treatment != "served":
		text += fmt.Sprintf(", status %d", *a.Status)
	}
	if a.Same != nil && !*a.Same {
		text += ", of other bytes; its policy is " + a.Policy
		if a.Difference != nil {
			text += ": " + *a.Difference
		}
	}
	return text
}
