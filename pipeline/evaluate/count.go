package evaluate

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Counters of a target's fetch and content, as the first profile reads it. Keys
// come from closed sets: text from the network never becomes a key, it counts as
// "other".

// count adds a target to the summary and the examples.
func (e *Evaluator) count(row *schema.Fetch, stratum string) {
	n := e.counts
	clear(e.counted)
	e.examples.Begin(row.Host, row.Rank)
	n.Add("targets", stratum, "")
	for k := range e.columns {
		n.AddProfile("outcome", stratum, k, string(e.face(k).answer.Outcome))
		n.AddProfile("reason", stratum, k, string(e.face(k).answer.Reason))
	}
	status := "none"
	if row.Status != nil {
		status = strconv.Itoa(int(*row.Status))
	}
	n.Add("status", stratum, status)
	if row.Reason == string(answer.NetworkFailure) {
		n.Add("network_failure", stratum, cmp.Or(schema.OrZero(row.ErrorClass), "none"))
	}
	if row.ErrorClass != nil {
		n.Add("error_class", stratum, *row.ErrorClass)
		e.examples.Add("error_class", *row.ErrorClass, 0, schema.OrZero(row.Error))
	}
	if row.Reason != string(answer.Success) {
		text := schema.OrZero(row.Error)
		if row.FinalURL != nil {
			text = status + " " + *row.FinalURL
		}
		e.examples.Add("reason", row.Reason, 0, text)
	}
	e.countNetwork(row, stratum)
	e.countPage(row, stratum)
	if row.Challenge != nil {
		e.countChallenge(row, stratum)
		return // the page of a wall is not a robots.txt
	}
	n.Add("challenge", stratum, summary.NoChallenge)
	e.countTurnedAway(row, stratum)
	if row.ContentDigest == nil {
		return
	}
	n.Add("body_bytes", stratum, summary.BinOf(*row.BodyBytes).String())
	e.examples.Largest(*row.BodyBytes)
	n.Add("lines", stratum, summary.BinOf(int64(row.Lines)).String())
	n.Add("rules", stratum, summary.BinOf(int64(row.Rules)).String())
	n.Add("groups", stratum, summary.BinOf(int64(row.Groups)).String())
	n.Add("sitemaps", stratum, summary.BinOf(int64(row.Sitemaps)).String())
	for _, c := range [...]struct {
		flag string
		set  bool
	}{{"bom", row.HasBOM}, {"not_utf8", !*row.IsUTF8}, {"html", row.IsHTML}, {"truncated", row.BodyTruncated},
		{"only_comments", row.OnlyComments}} {
		if c.set {
			n.Add("body", stratum, c.flag)
		}
	}
	if row.Reason == string(answer.ErrorBody) {
		n.Add("error_body", stratum, map[bool]string{true: "html", false: "other"}[row.IsHTML])
	}
	f := &e.readings[0].file
	e.countGroups(f, stratum)
	e.countSitemaps(f, stratum)
	e.countLines(f, stratum)
	e.countPreferences(stratum)
	e.countSignalReach(f, stratum)
	e.countTemplates(stratum)
	e.countParity(stratum)
}

// once counts a key once per target: such counters count hosts.
func (e *Evaluator) once(metric, stratum, key string) {
	if l := [2]string{metric, key}; !e.counted[l] {
		e.counted[l] = true
		e.counts.Add(metric, stratum, key)
	}
}

func (e *Evaluator) countGroups(f *robots.File, stratum string) {
	for i := range f.Groups {
		g := &f.Groups[i]
		e.once("feature", stratum, "group")
		if g.Joined {
			e.once("feature", stratum, "joined")
		}
		for _, agent := range f.Agents[g.Agents.From:g.Agents.To] {
			e.countDeadName(&agent, stratum)
			if string(agent.Token) == "*" {
				e.once("feature", stratum, "star_group")
			}
		}
		if !g.HasCrawlDelay {
			continue
		}
		e.once("feature", stratum, "crawl_delay")
		key := summary.BinOf(int64(g.CrawlDelay)).String() // whole seconds: the parser accepts at most 15 digits
		e.counts.Add("crawl_delay", stratum, key)
		if e.examples.Wants("crawl_delay", key) {
			e.examples.Add("crawl_delay", key, g.Line, strconv.FormatFloat(g.CrawlDelay, 'f', -1, 64))
		}
	}
	var wildcard, anchor bool
	for i := range f.Rules {
		wildcard, anchor = wildcard || f.Rules[i].Wildcard, anchor || f.Rules[i].Anchor
	}
	for _, c := range [...]struct {
		feature string
		has     bool
	}{{"rule", len(f.Rules) > 0}, {"wildcard", wildcard}, {"anchor", anchor}} {
		if c.has {
			e.counts.Add("feature", stratum, c.feature)
		}
	}
}

