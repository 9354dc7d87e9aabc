package check

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/visible"
)

// explainer explains what an agent may fetch under a robots.txt file, and why. The
// first profile decides; the others are shown beside it.
type explainer struct {
	out      io.Writer
	agent    robots.Agent
	readings []*explained
	body     []byte
	lines    fileLines

	verdicts verdicts

	labels usage.Vocabulary // nil unless uses are asked for
	tokens []schema.Agent   // the policy tokens that bind the agent: agents of the first judge, after it

	answers []explainedURL
}

// explainedURL is an answer of check --json.
type explainedURL struct {
	URL   string `json:"url"`
	Agent string `json:"agent"`
	Decision
	GroupAgent string            `json:"group_agent"` // the token whose group applies, * or empty
	Profile    string            `json:"profile"`
	Outcome    string            `json:"outcome"`
	Others     map[string]string `json:"others"` // verdicts of other profiles
	Truncated  bool              `json:"truncated,omitempty"`

	Uses *map[string]useAnswer `json:"uses,omitempty"`
}

// explained is what a profile makes of a capture, for some agents.
type explained struct {
	Profile *robots.Profile
	File    robots.File
	judge   *robots.Judge
	answer  answer.Answer
	turned  answer.Reason // how the answer turned us away, "" if it did not
}

// load reads the capture.
func (r *explained) load(c *fetch.Capture) {
	r.answer, r.turned = r.Profile.Answer(c.Facts()), turnedAway(c)
	body, cut := c.Read(r.answer)
	r.File.Cut = cut && body != nil
	r.File.Parse(body, r.Profile)
	r.judge.Load(&r.File)
}

// answerWords says why the answer decides, and no rule.
func (r *explained) answerWords() string { return words.Answer(r.answer.Reason, r.turned, false) }

func newExplainer(out io.Writer, profiles []*robots.Profile, agent robots.Agent) *explainer {
	e := &explainer{out: out, agent: agent}
	for _, p := range profiles {
		e.readings = append(e.readings, &explained{Profile: p, judge: robots.NewJudge(p, []robots.Agent{agent})})
	}
	return e
}

// load sets the capture to explain.
func (e *explainer) load(c *fetch.Capture) {
	for _, r := range e.readings {
		r.load(c)
	}
	e.body, _ = c.Read(e.readings[0].answer)
	e.lines = fileLines{body: e.body}
}

// capture loads what was fetched. It prints what the origin answered, and then what
// that means under the profile: an outage is not a policy.
func (e *explainer) capture(c *fetch.Capture) {
	e.load(c)
	first := e.readings[0]
	fmt.Fprintf(e.out, "%s\n", visible.Text(answered(c, first.Profile)))
	outcome := first.answer.Outcome
	if first.answer.Walled {
		outcome = answer.Undefined
	}
	e.note(fmt.Sprintf("profile %s: %s (%s, %s)", first.Profile.Name, effect(outcome, first.Profile, c), outcome,
		first.answer.Shown()))
	for _, h := range c.Hops {
		status := "no answer"
		if h.Status != 0 {
			status = fmt.Sprint(h.Status)
		}
		e.note(visible.Text(h.URL) + "  " + status)
	}
	if c.Err != nil {
		e.note(visible.Text(c.Err.Error()))
	}
	fmt.Fprintln(e.out)
	if outcome == answer.ConditionalAllow {
		e.unread()
		e.signalNotes()
		e.lighthouseNotes()
	}
}

// effects describes what an outcome means for the URLs of an origin.
var effects = map[answer.Outcome]string{
	answer.ConditionalAllow: "the rules decide",
	answer.FullAllow:        "everything is allowed",
	answer.FullDisallow:     "nothing may be fetched while that lasts",
	answer.Undefined:        "what may be fetched stays undefined",
}

// effect describes an outcome, and how long the profile lets an outage close an origin.
func effect(o answer.Outcome, p *robots.Profile, c *fetch.Capture) string {
	text := effects[o]
	switch d := p.ClosedFor(c.Facts()); {
	case o != answer.FullDisallow || d == 0:
	case d%(24*time.Hour) == 0:
		text += ", for up to " + words.Count(int64(d/(24*time.Hour)), "day")
	case d%time.Hour == 0:
		text += ", for up to " + words.Count(int64(d/time.Hour), "hour")
	default:
		text += ", for up to " + d.String()
	}
	return text
}

// turnedAway returns how the answer turned us away, "" if it did not.
func turnedAway(c *fetch.Capture) answer.Reason {
	if len(c.Hops) == 0 {
		return ""
	}
	return answer.TurnedAway(c.Hops[len(c.Hops)-1], c.Headers.RetryAfter != nil)
}

