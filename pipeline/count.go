package pipeline

import (
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// What a target's fetch and content say is counted here, in the first
// profile's reading. Keys come from sets that are known beforehand: what a
// stranger writes never becomes a counter, it counts as other.

// count adds a target to the summary and the examples.
func (a *evaluator) count(row *sink.Fetch, stratum string) {
	n := a.counts
	clear(a.said)
	a.examples.Begin(row.Rank)
	n.Add("targets", stratum, "")
	for i := range a.readings {
		n.AddProfile("outcome", stratum, i, string(a.readings[i].answer.Outcome))
		n.AddProfile("reason", stratum, i, string(a.readings[i].answer.Reason))
	}
	status := "none"
	if row.Status != nil {
		status = strconv.Itoa(int(*row.Status))
	}
	n.Add("status", stratum, status)
	if row.Reason == string(robots.NetworkFailed) {
		class := "none"
		if row.ErrorClass != nil {
			class = *row.ErrorClass
		}
		n.Add("network_failure", stratum, class)
	}
	if row.ErrorClass != nil {
		n.Add("error_class", stratum, *row.ErrorClass)
		text := ""
		if row.Error != nil {
			text = *row.Error
		}
		a.examples.Add("error_class", *row.ErrorClass, row.Host, 0, text)
	}
	if row.Reason != string(robots.Success) {
		text := ""
		switch {
		case row.FinalURL != nil:
			text = status + " " + *row.FinalURL
		case row.Error != nil:
			text = *row.Error
		}
		a.examples.Add("reason", row.Reason, row.Host, 0, text)
	}
	a.countNetwork(row, stratum)
	if row.ContentDigest == nil {
		return
	}
	n.Add("body_bytes", stratum, summary.Bin(*row.BodyBytes))
	a.examples.Largest(row.Host, *row.BodyBytes)
	n.Add("lines", stratum, summary.Bin(int64(row.Lines)))
	n.Add("rules", stratum, summary.Bin(int64(row.Rules)))
	n.Add("groups", stratum, summary.Bin(int64(row.Groups)))
	n.Add("sitemaps", stratum, summary.Bin(int64(row.Sitemaps)))
	for flag, set := range map[string]bool{"bom": row.HasBOM, "not_utf8": !row.IsUTF8, "html": row.IsHTML, "truncated": row.BodyTruncated} {
		if set {
			n.Add("body", stratum, flag)
		}
	}
	f := &a.readings[0].content.file
	a.countGroups(row, f, stratum)
	a.countSitemaps(row, f, stratum)
	a.countLines(row, f, stratum)
}

// once counts a key that the target under way has not had yet: such counters
// are of hosts.
func (a *evaluator) once(metric, stratum, key string) {
	if l := [2]string{metric, key}; !a.said[l] {
		a.said[l] = true
		a.counts.Add(metric, stratum, key)
	}
}

func (a *evaluator) countGroups(row *sink.Fetch, f *robots.File, stratum string) {
	for i := range f.Groups {
		g := &f.Groups[i]
		a.once("feature", stratum, "group")
		if g.Joined {
			a.once("feature", stratum, "joined")
		}
		for _, agent := range f.Agents[g.Agents.From:g.Agents.To] {
			if string(agent.Token) == "*" {
				a.once("feature", stratum, "star_group")
			}
		}
		if !g.HasCrawlDelay {
			continue
		}
		a.once("feature", stratum, "crawl_delay")
		key := summary.Bin(int64(g.CrawlDelay)) // of whole seconds: the parser takes 15 digits at most
		a.counts.Add("crawl_delay", stratum, key)
		if a.examples.Wants("crawl_delay", key, row.Host) {
			a.examples.Add("crawl_delay", key, row.Host, g.Line, strconv.FormatFloat(g.CrawlDelay, 'f', -1, 64))
		}
	}
	for i := range f.Rules {
		r := &f.Rules[i]
		a.once("feature", stratum, "rule")
		if r.Wildcard {
			a.once("feature", stratum, "wildcard")
		}
		if r.Anchor {
			a.once("feature", stratum, "anchor")
		}
	}
}

func (a *evaluator) countSitemaps(row *sink.Fetch, f *robots.File, stratum string) {
	if len(f.Sitemaps) > 0 {
		a.once("feature", stratum, "sitemap")
	}
	for i := range f.Sitemaps {
		s := &f.Sitemaps[i]
		key := "same_host"
		switch {
		case !s.IsAbsolute:
			key = "relative"
		case !isSameHost(s, row.Host):
			key = "other_host"
		}
		a.counts.Add("sitemap", stratum, key)
		if key != "same_host" && a.examples.Wants("sitemap", key, row.Host) {
			a.examples.Add("sitemap", key, row.Host, s.Line, summary.Clip(s.URL))
		}
	}
}

// countLines counts remarks, and the fields and signals that belong to no
// profile.
func (a *evaluator) countLines(row *sink.Fetch, f *robots.File, stratum string) {
	for i := range f.Remarks {
		m := &f.Remarks[i]
		class := m.Class.String()
		a.counts.Add("line_class", stratum, class)
		a.once("line_class_hosts", stratum, class)
		switch m.Class {
		case robots.Extension:
			a.once("field", stratum, strings.ToLower(string(m.Field))) // one that the parser knows
		case robots.UnknownField:
			a.once("field", stratum, other)
		}
		if a.examples.Wants("line_class", class, row.Host) {
			text := summary.Clip(m.Value)
			if m.Field != nil {
				text = summary.Clip(m.Field) + ": " + text
			}
			a.examples.Add("line_class", class, row.Host, m.Line, text)
		}
	}
	for i := range f.Signals {
		s := &f.Signals[i]
		field := strings.ToLower(string(s.Field)) // one that the parser knows
		a.once("field", stratum, field)
		key := signalKey(field, s)
		a.once("signal", stratum, key)
		if a.examples.Wants("signal", key, row.Host) {
			text := field + ":"
			if s.Path != nil && s.Key != nil {
				text += " " + summary.Clip(s.Path)
			}
			if s.Key != nil {
				text += " " + summary.Clip(s.Key) + "="
			} else {
				text += " "
			}
			a.examples.Add("signal", key, row.Host, s.Line, text+summary.Clip(s.Value))
		}
	}
}

// other is the key of all that is not in a known set.
const other = "other"

// The vocabularies of content-signal (contentsignals.org) and content-usage
// (IETF AIPREF, its drafts).
var (
	signalKeys = map[string]bool{
		"content-signal search": true, "content-signal ai-input": true, "content-signal ai-train": true,
		"content-usage search": true, "content-usage train-ai": true, "content-usage train-genai": true,
		"content-usage ai": true, "content-usage genai": true, "content-usage bots": true, "content-usage tdm": true,
	}
	signalValues = map[string]bool{"yes": true, "no": true, "y": true, "n": true}
)

// signalKey is the counter of a signal: its field, and of the two fields that
// have a vocabulary what it says.
func signalKey(field string, s *robots.Signal) string {
	if field != "content-signal" && field != "content-usage" {
		return field
	}
	const longest = 16
	if len(s.Key) > longest || len(s.Value) > longest {
		return field + " " + other
	}
	key, value := field+" "+strings.ToLower(string(s.Key)), strings.ToLower(string(s.Value))
	if !signalKeys[key] {
		return field + " " + other
	}
	if !signalValues[value] {
		value = other
	}
	return key + "=" + value
}

// countCategories counts a target by how many agents of each category its
// policies close, under one profile. a.policies are those of all agents.
func (a *evaluator) countCategories(stratum string, profile int) {
	type closing struct{ agents, closed, unknown int }
	by := make(map[string]closing)
	for i := range a.policies {
		p := &a.policies[i]
		c := by[p.Category]
		c.agents++
		switch p.Class {
		case summary.ClassNames[robots.DisallowAll]:
			c.closed++
		case summary.ClassNames[summary.ClassUnknown]:
			c.unknown++
		}
		by[p.Category] = c
	}
	for category, c := range by {
		key := "some"
		switch {
		case c.unknown > 0:
			key = summary.ClassNames[summary.ClassUnknown]
		case c.closed == 0:
			key = "none"
		case c.closed == c.agents:
			key = "all"
		}
		a.counts.AddCategory("category", stratum, category, profile, key)
	}
}
