package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/summary"
)

// refusals shows in which ways hosts refuse the training of models, and how the ways
// overlap.
func (d *data) refusals() *draw.Figure {
	ways, sets := d.sums.By("refusal", d.profile, counters.Key), d.sums.By("refusal_set", d.profile, counters.Key)
	anyWay, byTerms := ways[summary.AnyRefusal], ways[summary.ByTerms]
	if anyWay == 0 {
		return nil
	}
	delete(ways, summary.AnyRefusal)
	delete(ways, summary.ByTerms)
	f := &draw.Figure{
		ID: "refusals", Of: "Shares of " + d.bases() + ".",
		Note: "A bar for each way, then one for each set of ways that the same files use together. A crawler counts " +
			"where the file lets it fetch nothing, by name or by the group for all (*); a policy token, such as " +
			"Google-Extended, where a group that names it does. " +
			"A content signal and a usage preference count where a group states them, for any agent and path. A licence " +
			"that a file names is no way: its terms, which are elsewhere, permit or refuse. Robots.txt alone is covered: " +
			"no header, no page.",
		Legend: []draw.Legend{{Class: "closed", Name: "in this way alone"}, {Class: "star", Name: "in this way and others"},
			{Class: "partly", Name: "in exactly these ways"}},
		Heads: d.heads(), Names: waysName,
	}
	names := counters.Ranked(ways)
	leading, most, _ := counters.Leading(ways, words.Refusal.Of)
	f.Title = fmt.Sprintf("%s %s AI training in robots.txt, most often %s (%s)", d.ofBoth(anyWay),
		d.agree(anyWay, "refuses", "refuse"), leading, words.ShareOf(most, d.hosts, "hosts"))
	if byTerms > 0 {
		f.Title += fmt.Sprintf("; %s more %s a licence, whose terms permit or refuse it", words.Number(byTerms),
			words.Agree(byTerms, "names", "name"))
	}
	for _, way := range names {
		alone := sets[way]
		f.AddBar(words.Refusal.Of(way), "", draw.Track{
			Whole: d.hosts, Shares: []draw.Share{{Class: "closed", Name: "in this way alone", N: alone},
				{Class: "star", Name: "in this way and others", N: ways[way] - alone}},
			Values: d.shares(ways[way]),
		})
	}
	drawn := 0
	for _, set := range counters.Ranked(sets) {
		if !strings.Contains(set, "+") {
			continue
		}
		if drawn++; drawn > draw.MostBars/2 {
			f.Cut++
		} else {
			f.AddBar(waysName(set), "", draw.Part("partly", "in exactly these ways", sets[set], d.hosts, d.shares(sets[set])...))
		}
	}
	f.Fit("hosts")
	keyRows(f, d.from("refusal_set", true), "ways", "hosts", sets)
	return f
}

// waysName returns the display name of a set of ways, such as "crawler + policy token".
func waysName(set string) string {
	ways := strings.Split(set, "+")
	if len(ways) == 1 {
		return words.Refusal.Of(set)
	}
	for i := range ways {
		ways[i] = strings.TrimPrefix(strings.TrimPrefix(words.Refusal.Of(ways[i]), "by shutting out a "), "by a ")
	}
	return strings.Join(ways, " + ")
}

// preferences shows what files state about the use of their content.
func (d *data) preferences() *draw.Figure {
	all := d.sums.By("preference", d.profile, counters.Key)
	if len(all) == 0 {
		return nil
	}
	f := &draw.Figure{
		ID: "preferences", Of: d.ofFiles(), Title: "No file says in so many words whether models may be trained",
		Note: "What a content signal, a usage preference or the group of a policy token states, for any agent and " +
			"path, and what a file states before any group is left out, for it applies to nobody. It changes no verdict. A " +
			"policy token never permits. Robots.txt alone is covered: no header, no page.",
		Legend: []draw.Legend{{Class: "allow", Name: "permitted"}, {Class: "closed", Name: "refused"}},
	}
	var said, none []string
	for _, mechanism := range []string{"content-signal", "content-usage"} {
		no, yes := all[mechanism+" ai-train disallow"], all[mechanism+" ai-train allow"]
		if no+yes > 0 {
			said = append(said, fmt.Sprintf("%s refuses AI training in %s and permits it in %s", words.Mechanism.Of(mechanism),
				words.ShareOf(no, d.texts, "files"), words.Percent(yes, d.texts)))
		} else {
			none = append(none, words.Mechanism.Of(mechanism))
		}
	}
	if said != nil {
		f.Title = strings.Join(said, "; ")
		if none != nil {
			f.Title += "; no file has a " + none[0] + " about it"
		}
	}
	type statement struct{ yes, no int64 }
	by, sum := make(map[string]statement), make(map[string]int64)
	for _, k := range counters.Ranked(all) {
		subject, preference := counters.CutLast(k)
		s := by[subject]
		if preference == "allow" {
			s.yes += all[k]
		} else {
			s.no += all[k]
		}
		by[subject] = s
		sum[subject] = max(s.yes, s.no)
	}
	for _, subject := range counters.Ranked(sum) {
		s := by[subject]
		mechanism, use, _ := strings.Cut(subject, " ")
		f.AddBar(words.Mechanism.Of(mechanism)+": "+words.Use.Of(use), "", permittedRefused(s.yes, s.no, d.texts)...)
	}
	f.Fit("files")
	f.Names = counters.Statement
	keyRows(f, d.from("preference", false), "statement", "files", all)
	return f
}

