package show

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/views"
)

// hostView is what a run has about an origin, for people and as JSON.
type hostView struct {
	Run        string                    `json:"run"`
	Date       time.Time                 `json:"date"`
	Host       string                    `json:"host"`
	Origin     string                    `json:"origin"`
	Rank       *int64                    `json:"rank"`
	Labels     shown[schema.Label]       `json:"labels"`
	Fetched    time.Time                 `json:"fetched"`
	Outcome    string                    `json:"outcome"`
	Reason     string                    `json:"reason"`
	Status     *int32                    `json:"status"`
	Hops       shown[schema.Hop]         `json:"hops"`
	ErrorClass *string                   `json:"error_class"`
	Challenge  *string                   `json:"challenge"` // vendor of the wall that answered: the host is unread
	Bytes      *int64                    `json:"bytes"`
	Truncated  bool                      `json:"truncated"`
	Lines      *int32                    `json:"lines"` // nil where no file was read, as are the next four
	Groups     *int32                    `json:"groups"`
	Rules      *int32                    `json:"rules"`
	Sitemaps   *int32                    `json:"sitemaps"`
	Findings   map[string]int            `json:"findings"`
	Templates  shown[schema.Template]    `json:"templates"`     // whose words the file has, or a part of it
	Statements shown[schema.Preference]  `json:"statements"`    // what it says about use
	FrontPage  *string                   `json:"front_page"`    // whether its header was read; nil if nobody looked
	Answers    shown[schema.Answer]      `json:"answers"`       // to further identities
	Pages      shown[schema.Answer]      `json:"pages"`         // what they met on a page
	Documents  shown[schema.Document]    `json:"documents"`     // likewise
	Listing    shown[schema.SitemapFile] `json:"sitemap_files"` // that it was to be asked for
	Coverage   shown[schema.Coverage]    `json:"coverage"`      // how much of what they list agents may fetch
	Profile    string                    `json:"profile"`
	Categories []*categoryView           `json:"categories"`
	Deciding   []*decidingView           `json:"deciding"` // what the file says, by the groups that decide
	Agents     []*agentView              `json:"agents"`
	URLs       []*urlView                `json:"urls"`    // those of --url, for each agent
	Before     *string                   `json:"before"`  // the complete run before this one
	Changes    []changeView              `json:"changes"` // since that run; nil if the two cannot be compared
	Notes      []string                  `json:"notes"`   // what is not compared
	Body       *string                   `json:"body"`    // nil if the run does not keep it, or it is not of this answer
	names      bool                      // the terminal names agents
	target     *lookup.Target
	policies   []schema.Policy
	groups     []schema.Group
	byToken    map[string][]*schema.Group // in lower case: see groupsOf
	rules      []schema.Rule
	body       []byte
	superseded bool // by a later capture of the origin
}

// shown are rows of a table. As JSON each has some of its columns; without any, there is null in
// place of a list.
type shown[R any] struct {
	columns string
	rows    []R
}

func (s shown[R]) MarshalJSON() ([]byte, error) {
	if s.columns == "" {
		return []byte("null"), nil
	}
	list := make([]json.RawMessage, len(s.rows))
	for i := range s.rows {
		var err error
		if list[i], err = schema.JSON(&s.rows[i], s.columns); err != nil {
			return nil, err
		}
	}
	return json.Marshal(list)
}

// lookUp sets the rows to those that a target has in a table.
func (s *shown[R]) lookUp(ctx context.Context, r *lookup.Run, t *lookup.Target, table, columns string) (err error) {
	s.columns = columns
	s.rows, err = lookup.Rows[R](ctx, r, table, t)
	return err
}

type categoryView struct {
	Category string         `json:"category"`
	Classes  map[string]int `json:"classes"` // agents by class
	Closed   []string       `json:"closed"`  // those that are shut out
}

type agentView struct {
	*schema.Policy
	Rules []ruleView `parquet:"rules"` // of the groups for it
}

