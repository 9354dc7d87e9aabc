package check

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/settings"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/visible"
)

const compareHelp = `Shows whether two policies mean the same. B is equal to A, stricter (it forbids all
that A forbids, and more), looser, or mixed. For each direction, compare prints a URL
on which they differ, mostly the shortest, and the line that decides on each side. The
answer holds for all URLs; a byte above 127 is in none, although check --jsonl judges
paths that have one. Only rules are compared, not what a server answers.

Give FILE, --agent or --profile twice; what is given once holds for both policies.
One FILE may be - for standard input.

AGENT is an agent of the registry (--agents), with its fallback tokens, or any
product token. The answer is undecided if rules with many wildcards take too long to
compare; a URL that is shown then is a difference all the same.

With --jsonl, each line of standard input is an object

    {"a": {"robots": TEXT, "agents": [TOKEN], "profile": NAME}, "b": {...}}

("robots_b64" for bytes; "agent" for one token; "profile" is optional). Tokens are
taken literally. Each line of output is an object

    {"relation", "closes", "opens"}

in the same order, with "truncated_a" or "truncated_b" true if the size limit of the
profile cuts that file. closes shows where B forbids more than A, opens where it forbids
less, each {"url", "line_a", "line_b", "verdict_a", "verdict_b"} or null. A line is
0 if no rule decides.

Exit codes: 0 equal, 1 different, 2 undecided; 64 usage, 65 bad input, 130
interrupted. With --jsonl: 0, or 65 if a line is not such an object.`

const compareExamples = `  robocensus compare old.txt new.txt --agent GPTBot
  robocensus compare robots.txt --agent Googlebot --agent bingbot
  robocensus compare robots.txt --agent GPTBot --profile google --profile rfc9309`

type compareFlags struct {
	asking
	asked []string // agents
}

func newCompareFlags() *compareFlags {
	f := &compareFlags{asking: asking{Shared: settings.Shared{Set: cli.NewFlagSet("compare")}}}
	f.Set.StringArrayVar(&f.asked, "agent", nil, "compare what this `AGENT` may fetch; if given twice, the first is for A")
	f.Set.BoolVar(&f.jsonl, "jsonl", false, "compare pairs from standard input, one JSON object per line")
	cli.Group(f.Set, "Questions and answers")
	f.AddMeaning()
	return f
}

// compared is one of the two policies.
type compared struct {
	path    string
	body    []byte
	agent   robots.Agent
	profile *robots.Profile

	file   robots.File
	lines  fileLines
	policy *robots.Policy
}

func (c *compared) load() {
	c.file.Parse(c.body, c.profile)
	c.lines = fileLines{body: c.body}
	judge := robots.NewJudge(c.profile, []robots.Agent{c.agent})
	judge.Load(&c.file)
	c.policy = judge.Policy(0)
}

func CompareCommand() *cobra.Command {
	f := newCompareFlags()
	c := &cobra.Command{
		Use: `compare FILE_A FILE_B --agent AGENT
       robocensus compare FILE --agent AGENT_A --agent AGENT_B
       robocensus compare FILE --agent AGENT --profile PROFILE_A --profile PROFILE_B
       robocensus compare --jsonl < PAIRS`,
		Short: "Compare the meaning of two policies", Long: compareHelp, Example: compareExamples,
		RunE: func(c *cobra.Command, args []string) error {
			return f.compare(c.Context(), args, c.InOrStdin(), c.OutOrStdout())
		},
	}
	f.addTo(c)
	return c
}

func (f *compareFlags) compare(ctx context.Context, files []string, stdin io.Reader, stdout io.Writer) error {
	profiles, err := f.profiles(ctx)
	if err != nil {
		return err
	}
	switch {
	case f.jsonl && (len(files) > 0 || len(f.asked) > 0):
		return cli.Usagef("--jsonl takes its pairs from standard input, and no arguments")
	case f.jsonl && len(profiles) > 1:
		return cli.Usagef("--jsonl takes one profile, the default of pairs that name none")
	case f.jsonl:
		cli.EndBySignal(ctx)
		return f.compareJSONL(stdin, stdout, profiles[0])
	case len(files) == 0 || len(files) > 2:
		return cli.Usagef("give one or two robots.txt files; see robocensus compare --help")
	case len(f.asked) == 0 || len(f.asked) > 2:
		return cli.Usagef("give --agent once or twice")
	case len(profiles) > 2:
		return cli.Usagef("give --profile once or twice")
	case max(len(files), len(f.asked), len(profiles)) == 1:
		return cli.Usagef("only one policy given: give two files, or --agent or --profile twice")
	case len(files) == 2 && files[0] == "-" && files[1] == "-":
		return cli.Usagef("only one of the files can be standard input")
	}
	var sides [2]compared
	for i := range sides {
		c := &sides[i]
		c.path = files[min(i, len(files)-1)]
		c.profile = profiles[min(i, len(profiles)-1)]
		if i == 1 && len(files) == 1 {
			c.body = sides[0].body
		} else if c.body, err = f.ReadRobots(ctx, c.path, stdin); err != nil {
			return err
		}
		agent, remark, err := f.FindAgent(ctx, f.asked[min(i, len(f.asked)-1)])
		if err != nil {
			return err
		}
		c.agent, c.profile = registry.Robots(&agent), f.ForAgent([]*robots.Profile{c.profile}, agent)[0]
		if i < len(f.asked) {
			io.WriteString(stdout, remark)
		}
		c.load()
	}
	c := robots.Compare(sides[0].policy, sides[1].policy)
	showComparison(stdout, &sides, c)
	switch c.Relation {
	case robots.Equal:
		return nil
	case robots.RelationUndecided:
		return cli.ExitUndefined
	}
	return cli.ExitDifferent
}