// permittedRefused draws how many permit a use, and how many refuse it.
func permittedRefused(yes, no, whole int64) []draw.Track {
	return []draw.Track{
		{Label: "permitted", Whole: whole, Shares: []draw.Share{{Class: "allow", Name: "permitted", N: yes}},
			Values: []string{words.Percent(yes, whole) + " permit"}},
		{Label: "refused", Whole: whole, Shares: []draw.Share{{Class: "closed", Name: "refused", N: no}},
			Values: []string{words.Percent(no, whole) + " refuse"}},
	}
}

// preferenceRemarks shows statements about use that contradict each other, and those that
// nobody reads.
func (d *data) preferenceRemarks() *draw.Figure {
	all := d.sums.By("preference_remark", d.profile, counters.Key)
	if len(all) == 0 {
		return nil
	}
	f := &draw.Figure{
		ID: "preference-remarks", Of: d.ofFiles(), Names: words.PreferenceRemark.Of,
		Title: commonest("misstatement", all, d.texts, counters.Quoted(words.PreferenceRemark.Of)),
		Note: "Statements that contradict each other, and those that state nothing: nobody reads what stands before any " +
			"group, a dictionary that does not parse, or a label that no current document has.",
	}
	byKey(f, d.from("preference_remark", false), "remark", "files", all, "partly", d.texts)
	f.Examples = d.examples.List("Examples", "text", "preference_remark", words.PreferenceRemark.Of,
		counters.Ranked(all)...)
	return f
}

// signalReach shows whom content signals bind. Those before all groups, and those in the
// group of one agent, are what owners get wrong most.
func (d *data) signalReach() *draw.Figure {
	all := d.sums.By("signal_reach", d.profile, counters.Key)
	files := all["all"] + all["several"] + all["one"] + all["nobody"]
	if files == 0 {
		return nil
	}
	few := all["nobody"] + all["one"]
	f := &draw.Figure{
		ID: "signal-reach", Names: words.SignalReach.Of, Of: "Shares of " + words.The(files, "files") +
			" with a content signal.",
		Title: fmt.Sprintf("Of %s with content signals %s bind all agents, %s one agent or nobody",
			words.Count(files, "file"), words.Number(all["all"]), words.Number(few)),
		Note: "A content signal binds the agents of the group that it stands in. Before all groups it binds nobody, and " +
			"in the group of one agent nobody else. " +
			"To bind all agents it stands below the line “User-agent: *”. Of a file with several content signals the widest " +
			"counts.",
	}
	byKey(f, d.from("signal_reach", false), "binds", "files", all, "partly", files)
	f.Examples = d.examples.List("Examples", "text", "signal_reach", words.SignalReach.Of, "nobody", "one")
	return f
}

// templates shows which products wrote the files, or parts of them.
func (d *data) templates() *draw.Figure {
	all := d.sums.By("template", d.profile, counters.Key)
	if len(all) == 0 {
		return nil
	}
	f := &draw.Figure{
		ID: "templates", Of: d.ofFiles(), Names: words.Plain,
		Title: commonest("template", all, d.texts, words.Plain),
		Note: "A product wrote the file, or a part of it: a content delivery network, a content management system, a " +
			"plugin, or a lawyer. A file may have several. Templates that robocensus does not know are the view families of " +
			"views.sql.",
	}
	byKey(f, d.from("template", false), "template", "files", all, "allow", d.texts)
	f.Examples = d.examples.List("Examples", "version", "template", words.Plain, counters.Ranked(all)...)
	return f
}

