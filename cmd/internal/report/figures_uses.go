package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/words"
)

// refusals shows in which ways hosts refuse the training of models, and how the ways
// overlap.
func (d *data) refusals() *figure {
	ways, sets := d.sums.by("refusal", d.profile, key), d.sums.by("refusal_set", d.profile, key)
	anyWay := ways["any"]
	if anyWay == 0 {
		return nil
	}
	delete(ways, "any")
	f := &figure{
		ID: "refusals", Of: "Shares of " + d.bases() + ".",
		Note: "A bar for each way, then one for each set of ways that the same files use together. A crawler or a policy token (such as Google-Extended) counts where the file lets it fetch nothing, by name or by the group for all (*). " +
			"A content signal and a usage preference count where a group states them, for any agent and path. A licence counts where a file names one: its terms are not read. Robots.txt alone is covered: no header, no page.",
		Legend: []legend{{"closed", "in this way alone"}, {"star", "in this way and others"}, {"partly", "in exactly these ways"}},
		Heads:  d.heads(), Names: waysName,
	}
	names := ranked(ways)
	f.Title = fmt.Sprintf("%s refuse AI training in some way, most often %s (%s)", d.ofBoth(anyWay), words.Refusal.Of(names[0]), ofBase(ways[names[0]], d.hosts, "hosts"))
	scale := scaleFor(ways[names[0]], d.hosts)
	f.Axis = fmt.Sprintf("%d%% of hosts", scale)
	for _, way := range names {
		alone := sets[way]
		f.Bars = append(f.Bars, bar{Name: words.Refusal.Of(way), Tracks: []track{{
			Parts:  parts(scale, d.hosts, share{"closed", "in this way alone", alone}, share{"star", "in this way and others", ways[way] - alone}),
			Values: d.shares(ways[way]),
		}}})
	}
	drawn := 0
	for _, set := range ranked(sets) {
		if strings.Contains(set, "+") && drawn < barsDrawn/2 {
			drawn++
			f.Bars = append(f.Bars, bar{Name: waysName(set), Tracks: []track{{
				Parts: parts(scale, d.hosts, share{"partly", "in exactly these ways", sets[set]}), Values: d.shares(sets[set]),
			}}})
		}
	}
	d.keyRows(f, "refusal_set", "ways", "hosts", true, sets)
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
func (d *data) preferences() *figure {
	all := d.sums.by("preference", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	f := &figure{
		ID: "preferences", Of: d.ofFiles(), Title: "No file says in so many words whether models may be trained",
		Note:   "What a content signal, a usage preference or the group of a policy token states, for any agent and path, and what a file states before any group is left out, for it applies to nobody. It changes no verdict. A policy token never permits. Robots.txt alone is covered: no header, no page.",
		Legend: []legend{{"allow", "permitted"}, {"closed", "refused"}},
	}
	var said, none []string
	for _, mechanism := range []string{"content-signal", "content-usage"} {
		no, yes := all[mechanism+" ai-train disallow"], all[mechanism+" ai-train allow"]
		if no+yes > 0 {
			said = append(said, fmt.Sprintf("%s refuses AI training in %s and permits it in %s", words.Mechanism.Of(mechanism), ofBase(no, d.texts, "files"), percent(yes, d.texts)))
		} else {
			none = append(none, words.Mechanism.Of(mechanism))
		}
	}
	if said != nil {
		f.Title = and(said)
		if none != nil {
			f.Title += "; no file has a " + none[0] + " about it"
		}
	}
	type statement struct{ yes, no int64 }
	by, sum := make(map[string]statement), make(map[string]int64)
	for _, k := range ranked(all) {
		subject, preference := cutLast(k)
		s := by[subject]
		if preference == "allow" {
			s.yes += all[k]
		} else {
			s.no += all[k]
		}
		by[subject] = s
		sum[subject] = max(s.yes, s.no)
	}
	subjects := ranked(sum)
	scale := scaleFor(sum[subjects[0]], d.texts)
	f.Axis = fmt.Sprintf("%d%% of files", scale)
	for _, subject := range subjects {
		s := by[subject]
		mechanism, use, _ := strings.Cut(subject, " ")
		f.Bars = append(f.Bars, bar{Name: words.Mechanism.Of(mechanism) + ": " + words.Use.Of(use), Tracks: []track{
			{"permitted", parts(scale, d.texts, share{"allow", "permitted", s.yes}), []string{percent(s.yes, d.texts) + " permit"}},
			{"refused", parts(scale, d.texts, share{"closed", "refused", s.no}), []string{percent(s.no, d.texts) + " refuse"}},
		}})
	}
	f.Names = preferenceName
	d.keyRows(f, "preference", "statement", "files", false, all)
	return f
}

// preferenceName returns the display name of a statement about use.
func preferenceName(k string) string {
	subject, preference := cutLast(k)
	mechanism, use, _ := strings.Cut(subject, " ")
	return words.Mechanism.Of(mechanism) + ": " + words.Use.Of(use) + ", " + map[string]string{"allow": "permitted", "disallow": "refused"}[preference]
}

// cutLast cuts a text at its last space; one without a space has nothing before it.
func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, ' ')
	return s[:max(i, 0)], s[i+1:]
}