func (a *agentView) MarshalJSON() ([]byte, error) {
	return schema.JSON(a, "agent, category, class, match, group_agent, group_line, crawl_delay, template, ai_train, "+
		"ai_input, search, rules")
}

type ruleView schema.Rule

func (r ruleView) MarshalJSON() ([]byte, error) { return schema.JSON(r, "line, kind, pattern") }

// viewOf looks the rows of a target up.
func viewOf(ctx context.Context, r *lookup.Run, t *lookup.Target, profile string, agents []string) (*hostView, error) {
	v := &hostView{
		Run: r.Manifest.Run, Date: r.Date, Host: t.Host, Origin: t.Origin, Rank: t.Rank, Fetched: t.FetchTime,
		Outcome: t.Outcome, Reason: t.Reason,
		Status: t.Status, Hops: shown[schema.Hop]{"url, status", t.Hops}, ErrorClass: t.ErrorClass, Challenge: t.Challenge,
		Bytes: t.BodyBytes, Truncated: t.BodyTruncated, FrontPage: t.FrontPage,
		Profile: profile, Agents: []*agentView{}, Notes: []string{}, URLs: []*urlView{}, target: t,
	}
	if t.HasFile() {
		v.Lines, v.Groups, v.Rules, v.Sitemaps, v.Findings = &t.Lines, &t.Groups, &t.Rules, &t.Sitemaps, make(map[string]int)
	}
	all, err := lookup.Rows[schema.Policy](ctx, r, "policies", t)
	if err != nil {
		return nil, err
	}
	by := make(map[string]*categoryView)
	for _, p := range all {
		if p.Profile != profile {
			continue
		}
		v.policies = append(v.policies, p)
		c := by[p.Category]
		if c == nil {
			c = &categoryView{Category: p.Category, Classes: make(map[string]int), Closed: []string{}}
			by[p.Category], v.Categories = c, append(v.Categories, c)
		}
		if c.Classes[p.Class]++; p.Class == "disallow_all" {
			c.Closed = append(c.Closed, p.Agent)
		}
	}
	slices.SortFunc(v.Categories, func(a, b *categoryView) int { return strings.Compare(a.Category, b.Category) })
	for _, c := range v.Categories {
		slices.Sort(c.Closed)
	}
	lines, err := lookup.Rows[schema.Line](ctx, r, "lines", t)
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		if v.Findings == nil { // a run of an earlier version
			v.Findings = make(map[string]int)
		}
		v.Findings[l.Class]++
	}
	if err := cmp.Or(
		v.Labels.lookUp(ctx, r, t, "labels", "label, value"),
		v.Templates.lookUp(ctx, r, t, "templates", templateColumns),
		v.Statements.lookUp(ctx, r, t, "preferences", statementColumns),
		v.addAnswers(ctx, r, t),
		v.Documents.lookUp(ctx, r, t, "documents", documentColumns),
		v.Listing.lookUp(ctx, r, t, "sitemap_files", sitemapColumns),
		v.addCoverage(ctx, r, t, agents),
	); err != nil {
		return nil, err
	}
	if v.groups, err = lookup.Rows[schema.Group](ctx, r, "groups", t); err != nil {
		return nil, err
	}
	if v.rules, err = lookup.Rows[schema.Rule](ctx, r, "rules", t); err != nil {
		return nil, err
	}
	v.addDeciding()
	body, err := lookup.Body(ctx, r, t)
	if v.body = body; body != nil && (t.ContentDigest != nil || t.CopyTime == nil) {
		v.Body = new(schema.Text(body))
	}
	return v, err
}

// addAgents adds the policies of agents, named in any case.
func (v *hostView) addAgents(names []string) error {
	for _, name := range names {
		i := slices.IndexFunc(v.policies, func(p schema.Policy) bool { return strings.EqualFold(p.Agent, name) })
		if i < 0 {
			var known []string
			for _, p := range v.policies {
				known = append(known, p.Agent)
			}
			return cli.Usagef("--agent: run %s has no agent %q%s", v.Run, name, flags.Suggest(name, known))
		}
		p := &v.policies[i]
		a := &agentView{Policy: p, Rules: []ruleView{}}
		if p.GroupAgent != nil {
			a.Rules = v.rulesOf(*p.GroupAgent)
		}
		v.Agents = append(v.Agents, a)
	}
	return nil
}