// templateRanks shows how often the commonest templates are found by rank. There is no
// such figure of a run whose files are all in one band.
func (d *data) templateRanks() *draw.Figure {
	of := func(l counters.Label) string { return l.Stratum }
	byTemplate := make(map[string]map[string]int64) // files by stratum
	total := make(map[string]int64)
	for stratum, keys := range d.sums.Pivot("template", d.profile, of) {
		for template, n := range keys {
			if byTemplate[template] == nil {
				byTemplate[template] = make(map[string]int64)
			}
			byTemplate[template][stratum] += n
			total[template] += n
		}
	}
	texts := d.sums.By("body_bytes", d.profile, of)
	if len(total) == 0 || len(texts) < 2 {
		return nil
	}
	strata := counters.Ascending(texts)
	f := &draw.Figure{
		ID: "template-ranks", Of: "Shares of the files of each band of ranks.",
		Head: []string{"template", "stratum", "files", "of_files"},
		Note: "A file may have several templates. The commonest templates are drawn; the numbers have all.",
	}
	const drawn = 6
	for i, template := range counters.Ranked(total) {
		for _, stratum := range strata {
			n := byTemplate[template][stratum]
			if n > 0 {
				f.AddRow([]string{template, stratum}, n, texts[stratum])
			}
			if i < drawn && n > 0 {
				f.AddBar(template, words.Rank(stratum),
					draw.Part("allow", "files", n, texts[stratum], words.Percent(n, texts[stratum])))
			}
		}
	}
	f.Fit("files")
	top := counters.Ranked(total)[0]
	most, least := strata[0], strata[0]
	for _, stratum := range strata { // of equal shares, the first
		if byTemplate[top][stratum]*texts[most] > byTemplate[top][most]*texts[stratum] {
			most = stratum
		}
		if byTemplate[top][stratum]*texts[least] < byTemplate[top][least]*texts[stratum] {
			least = stratum
		}
	}
	f.Title = fmt.Sprintf("%s is in as many of the files of each band of ranks: %s", top,
		words.Percent(byTemplate[top][most], texts[most]))
	if most != least {
		f.Title = fmt.Sprintf("%s is in %s of the files of hosts %s, and in %s of those %s", top,
			words.Percent(byTemplate[top][most], texts[most]), ofRank(most),
			words.Percent(byTemplate[top][least], texts[least]), ofRank(least))
	}
	f.SQL = fmt.Sprintf(`SELECT template, stratum, files, of_files
FROM (SELECT key AS template, stratum, sum(count)::BIGINT AS files, sum(sum(count)) OVER (PARTITION BY key) AS total
    %s GROUP BY key, stratum)
JOIN (SELECT stratum, sum(count)::BIGINT AS of_files
    %s GROUP BY stratum) USING (stratum)
ORDER BY total DESC, template, %s`, d.from("template", false), d.from("body_bytes", false), counters.StratumOrder)
	return f
}

// wordsOf shows whose words shut agents out: the files' own, or a template's.
func (d *data) wordsOf() *draw.Figure {
	byTemplate := d.sums.Pivot("policy_template", d.profile, func(l counters.Label) string { return l.Agent })
	if len(byTemplate) == 0 {
		return nil
	}
	type whose struct {
		counters.Fate
		template int64
	}
	var all []whose
	for _, a := range d.sums.Fates(d.profile) {
		w := whose{Fate: a, template: sum(byTemplate[a.Agent])}
		if w.template > 0 {
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, func(a, b whose) int {
		return cmp.Or(cmp.Compare(b.template, a.template), cmp.Compare(b.Closed, a.Closed))
	})
	top := all[0]
	for _, w := range all { // of those that templates shut out as often, the headline's own
		if w.template == top.template && w.Agent == "GPTBot" {
			top = w
		}
	}
	f := &draw.Figure{
		ID: "words", Of: "Shares of " + d.bases() + ".",
		Title: fmt.Sprintf("%s is shut out by %s: %s in their own words, %s in those of a template (%s)", top.Agent,
			d.ofBoth(top.Closed),
			words.ShareOf(top.Closed-top.template, d.hosts, "hosts"), words.Percent(top.template, d.hosts),
			words.And(counters.Ranked(byTemplate[top.Agent]))),
		Note: "A policy is in a template's words where every group that decides it is: such as the block that " +
			"Cloudflare manages, which people switch on without choosing the names in it. Agents that some template shuts out.",
		Legend: []draw.Legend{{Class: "closed", Name: "shut out in the file's own words"},
			{Class: "star", Name: "in a template's words"}},
		Heads: d.heads(), Head: []string{"agent", "category", "shut_out", "template", "own_words"},
	}
	for _, w := range all {
		f.AddRow([]string{w.Agent, w.Category}, w.Closed, w.template, w.Closed-w.template)
		shares := []draw.Share{{Class: "closed", Name: "in the file's own words", N: w.Closed - w.template}}
		for _, t := range counters.Ranked(byTemplate[w.Agent]) {
			shares = append(shares, draw.Share{Class: "star", Name: t, N: byTemplate[w.Agent][t]})
		}
		f.AddBar(w.Agent, words.Category.Of(w.Category),
			draw.Track{Whole: d.hosts, Shares: shares, Values: d.shares(w.Closed)})
	}
	f.Fit("hosts")
	f.Shorten()
	f.SQL = fmt.Sprintf("SELECT agent, %s,\n  %s,\n  %s,\n  shut_out - template AS own_words\n%s\n"+
		"GROUP BY agent HAVING template > 0 ORDER BY template DESC, shut_out DESC, agent", categoryOf,
		counters.SumIf("metric = 'policy' AND key = 'disallow_all'", "shut_out"),
		counters.SumIf("metric = 'policy_template'", "template"), d.from("policy policy_template", true))
	return f
}