// answered describes what an origin answered.
func answered(c *fetch.Capture, p *robots.Profile) string {
	a := p.Answer(c.Facts())
	status := c.Status()
	who := c.Origin.String() + " "
	if n := len(c.Hops); n > 1 {
		who += "redirects to " + c.Hops[n-1].URL + ", which "
	}
	if how := turnedAway(c); how != "" && !a.Walled {
		return fmt.Sprintf("%sturns us away with status %d (%s): %s", who, status, how, effect(a.Outcome, p, c))
	}
	switch a.Shown() {
	case answer.Challenged:
		return fmt.Sprintf("%sanswers with a wall in place of the file (%s, status %d)", who,
			words.Challenge.Of(c.Challenge), status)
	case answer.Success:
		if body, _ := c.Read(a); answer.IsHTML(body) {
			return fmt.Sprintf("%s answers with %s (%d)", c.Origin, words.Page, status)
		}
		return fmt.Sprintf("%s has a robots.txt (%d)", c.Origin, status)
	case answer.ErrorBody:
		return fmt.Sprintf("%sanswers with status %d, whose body the profile reads as a robots.txt", who, status)
	case answer.ClientError:
		return fmt.Sprintf("%s has no robots.txt (%d): everything is allowed", c.Origin, status)
	case answer.HTMLRedirect:
		return fmt.Sprintf("%sanswers with a web page that redirects (%d)", who, status)
	case answer.RedirectLimit:
		return c.Origin.String() + " redirects too often"
	case answer.RedirectLoop, answer.RedirectInvalid, answer.RedirectUnsupported:
		return fmt.Sprintf("%s gave no robots.txt: %s (%d)", c.Origin, words.Reason.Of(string(a.Reason)), status)
	case answer.AddressBlocked:
		return who + "was not asked: its address is a special one, and --allow-private is not given"
	}
	switch class := c.Facts().Failure(); {
	case class == answer.ErrorServerError && a.Reason == answer.MisconfiguredServer:
		return fmt.Sprintf("%sanswers with a server error (%d), as it does for any page that is missing", who, status)
	case class == answer.ErrorServerError:
		return fmt.Sprintf("%sanswers with a server error (%d)", who, status)
	case class == answer.ErrorUnexpectedStatus:
		return fmt.Sprintf("%sanswers with a status that means nothing here (%d)", who, status)
	case class == "":
		return fmt.Sprintf("%sanswers with status %d", who, status)
	case status == 0:
		return fmt.Sprintf("%scould not be reached (%s)", who, words.ErrorClass.Of(string(class)))
	default:
		return fmt.Sprintf("%sgave no whole answer (%s)", who, words.ErrorClass.Of(string(class)))
	}
}

// Verdict returns the verdict of a reading on a URL.
func (r *explained) Verdict(url string) robots.Verdict {
	t := r.Profile.Target(url)
	if v, decided := robots.VerdictOf(r.answer, &t); decided {
		return v
	}
	return robots.Weigh(r.answer, r.judge.Policy(0).Judge(&t))
}

