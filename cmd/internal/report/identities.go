package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/summary"
)

// What hosts answer to further identities (--also-as), and the walls that answer in place of
// a file.

// treatments are the ways in which an identity is turned away.
var treatments = draw.Kinds{
	{Key: "challenged", Class: "closed", Name: "a wall"}, {Key: "rate_limited", Class: "star", Name: "to slow down"},
	{Key: "payment", Class: "away", Name: "to pay"}, {Key: "refused", Class: "partly", Name: "refused"},
	{Key: "failing", Class: "broken", Name: "an error"}, {Key: "unreached", Class: "unknown", Name: "no answer"},
}

// beyond says how much more often an identity is turned away than the control, in
// percentage points.
func beyond(m, control *summary.Met) string {
	hosts, away := m.Compared()
	all, also := control.Compared()
	if hosts == 0 || all == 0 {
		return ""
	}
	points := 100*float64(away)/float64(hosts) - 100*float64(also)/float64(all)
	switch {
	case points >= 0.05:
		return fmt.Sprintf("%.1f points more than our own second request", points)
	case points <= -0.05:
		return fmt.Sprintf("%.1f points less than our own second request", -points)
	}
	return "as often as our own second request"
}

// turnedAway says of the hosts that let an agent in on paper how many turn it away.
func (d *data) turnedAway() *draw.Figure {
	all := summary.MetOf(d.sums.By("answer_let_in", d.profile, counters.Key))
	if len(all) == 0 {
		return nil
	}
	var control, top *summary.Met
	var names []string
	hostsOf, awayOf, met := make(map[string]int64), make(map[string]int64), make(map[string]*summary.Met)
	for _, m := range all {
		if m.Control {
			if control == nil {
				control = m
			}
			continue
		}
		names, met[m.Name] = append(names, m.Name), m
		hostsOf[m.Name], awayOf[m.Name] = m.Compared()
		if top == nil {
			top = m
		}
	}
	most := highest(names, awayOf, hostsOf)
	if most != nil {
		top = met[most[0]]
	}
	f := &draw.Figure{
		ID: "turned-away", Of: "Shares of the hosts that let the agent in on paper, in part or whole, and gave us a " +
			"file, or said that there is none.",
		Note: "After its own answer, each host was asked once more under each identity. A server can tell an identity " +
			"from the crawler whose name it uses by its address and its TLS handshake, so what it answers to the name is " +
			"not always what it answers to the crawler.",
		Head: append([]string{"identity", "is_control", "let_in"}, treatments.Keys()...), Legend: treatments.Legend(),
	}
	f.Legend[3].Name, f.Legend[4].Name = "refused, by another 4xx", "a server error, or a redirect to nowhere"
	switch {
	case top == nil:
		hosts, away := control.Compared()
		f.Title = fmt.Sprintf("Our own second request for robots.txt is turned away by %s that gave us an answer before",
			words.ShareOf(away, hosts, "hosts"))
	default:
		hosts, away := top.Compared()
		f.Title = fmt.Sprintf("%s is turned away from robots.txt by %s that let it in on paper", top.Name,
			words.ShareOf(away, hosts, "hosts"))
		if len(most) > 1 {
			f.Title = fmt.Sprintf("%s are turned away from robots.txt most, each by %s that let it in on paper",
				words.Tied(most, "identities"), words.ShareOf(away, hosts, "hosts"))
		}
		if away == 0 {
			f.Title = "No identity is turned away from robots.txt by a host that lets it in on paper"
		} else if control != nil {
			f.Title += ": " + beyond(top, control)
		}
	}
	if control == nil {
		f.Note += " There was no control, an identity without a user agent of its own: a host may refuse any second " +
			"request, and nothing is subtracted for that."
	} else {
		hosts, away := control.Compared()
		f.Note += fmt.Sprintf(" The control, our own user agent once more, was turned away by %s; that much would have "+
			"happened to anybody.", words.Percent(away, hosts))
	}
	for _, m := range all {
		hosts, away := m.Compared()
		f.AddRow([]string{m.Name, fmt.Sprint(m.Control), counters.Digits(hosts)}, treatments.Numbers(m.By)...)
		f.AddBar(identityName(m.Name, m.Control), "of "+words.Hosts(hosts),
			draw.Track{Whole: hosts, Values: []string{words.Percent(away, hosts)}, Shares: treatments.Shares(m.By)})
	}
	f.Fit("these hosts")
	sums := []any{summary.Control, counters.SumIf("key NOT LIKE '% incomparable'", "let_in")}
	for _, key := range treatments.Keys() {
		sums = append(sums, counters.SumIf("key LIKE '% "+key+"'", key))
	}
	f.SQL = fmt.Sprintf("SELECT ltrim(split_part(key, ' ', 1), '%s') AS identity, key LIKE '%[1]s%%' AS is_control,\n"+
		"  %s, %s,\n  %s, %s,\n  %s, %s, %s\n%s\nGROUP BY ALL ORDER BY is_control DESC, identity",
		append(sums, d.from("answer_let_in", true))...)
	return f
}