func (e *Evaluator) countSitemaps(f *robots.File, stratum string) {
	if len(f.Sitemaps) > 0 {
		e.once("feature", stratum, "sitemap")
	}
	for i := range f.Sitemaps {
		s := &f.Sitemaps[i]
		key := "same_host"
		switch {
		case !s.IsAbsolute:
			key = "relative"
		case !e.sameHost[i]:
			key = "other_host"
		}
		e.counts.Add("sitemap", stratum, key)
		if key != "same_host" && e.examples.Wants("sitemap", key) {
			e.examples.Add("sitemap", key, s.Line, summary.Clip(s.URL))
		}
	}
}

// countLines counts remarks, extension fields and signals.
func (e *Evaluator) countLines(f *robots.File, stratum string) {
	var classes [robots.NumRemarkClasses]int64 // remarks by class, added up here: a file can have 100,000
	for i := range f.Remarks {
		m := &f.Remarks[i]
		if m.Class == robots.Extension {
			e.once("field", stratum, strings.ToLower(string(m.Field))) // a field that the parser knows
		}
		if classes[m.Class]++; classes[m.Class] > 1 {
			continue // the rest is done once per class; a host has one example per key
		}
		class := m.Class.String()
		if m.Class == robots.UnknownField {
			e.once("field", stratum, summary.Other)
		}
		if e.examples.Wants("line_class", class) {
			text := summary.Clip(m.Value)
			if m.Field != nil {
				text = summary.Clip(m.Field) + ": " + text
			}
			e.examples.Add("line_class", class, m.Line, text)
		}
	}
	if all := e.readings[0].content.errors; len(all) > 0 {
		classes[robots.LighthouseError] = int64(len(all))
		if class := robots.LighthouseError.String(); e.examples.Wants("line_class", class) {
			e.examples.Add("line_class", class, all[0].Line, summary.Clip(all[0].Text))
		}
	}
	for class, n := range classes {
		if n > 0 {
			name := robots.RemarkClass(class).String()
			e.counts.AddN("line_class", stratum, name, n)
			e.counts.Add("line_class_hosts", stratum, name)
		}
	}
	for i := range f.Signals {
		s := &f.Signals[i]
		field := strings.ToLower(string(s.Field)) // a field that the parser knows
		e.once("field", stratum, field)
		key := summary.SignalKey(field, string(s.Key), string(s.Value), e.isKnown)
		e.once("signal", stratum, key)
		if e.examples.Wants("signal", key) {
			text := field + ":"
			if s.Path != nil && s.Key != nil {
				text += " " + summary.Clip(s.Path)
			}
			if s.Key != nil {
				text += " " + summary.Clip(s.Key) + "="
			} else {
				text += " "
			}
			e.examples.Add("signal", key, s.Line, text+summary.Clip(s.Value))
		}
	}
}

// isKnown reports whether a label is in the vocabulary of the run.
func (e *Evaluator) isKnown(l usage.Label) bool {
	_, known := e.config.Labels[l]
	return known
}

// closing counts agents of a category: all, those that a target closes to, and those of
// which nobody knows.
type closing struct{ agents, closed, unknown int }

// categorise numbers the categories of the agents, and lists them as rows have them.
func (e *Evaluator) categorise() {
	for i := range e.config.Agents {
		k := slices.Index(e.categories, e.config.Agents[i].Category)
		if k < 0 {
			k = len(e.categories)
			e.categories = append(e.categories, e.config.Agents[i].Category)
		}
		e.categoryOf = append(e.categoryOf, k)
		e.agentNames = append(e.agentNames, e.config.Agents[i].Name)
		e.agentCategories = append(e.agentCategories, e.config.Agents[i].Category)
	}
	e.closing = make([]closing, len(e.categories))
}

// countCategories counts a target by how many agents of each category it closes
// to, under one profile. e.policies holds the rows of all agents.
func (e *Evaluator) countCategories(stratum string, profile int) {
	clear(e.closing)
	for i := range e.policies {
		c := &e.closing[e.categoryOf[i]]
		c.agents++
		switch e.policies[i].Class {
		case summary.ClassNames[robots.DisallowAll]:
			c.closed++
		case summary.ClassNames[summary.ClassUnknown]:
			c.unknown++
		}
	}
	for i, category := range e.categories {
		c := &e.closing[i]
		key := "some"
		switch {
		case c.unknown > 0:
			key = summary.ClassNames[summary.ClassUnknown]
		case c.closed == 0:
			key = "none"
		case c.closed == c.agents:
			key = "all"
		}
		e.counts.AddCategory("category", stratum, category, profile, key)
	}
}