// explain prints the verdict on a URL.
func (e *explainer) explain(url string) {
	first := e.readings[0]
	v := first.Verdict(url)
	e.verdicts.add(v.Value)
	colour := map[robots.Value]cli.Style{robots.Permitted: cli.Green, robots.Disallowed: cli.Red,
		robots.Undefined: cli.Yellow}[v.Value]
	fmt.Fprintf(e.out, "%s  %s may %s\n", cli.Paint(e.out, colour, strings.ToUpper(v.Value.String())),
		visible.Text(e.agent.Name), map[robots.Value]string{
			robots.Permitted: "fetch", robots.Disallowed: "not fetch", robots.Undefined: "or may not fetch",
		}[v.Value]+" "+visible.Text(url))

	policy := first.judge.Policy(0)
	group, why := "the group for *", ""
	switch policy.Match {
	case robots.OwnGroup:
		group = "the group of " + policy.GroupAgent
	case robots.FallbackGroup:
		group, why = "the group of "+policy.GroupAgent, ", to which "+visible.Text(e.agent.Name)+" falls back"
	}
	switch {
	case v.Reason == robots.ReasonRobotsTxt:
		e.note("robots.txt itself may always be fetched (RFC 9309, section 2.2.2)")
	case v.Reason == robots.ReasonChallenge:
		e.note(noLine(v.Reason, &first.File))
	case !first.answer.AsksRules():
		e.note("the answer decides, and no rule: " + first.answerWords())
	case first.File.RefusedAt() > 0:
		e.note(visible.Text(first.Profile.Name) + " refuses the file, for " + e.lines.text(first.File.RefusedAt()))
	case v.Reason == robots.ReasonRule, v.Reason == robots.ReasonEmptyRule:
		rule := &first.File.Rules[v.Rule]
		e.Line("decides", rule.Line, fmt.Sprintf("%s, line %d%s", group, e.groupLine(rule), why))
		if v.Reason == robots.ReasonEmptyRule {
			e.note("a rule without a path forbids nothing, and no other rule matches")
		}
	case v.Reason == robots.ReasonNoRule:
		e.note("no rule matches in " + group + why + within(&first.File) + ": what is not forbidden is allowed")
	case v.Reason == robots.ReasonNoGroup:
		e.note("no group is for this agent" + within(
			&first.File) + map[bool]string{true: ", and it does not follow the one for *"}[e.agent.IgnoresStar &&
			first.Profile.IgnoresStar])
	case v.Reason == robots.ReasonUndefined:
		e.note("the document leaves a choice open, and the choices differ")
	}
	if first.answer.AsksRules() {
		e.runnersUp(first, policy, url, v)
	}
	answer := explainedURL{
		URL: url, Agent: e.agent.Name, Decision: DecisionOf(&first.File, v), GroupAgent: policy.GroupAgent,
		Profile: first.Profile.Name, Outcome: string(first.answer.Outcome), Others: make(map[string]string),
		Truncated: first.File.Truncated,
	}
	var same []string
	apart := make(map[opinion][]string) // profiles
	var order []opinion
	for _, r := range e.readings[1:] {
		other := r.Verdict(url).Value
		answer.Others[r.Profile.Name] = other.String()
		if other == v.Value {
			same = append(same, r.Profile.Name)
		} else {
			o := opinionOf(r, r.Verdict(url))
			if apart[o] == nil {
				order = append(order, o)
			}
			apart[o] = append(apart[o], r.Profile.Name)
		}
	}
	if e.labels != nil {
		answer.Uses = e.uses(url, v)
	}
	e.answers = append(e.answers, answer)
	if len(e.readings) > 1 {
		e.note("profile " + first.Profile.Name + "; the same under: " + cmp.Or(strings.Join(same, ", "), "no other"))
	}
	for _, o := range order {
		if o.line > 0 {
			e.Line(o.verdict.String(), o.line, "under "+strings.Join(apart[o], ", "))
		} else {
			e.note(fmt.Sprintf("%-11s under %s: %s", o.verdict, strings.Join(apart[o], ", "), o.why))
		}
	}
	fmt.Fprintln(e.out)
}

// opinion is what some profiles make of a URL.
type opinion struct {
	verdict robots.Value
	line    int32  // 0 if no rule decides
	why     string // then
}

func opinionOf(r *explained, v robots.Verdict) opinion {
	if v.Rule >= 0 {
		return opinion{v.Value, r.File.Rules[v.Rule].Line, ""}
	}
	return opinion{v.Value, 0, cmp.Or(noLine(v.Reason, &r.File), r.answerWords())}
}

// noLine says why no line of a file decides, "" if that is for the answer of the host.
func noLine(reason robots.Reason, f *robots.File) string {
	if n := f.RefusedAt(); n > 0 && reason != robots.ReasonRobotsTxt {
		return fmt.Sprintf("the parser refuses the file, for line %d", n)
	}
	switch reason {
	case robots.ReasonNoRule:
		return "no rule matches" + within(f)
	case robots.ReasonNoGroup:
		return "no group is for this agent" + within(f)
	case robots.ReasonUndefined:
		return "the document leaves a choice open"
	case robots.ReasonRobotsTxt:
		return "robots.txt itself may always be fetched"
	case robots.ReasonChallenge:
		return "a wall answered in place of the file, so that nobody knows what it says"
	}
	return ""
}

// within qualifies what was not found in a file that the size limit cuts.
func within(f *robots.File) string {
	if f.Truncated {
		return " within the size limit"
	}
	return ""
}

// runnersUp prints the rule that came second or, if none decided, the rules that
// nearly match.
func (e *explainer) runnersUp(r *explained, policy *robots.Policy, url string, v robots.Verdict) {
	t := r.Profile.Target(url)
	shown := 0
	for _, i := range policy.Contenders(nil, &t) {
		if i == v.Rule {
			continue
		}
		word := "gives way"
		if v.Rule < 0 {
			word = "in question"
		}
		rule := &r.File.Rules[i]
		e.Line(word, rule.Line, "it matches too, with "+words.Count(int64(rule.Length), "byte"))
		if shown++; shown == 1 && v.Rule >= 0 || shown == 4 {
			return
		}
	}
}

func (e *explainer) groupLine(rule *robots.Rule) int32 {
	if rule.Group < 0 {
		return 0
	}
	return e.readings[0].File.Groups[rule.Group].Line
}

const maxShown = 100

func (e *explainer) Line(word string, number int32, remark string) {
	fmt.Fprintf(e.out, "  %-11s %s   (%s)\n", word, e.lines.text(number), remark)
}

// Shortened cuts a text that is too long to show.
func Shortened(text string) string {
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return text
}