// identityName names an identity beside its bar.
func identityName(name string, isControl bool) string {
	if isControl && name != "control" {
		return name + " (control)"
	}
	return name
}

// unsubtracted says that the shares of a figure are those of all answers, and what the
// control's would be.
func (d *data) unsubtracted() string {
	for _, m := range summary.MetOf(d.sums.By("answer_let_in", d.profile, counters.Key)) {
		if m.Control {
			hosts, away := m.Compared()
			return fmt.Sprintf("Nothing is subtracted here: the control, our own user agent once more, was turned away by "+
				"%s that let it in on paper.", words.ShareOf(away, hosts, "hosts"))
		}
	}
	return "There was no control, so nothing can be subtracted for hosts that refuse any second request."
}

// turnedAwayBy says by rank or by category how many answers turn an identity away, of those
// of hosts that let it in on paper. Controls do not count.
func (d *data) turnedAwayBy(id, column string, of func(counters.Label) string, name func(string) string) *draw.Figure {
	by := make(map[string]*summary.Met)
	for l, n := range d.sums["answer_let_in"] {
		if l.Profile != d.profile || strings.HasPrefix(l.Key, summary.Control) {
			continue
		}
		_, treatment, _ := strings.Cut(l.Key, " ")
		m := by[of(l)]
		if m == nil {
			m = new(summary.Met)
			by[of(l)] = m
		}
		m.Add(treatment, n)
	}
	if len(by) < 2 {
		return nil
	}
	keys := counters.Ascending(by)
	f := &draw.Figure{ID: id, Of: "Shares of the answers of hosts that let an identity in on paper, of all identities " +
		"but the control.", Note: d.unsubtracted(), Names: name,
		Head: []string{column, "answers", "turned_away"}}
	hostsOf, awayOf, letIn := make(map[string]int64), make(map[string]int64), make(map[string]int64)
	for _, k := range keys {
		hosts, away := by[k].Compared()
		hostsOf[k], awayOf[k], letIn[k] = hosts, away, hosts-away
		f.AddRow([]string{k}, hosts, away)
		f.AddBar(f.Cell(0, k), "of "+words.Count(hosts, "answer"),
			draw.Part("closed", "turned away", away, hosts, words.Percent(away, hosts)))
	}
	f.Fit("answers")
	f.Title = "No answer turns an identity away from robots.txt"
	if top := highest(keys, awayOf, hostsOf); top != nil && awayOf[top[0]] > 0 {
		told := func(tied []string) (names, share, each string) {
			k := tied[0]
			share = words.Percent(awayOf[k], hostsOf[k])
			for i := range tied {
				tied[i] = f.Cell(0, tied[i])
			}
			if len(tied) > 1 {
				each = " each"
			}
			return words.And(tied), share, each
		}
		least := highest(keys, letIn, hostsOf)
		same := least[0] == top[0]
		of := top[0]
		names, _, each := told(top)
		f.Title = fmt.Sprintf("%s: %s%s turn an identity away from robots.txt", names,
			words.ShareOf(awayOf[of], hostsOf[of], "answers"), each)
		if !same {
			names, share, each := told(least)
			f.Title += fmt.Sprintf("; %s: %s%s", names, share, each)
		}
	}
	shown, grouped, order := "coalesce(category, '') AS category", "ALL", "category"
	if column == "stratum" {
		shown, grouped, order = column, column, "TRY_CAST(split_part(stratum, '-', 1) AS BIGINT) NULLS LAST"
	}
	f.SQL = fmt.Sprintf("SELECT %s, %s,\n  %s\n%s AND key NOT LIKE '%s%%'\nGROUP BY %s ORDER BY %s", shown,
		counters.SumIf("key NOT LIKE '% incomparable'", "answers"),
		counters.SumIf("regexp_matches(key, ' (challenged|rate_limited|payment|refused|failing|unreached)$')", "turned_away"),
		d.from("answer_let_in", true), summary.Control, grouped, order)
	return f
}