// preferenceRemarks shows statements about use that contradict each other, and those that
// nobody reads.
func (d *data) preferenceRemarks() *figure {
	all := d.sums.by("preference_remark", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	f := &figure{
		ID: "preference-remarks", Of: d.ofFiles(), Names: words.PreferenceRemark.Of,
		Title: commonest("misstatement", all, d.texts, quoted(words.PreferenceRemark.Of)),
		Note:  "Statements that contradict each other, and those that state nothing: nobody reads what stands before any group, a dictionary that does not parse, or a label that no current document has.",
	}
	d.byKey(f, "preference_remark", "remark", "files", false, all, "partly", d.texts)
	f.Examples = d.examples.list("Examples", "text", "preference_remark", words.PreferenceRemark.Of, ranked(all)...)
	return f
}

// templates shows which products wrote the files, or parts of them.
func (d *data) templates() *figure {
	all := d.sums.by("template", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	f := &figure{
		ID: "templates", Of: d.ofFiles(), Names: plainName,
		Title: commonest("template", all, d.texts, plainName),
		Note:  "A product wrote the file, or a part of it: a content delivery network, a content management system, a plugin, or a lawyer. A file may have several. Templates that robocensus does not know are the view families of views.sql.",
	}
	d.byKey(f, "template", "template", "files", false, all, "allow", d.texts)
	f.Examples = d.examples.list("Examples", "version", "template", plainName, ranked(all)...)
	return f
}

// templateRanks shows how often the commonest templates are found by rank. There is no
// such figure of a run whose files are all in one band.
func (d *data) templateRanks() *figure {
	of := func(l label) string { return l.stratum }
	byTemplate := make(map[string]map[string]int64) // files by stratum
	total := make(map[string]int64)
	for stratum, keys := range d.sums.pivot("template", d.profile, of) {
		for template, n := range keys {
			if byTemplate[template] == nil {
				byTemplate[template] = make(map[string]int64)
			}
			byTemplate[template][stratum] += n
			total[template] += n
		}
	}
	texts := d.sums.by("body_bytes", d.profile, of)
	if len(total) == 0 || len(texts) < 2 {
		return nil
	}
	strata, scale := ascending(texts), int64(1)
	f := &figure{
		ID: "template-ranks", Of: "Shares of the files of each band of ranks.", Head: []string{"template", "stratum", "files", "of_files"},
		Note: "A file may have several templates. The commonest templates are drawn; the numbers have all.",
	}
	const drawn = 6
	for _, template := range ranked(total)[:min(len(total), drawn)] {
		for _, stratum := range strata {
			scale = max(scale, scaleFor(byTemplate[template][stratum], texts[stratum]))
		}
	}
	f.Axis = fmt.Sprintf("%d%% of files", scale)
	for i, template := range ranked(total) {
		for _, stratum := range strata {
			n := byTemplate[template][stratum]
			if n > 0 {
				f.Rows = append(f.Rows, []string{template, stratum, number(n), number(texts[stratum])})
			}
			if i < drawn && n > 0 {
				f.Bars = append(f.Bars, bar{Name: template, Sub: rankName(stratum), Tracks: []track{{Parts: parts(scale, texts[stratum], share{"allow", "files", n}), Values: []string{percent(n, texts[stratum])}}}})
			}
		}
	}
	top := ranked(total)[0]
	most, least := strata[0], strata[0]
	for _, stratum := range strata { // of equal shares, the first
		if byTemplate[top][stratum]*texts[most] > byTemplate[top][most]*texts[stratum] {
			most = stratum
		}
		if byTemplate[top][stratum]*texts[least] < byTemplate[top][least]*texts[stratum] {
			least = stratum
		}
	}
	f.Title = fmt.Sprintf("%s is in %s of the files of hosts of %s, and in %s of those of %s", top, percent(byTemplate[top][most], texts[most]), rankName(most), percent(byTemplate[top][least], texts[least]), rankName(least))
	f.Title = strings.ReplaceAll(f.Title, "of unranked", "without a rank")
	f.SQL = fmt.Sprintf(`SELECT template, stratum, files, of_files
FROM (SELECT key AS template, stratum, sum(count)::BIGINT AS files, sum(sum(count)) OVER (PARTITION BY key) AS total
    %s GROUP BY key, stratum)
JOIN (SELECT stratum, sum(count)::BIGINT AS of_files
    %s GROUP BY stratum) USING (stratum)
ORDER BY total DESC, template, %s`, d.from("template", false), d.from("body_bytes", false), stratumOrder)
	return f
}

func plainName(s string) string { return s }

// wordsOf shows whose words shut agents out: the files' own, or a template's.
func (d *data) wordsOf() *figure {
	byTemplate := d.sums.pivot("policy_template", d.profile, func(l label) string { return l.agent })
	if len(byTemplate) == 0 {
		return nil
	}
	type whose struct {
		fate
		template int64
	}
	var all []whose
	for _, a := range d.fates() {
		w := whose{fate: a}
		for _, n := range byTemplate[a.agent] {
			w.template += n
		}
		if w.template > 0 {
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, func(a, b whose) int {
		return cmp.Or(cmp.Compare(b.template, a.template), cmp.Compare(b.closed, a.closed))
	})
	top := all[0]
	for _, w := range all { // of those that templates shut out as often, the headline's own
		if w.template == top.template && w.agent == "GPTBot" {
			top = w
		}
	}
	f := &figure{
		ID: "words", Of: "Shares of " + d.bases() + ".",
		Title: fmt.Sprintf("%s is shut out by %s: %s in their own words, %s in those of a template (%s)", top.agent, d.ofBoth(top.closed),
			ofBase(top.closed-top.template, d.hosts, "hosts"), percent(top.template, d.hosts), and(ranked(byTemplate[top.agent]))),
		Note:   "A policy is in a template's words where every group that decides it is: such as the block that Cloudflare manages, which people switch on without choosing the names in it. Agents that some template shuts out.",
		Legend: []legend{{"closed", "shut out in the file's own words"}, {"star", "in a template's words"}},
		Heads:  d.heads(), Head: []string{"agent", "category", "shut_out", "template", "own_words"},
	}
	scale := int64(1)
	for _, w := range all {
		scale = max(scale, scaleFor(w.closed, d.hosts))
	}
	f.Axis = fmt.Sprintf("%d%% of hosts", scale)
	for i, w := range all {
		f.Rows = append(f.Rows, []string{w.agent, w.category, number(w.closed), number(w.template), number(w.closed - w.template)})
		if i >= barsDrawn {
			continue
		}
		shares := []share{{"closed", "in the file's own words", w.closed - w.template}}
		for _, t := range ranked(byTemplate[w.agent]) {
			shares = append(shares, share{"star", t, byTemplate[w.agent][t]})
		}
		f.Bars = append(f.Bars, bar{Name: w.agent, Sub: words.Category.Of(w.category), Tracks: []track{{Parts: parts(scale, d.hosts, shares...), Values: d.shares(w.closed)}}})
	}
	f.SQL = fmt.Sprintf("SELECT agent, %s,\n  %s,\n  %s,\n  shut_out - template AS own_words\n%s\nGROUP BY agent HAVING template > 0 ORDER BY template DESC, shut_out DESC, agent", categoryOf,
		sumIf("metric = 'policy' AND key = 'disallow_all'", "shut_out"), sumIf("metric = 'policy_template'", "template"), d.from("policy policy_template", true))
	return f
}