// showComparison prints a comparison for people.
func showComparison(out io.Writer, sides *[2]compared, c robots.Comparison) {
	for i := range sides {
		s := &sides[i]
		fmt.Fprintf(out, "%c  %s, %s, profile %s: %s\n", 'A'+i, visible.Text(s.path), visible.Text(s.agent.Name),
			visible.Text(s.profile.Name), s.group())
		if note := cutNote(&s.file, s.profile); note != "" {
			fmt.Fprintf(out, "   %s\n", note)
		}
	}
	undecided := "too many wildcards are entangled to compare all URLs"
	switch {
	case c.Sorted:
		undecided = "a profile sorts queries (sorted_query), so that not all URLs can be compared"
	case sides[0].profile != sides[1].profile:
		undecided += ", or the profiles bring URLs into forms that cannot be"
	}
	fmt.Fprintf(out, "\n%s  %s\n", strings.ToUpper(c.Relation.String()), map[robots.Relation]string{
		robots.Equal:             "A and B allow and forbid the same URLs",
		robots.Stricter:          "B forbids all that A forbids, and more; A is looser than B",
		robots.Looser:            "B forbids less than A, and nothing that A allows; A is stricter than B",
		robots.Mixed:             "B forbids some URLs that A does not, and the other way round",
		robots.RelationUndecided: undecided,
	}[c.Relation])
	for _, w := range [...]struct {
		word string
		*robots.Counterexample
	}{{"B closes", c.Closes}, {"B opens", c.Opens}} {
		if w.Counterexample == nil {
			continue
		}
		fmt.Fprintf(out, "  %s  %s\n", w.word, asArgument(w.Path))
		for i, v := range [...]robots.Verdict{w.A, w.B} {
			fmt.Fprintf(out, "    %c  %-9s  %s\n", 'A'+i, v.Value, sides[i].reason(v, w.Path))
		}
	}
}

// asArgument returns a path in a form that check takes: a path that begins with two
// slashes would be read as a host.
func asArgument(path string) string {
	if strings.HasPrefix(path, "//") {
		return "http://host.example" + path
	}
	return path
}

// group names the group that a policy follows.
func (c *compared) group() string {
	switch c.policy.Match {
	case robots.NoGroup:
		return noLine(robots.ReasonNoGroup, &c.file)
	case robots.StarGroup:
		return fmt.Sprintf("the group for *, line %d", c.policy.GroupLine)
	}
	return fmt.Sprintf("the group of %s, line %d", visible.Text(c.policy.GroupAgent), c.policy.GroupLine)
}

// reason names what decides a path.
func (c *compared) reason(v robots.Verdict, path string) string {
	if v.Rule >= 0 {
		return c.lines.text(c.file.Rules[v.Rule].Line)
	}
	why := noLine(v.Reason, &c.file)
	if v.Reason == robots.ReasonUndefined {
		t := c.profile.LiteralTarget(asArgument(path))
		var lines []string
		for _, i := range c.policy.Contenders(nil, &t) {
			if lines = append(lines, c.lines.text(c.file.Rules[i].Line)); len(lines) == 2 {
				break
			}
		}
		why += ": " + strings.Join(lines, "; ")
	}
	return why
}

// pair is one line of compare --jsonl.
type pair struct {
	A *pairSide `json:"a"`
	B *pairSide `json:"b"`
}

type pairSide struct {
	Robots    *string  `json:"robots"`
	RobotsB64 *[]byte  `json:"robots_b64"`
	Agent     *string  `json:"agent"`
	Agents    []string `json:"agents"`
	Profile   *string  `json:"profile"`
}

type relation struct {
	Relation string         `json:"relation"`
	Closes   *relationProof `json:"closes"`
	Opens    *relationProof `json:"opens"`

	TruncatedA bool `json:"truncated_a,omitempty"` // the size limit cuts the file of A
	TruncatedB bool `json:"truncated_b,omitempty"`
}

type relationProof struct {
	URL      string `json:"url"`
	LineA    int32  `json:"line_a"` // 0 where no rule decided
	LineB    int32  `json:"line_b"`
	VerdictA string `json:"verdict_a"`
	VerdictB string `json:"verdict_b"`
}

func (f *compareFlags) compareJSONL(in io.Reader, out io.Writer, profile *robots.Profile) error {
	var sides [2]compared
	return answerLines(in, out, func(line []byte) (any, error) {
		var q pair
		if err := decodeQuestion(line, &q); err != nil {
			return nil, err
		}
		for i, side := range [...]*pairSide{q.A, q.B} {
			name := string("ab"[i])
			if side == nil {
				return nil, fmt.Errorf("has no %q", name)
			}
			tokens, body, err := asked(side.Robots, side.RobotsB64, side.Agent, side.Agents)
			if err != nil {
				return nil, fmt.Errorf("%q %w", name, err)
			}
			c := &sides[i]
			c.body, c.agent = body, robots.Agent{Name: tokens[0], Tokens: tokens}
			if c.profile, err = profileAsked(&f.Shared, side.Profile, profile); err != nil {
				return nil, fmt.Errorf("%q %w", name, err)
			}
			c.load()
		}
		c := robots.Compare(sides[0].policy, sides[1].policy)
		return relation{
			c.Relation.String(), proof(&sides, c.Closes), proof(&sides, c.Opens), sides[0].file.Truncated,
			sides[1].file.Truncated,
		}, nil
	})
}

func proof(sides *[2]compared, w *robots.Counterexample) *relationProof {
	if w == nil {
		return nil
	}
	a, b := DecisionOf(&sides[0].file, w.A), DecisionOf(&sides[1].file, w.B)
	return &relationProof{asArgument(w.Path), a.Line, b.Line, a.Verdict, b.Verdict}
}