// servedOtherwise says who serves another file to whom.
func (d *data) servedOtherwise() *draw.Figure {
	type said struct {
		name  string
		all   int64
		by    map[string]int64
		other int64 // files that mean something else
	}
	by := make(map[string]*said)
	for k, n := range d.sums.By("answer_policy", d.profile, counters.Key) {
		name, rest, _ := strings.Cut(k, " ")
		s := by[name]
		if s == nil {
			s = &said{name: strings.TrimPrefix(name, summary.Control), by: make(map[string]int64)}
			by[name] = s
		}
		bytes, policy, _ := strings.Cut(rest, " ")
		if bytes == "same_bytes" {
			policy = bytes
		}
		s.by[policy] += n
		if s.all += n; policy != "same_bytes" && policy != "equal" && policy != "undecided" && policy != "unknown" {
			s.other += n
		}
	}
	if len(by) == 0 {
		return nil
	}
	kinds := draw.Kinds{
		{Key: "same_bytes", Class: "allow", Name: "the same bytes"},
		{Key: "equal", Class: "open", Name: "other bytes, the same meaning"},
		{Key: "stricter", Class: "closed", Name: "stricter"},
		{Key: "looser", Class: "star", Name: "looser"}, {Key: "mixed", Class: "partly", Name: "stricter and looser"},
		{Key: "undecided", Class: "unknown", Name: "undecided"},
	}
	f := &draw.Figure{ID: "served-otherwise", Of: "Shares of the hosts that served a file to both, us and the identity.",
		Note: "The file that a host serves to an identity, against the one that it served to us: what it means to the " +
			"identity's agent. The control's bar, if there is one, shows how many serve another file to a second request of " +
			"our own; nothing is subtracted from the others.",
		Head: append([]string{"identity"}, kinds.Keys()...), Legend: kinds.Legend()}
	names := slices.Sorted(maps.Keys(by))
	otherOf, allOf := make(map[string]int64), make(map[string]int64)
	for _, name := range names {
		s := by[name]
		otherOf[name], allOf[name] = s.other, s.all
		f.AddRow([]string{s.name}, kinds.Numbers(s.by)...)
		f.AddBar(identityName(s.name, strings.HasPrefix(name, summary.Control)), "of "+words.Hosts(s.all),
			draw.Track{Whole: s.all, Shares: kinds.Shares(s.by), Values: []string{words.Percent(s.other, s.all) + " otherwise"}})
	}
	f.Fill("these hosts")
	f.Title = "No host serves a file of another meaning to an identity"
	if most := highest(names, otherOf, allOf); otherOf[most[0]] > 0 {
		top := by[most[0]]
		for i := range most {
			most[i] = by[most[i]].name
		}
		whom := top.name
		if len(most) > 1 {
			whom = "each of " + words.Tied(most, "identities")
		}
		f.Title = fmt.Sprintf("%s %s %s a file of another meaning",
			words.ShareOf(top.other, top.all, "the hosts that serve both a file"),
			words.AgreeOf(top.other, top.all, "serves", "serve"), whom)
	}
	var sums []string
	for _, k := range kinds.Keys() {
		condition := fmt.Sprintf("key LIKE '%% other_bytes %s'", k)
		if k == "same_bytes" {
			condition = "key LIKE '% same_bytes %'"
		}
		sums = append(sums, counters.SumIf(condition, k))
	}
	f.SQL = fmt.Sprintf("SELECT ltrim(split_part(key, ' ', 1), '%s') AS identity,\n  %s\n%s\n"+
		"GROUP BY split_part(key, ' ', 1) ORDER BY split_part(key, ' ', 1)", summary.Control, strings.Join(sums, ",\n  "),
		d.from("answer_policy", true))
	return f
}