// showQueries prints the queries of which show tells the answers.
func showQueries(out io.Writer, run string, asked []fetch.Origin, profile string, agents, urls []string,
	has func(table string) bool) {
	for _, o := range asked {
		of := "run = " + views.Quote(run) + " AND " + condition(o)
		fmt.Fprintf(out, "SELECT * FROM history.fetches WHERE %s;\n", of)
		fmt.Fprintf(out, "SELECT seq, class, count(*) AS lines FROM history.lines WHERE %s GROUP BY ALL ORDER BY seq, "+
			"class;\n", of)
		fmt.Fprintf(out, "SELECT seq, category, class, count(*) AS agents, list(agent ORDER BY agent) FILTER (class = "+
			"'disallow_all') AS closed\nFROM history.policies WHERE %s AND profile = %s GROUP BY ALL ORDER BY seq, "+
			"category, class;\n", of, views.Quote(profile))
		query := func(columns, table, and string) {
			fmt.Fprintf(out, "SELECT seq, %s FROM history.%s WHERE %s%s;\n", columns, table, of, and)
		}
		query(templateColumns, "templates", " ORDER BY seq, first_line, last_line, template")
		query(statementColumns, "preferences", " ORDER BY seq, line")
		if has("answers") {
			query(answerColumns, "answers", " AND coalesce(path, '/robots.txt') = '/robots.txt'")
			query(pageColumns, "answers", " AND path <> '/robots.txt'")
		}
		if has("documents") {
			query(documentColumns, "documents", "")
		}
		if has("sitemap_files") {
			query(sitemapColumns, "sitemap_files", "")
		}
		if has("coverage") {
			fmt.Fprintf(out, "SELECT seq, "+coverageColumns+"\nFROM history.coverage WHERE %s AND profile = %s AND "+
				"lower(agent) IN (%s);\n", of, views.Quote(profile), quoted(slices.Concat(evaluate.SearchEngines, agents)))
		}
		for _, agent := range agents {
			fmt.Fprintf(out, "SELECT p.seq, p.agent, p.class, p.match, p.group_agent, p.group_line, p.template, p.ai_train, "+
				"p.ai_input, p.search, r.line, r.kind, r.pattern\nFROM (FROM history.policies WHERE %[1]s AND profile = %[2]s "+
				"AND lower(agent) = lower(%[3]s)) p\nLEFT JOIN (SELECT r.*, g.tokens FROM history.rules r JOIN history.groups "+
				"g ON g.run = r.run AND g.seq = r.seq AND g.group_index = r.group_index WHERE r.effective) r\n"+
				"  ON r.run = p.run AND r.seq = p.seq AND list_contains(r.tokens, lower(p.group_agent)) ORDER BY p.seq, r.line;\n",
				of, views.Quote(profile), views.Quote(agent))
			for _, url := range urls {
				fmt.Fprintf(out, "SELECT seq, agent, url, profile, judged_by, verdict, reason, rule_line, rule_pattern FROM "+
					"history.verdicts WHERE %s AND lower(agent) = lower(%s) AND url = %s ORDER BY seq, profile;\n", of,
					views.Quote(agent), views.Quote(url))
			}
		}
	}
}

// quoted returns names in lower case for SQL, each once.
func quoted(names []string) string {
	var out []string
	for _, name := range names {
		if text := views.Quote(strings.ToLower(name)); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

// condition returns the SQL that chooses the rows of what is asked about.
func condition(asked fetch.Origin) string {
	if asked.Scheme != "" {
		return "origin = " + views.Quote(asked.String())
	}
	return "host = " + views.Quote(asked.Host)
}