// wallsFor shows which vendors' walls identities met.
func (d *data) wallsFor() *draw.Figure {
	all := d.sums.By("answer_challenge", d.profile, counters.Key)
	if len(all) == 0 {
		return nil
	}
	who := func(k string) string {
		who, _ := counters.CutLast(k)
		return strings.TrimPrefix(who, summary.Control)
	}
	wall := func(k string) string {
		_, vendor := counters.CutLast(k)
		return words.Challenge.Of(vendor)
	}
	name := func(k string) string { return who(k) + ": " + wall(k) }
	top, most, each := counters.Leading(all, name)
	share := words.ShareOf(most, d.hosts, "hosts")
	title := fmt.Sprintf("The commonest wall is that for %s, on %s", top, share)
	if each != "" {
		vendors := make(map[string]bool)
		for k, n := range all {
			if n == most {
				vendors[wall(k)] = true
			}
		}
		if len(vendors) == 1 { // which is said once
			top, _, _ = counters.Leading(all, who)
			top = fmt.Sprintf("%s (%s)", top, slices.Collect(maps.Keys(vendors))[0])
		}
		title = fmt.Sprintf("The commonest walls are those for %s, on %s each", top, share)
	}
	f := &draw.Figure{ID: "walls-for-identities", Of: fmt.Sprintf("Shares of %s.", d.all()), Names: name, Title: title,
		Note: "Walls that answered identities, on all hosts that were asked under them, whether or not they answered us " +
			"with a wall too. " + d.unsubtracted()}
	byKey(f, d.from("answer_challenge", true), "identity_and_vendor", "hosts", all, "closed", d.hosts)
	return f
}

// walls shows the hosts that could not be read for a wall, by vendor.
func (d *data) walls() *draw.Figure {
	all := d.sums.Walls(d.profile)
	n := sum(all)
	if n == 0 {
		return nil
	}
	f := &draw.Figure{
		ID: "walls", Of: fmt.Sprintf("Shares of %s.", d.all()), Names: words.Challenge.Of, Head: []string{"vendor", "hosts"},
		Title: fmt.Sprintf("A wall answered in place of the file on %s, which %s as unread",
			words.ShareOf(n, d.hosts, "hosts"), words.AgreeOf(n, d.hosts, "counts", "count")),
		Note: "A wall is a page that keeps robots out: a test, or a refusal by a product. It is known by marks in " +
			"header, status or page, which its vendor documents or others have observed; a wall without such a mark counts " +
			"as what its status says.",
	}
	for _, k := range counters.Ranked(all) {
		f.AddRow([]string{k}, all[k])
	}
	keyBars(f, all, "unknown", "hosts", d.hosts)
	f.SQL = fmt.Sprintf("SELECT split_part(key, ' ', 1) AS vendor, sum(count)::BIGINT AS hosts\n%s\n"+
		"GROUP BY vendor ORDER BY hosts DESC, vendor", d.from("challenge", true))
	f.Examples = d.examples.List("Examples", "status", "challenge", words.Challenge.Of, counters.Ranked(all)...)
	return f
}

// categoryOrNone returns the words for a category of agents, or for none.
func categoryOrNone(category string) string {
	if category == "" {
		return "no agent"
	}
	return words.Category.Of(category)
}
