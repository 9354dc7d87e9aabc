package report

import (
	"fmt"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/summary"
)

// documentKinds are what a document may be found to be, with their classes.
var documentKinds = []struct {
	class    string
	outcomes []consent.Outcome
}{
	{"allow", []consent.Outcome{consent.Present}}, {"partly", []consent.Outcome{consent.Invalid}},
	{"star", []consent.Outcome{consent.Soft404}},
	{"open", []consent.Outcome{consent.Absent}}, {"closed", []consent.Outcome{consent.Refused}},
	{"unknown", []consent.Outcome{consent.Unreachable, consent.NotAsked, consent.Uncaptured}},
}

// documents shows which documents of consent hosts have (--documents), each of the hosts
// that were to be asked for it.
func (d *data) documents() *draw.Figure {
	all := d.sums.By("document", d.profile, counters.Key)
	if len(all) == 0 {
		return nil
	}
	by, asked := make(map[string]map[string]int64), make(map[string]int64)
	for k, n := range all {
		name, outcome, _ := strings.Cut(k, " ")
		if by[name] == nil {
			by[name] = make(map[string]int64)
		}
		by[name][outcome] += n
		asked[name] += n
	}
	f := &draw.Figure{
		ID: "documents", Of: "Shares of the hosts that were to be asked for each document.", Names: documentName,
		Head: []string{"document", "hosts"},
		Note: "A document is there if the answer is 200, has the shape of its kind, and is not the page that the host " +
			"gives at a path of the same folder and extension that cannot exist: a host with its home page for everything " +
			"has none of them. " +
			"It was asked for only where robots.txt lets this census fetch it. In archives that another program wrote nothing " +
			"tells a document from such a page: all that they hold count as there, if they have the shape.",
	}
	for _, k := range documentKinds {
		f.Legend = append(f.Legend, draw.Legend{Class: k.class, Name: documentWord(k.outcomes[0])})
	}
	there := make(map[string]int64)
	for name := range by {
		if n := by[name][string(consent.Present)]; n > 0 {
			there[name] = n
		}
	}
	beside, isBar := "", there["page"] > 0 // the front page, which has a bar and is no document
	if delete(there, "page"); isBar {
		beside = ", but for their front pages,"
	}
	f.Title = "No host has one of the documents that it was asked for" + strings.TrimSuffix(beside, ",")
	if len(there) > 0 {
		// Not all are asked of the same hosts: licences only of those that name one.
		leading, n, each := counters.Leading(there, documentName)
		f.Title = fmt.Sprintf("What most hosts have of these%s is %s: %s%s", beside, leading, words.Hosts(n), each)
	}
	for _, name := range counters.Ranked(asked) {
		track := draw.Track{Whole: asked[name],
			Values: []string{words.Percent(by[name][string(consent.Present)], asked[name])}}
		for _, k := range documentKinds {
			n := int64(0)
			for _, outcome := range k.outcomes {
				n += by[name][string(outcome)]
			}
			track.Shares = append(track.Shares, draw.Share{Class: k.class, Name: documentWord(k.outcomes[0]), N: n})
		}
		f.AddBar(name, words.Count(asked[name], "host"), track)
	}
	f.Fill("hosts")
	keyRows(f, d.from("document", false), "document", "hosts", all)
	f.Examples = d.examples.List("Examples", "URL", "document", func(name string) string { return name },
		counters.Ranked(there)...)
	return f
}

func documentWord(outcome consent.Outcome) string {
	if outcome == consent.Unreachable {
		return "no answer, or not asked for"
	}
	return words.DocumentOutcome.Of(string(outcome))
}

// documentName returns the display name of a key of the metric document.
func documentName(key string) string {
	name, outcome, ok := strings.Cut(key, " ")
	if !ok {
		return key
	}
	return name + ": " + words.DocumentOutcome.Of(outcome)
}

// documentRefusals shows in which places hosts refuse the training of models, of those that
// were asked for documents, robots.txt among them.
func (d *data) documentRefusals() *draw.Figure {
	sets := d.sums.By("document_refusal", d.profile, counters.Key)
	if len(sets) == 0 {
		return nil
	}
	hosts, refusing, beside := sum(sets), int64(0), int64(0)
	in, alone := make(map[string]int64), make(map[string]int64)
	for set, n := range sets {
		places := summary.Refusing(set)
		if places == nil {
			continue
		}
		if refusing += n; places[0] != summary.InRobots {
			beside += n
		}
		for _, place := range places {
			in[place] += n
			if len(places) == 1 {
				alone[place] += n
			}
		}
	}
	f := &draw.Figure{
		ID: "document-refusals", Of: fmt.Sprintf("Shares of the %s that were to be asked for documents and are judged.",
			words.Count(hosts, "host")), Names: placesName,
		Note: "A place counts that refuses the training of models to some agent on some path: robots.txt in any of the " +
			"ways of the figure on refusals, and beside it header and HTML of the front page " +
			"and the documents that hosts have. A licence counts by the terms in it: where nobody has read them, it refuses " +
			"nothing here. Documents that nobody names, and defaults that nobody has written, do not count.",
		Legend: []draw.Legend{{Class: "closed", Name: "in this place alone"},
			{Class: "star", Name: "in this place and others"}, {Class: "partly", Name: "in exactly these places"},
			{Class: "unknown", Name: "not known: nobody has read the licence"}},
		Title: fmt.Sprintf("No host of %s refuses AI training", words.Number(hosts)),
	}
	if refusing > 0 {
		f.Title = fmt.Sprintf("AI training is refused by %s; by %s elsewhere than in robots.txt alone",
			words.OfHosts(refusing, hosts), words.Number(beside))
	}
	unread := sets[summary.UnreadTerms]
	if unread > 0 {
		f.Title += fmt.Sprintf("; %s more %s a licence whose terms nobody has read", words.Number(unread),
			words.Agree(unread, "names", "name"))
	}
	for _, place := range counters.Ranked(in) {
		f.AddBar(placesName(place), "", draw.Track{
			Whole: hosts, Shares: []draw.Share{{Class: "closed", Name: "in this place alone", N: alone[place]},
				{Class: "star", Name: "in this place and others", N: in[place] - alone[place]}},
			Values: []string{words.Percent(in[place], hosts)},
		})
	}
	for _, set := range counters.Ranked(sets) {
		if strings.Contains(set, "+") {
			n := sets[set]
			f.AddBar(placesName(set), "", draw.Part("partly", "in exactly these places", n, hosts, words.Percent(n, hosts)))
		}
	}
	if unread > 0 {
		f.AddBar(placesName(summary.UnreadTerms), "",
			draw.Part("unknown", "not known", unread, hosts, words.Percent(unread, hosts)))
	}
	f.Fit("hosts")
	f.Shorten()
	keyRows(f, d.from("document_refusal", true), "places", "hosts", sets)
	return f
}

// documentContraries shows the hosts that refuse the training of models in one place and
// permit it in another.
func (d *data) documentContraries() *draw.Figure {
	pairs := d.sums.By("document_contrary", d.profile, counters.Key)
	if len(pairs) == 0 {
		return nil
	}
	hosts := sum(d.sums.By("document_refusal", d.profile, counters.Key))
	keys := counters.Ranked(pairs)
	f := &draw.Figure{
		ID: "document-contraries", Of: fmt.Sprintf("Shares of the %s that were to be asked for documents and are judged.",
			words.Count(hosts, "host")), Names: contraryName,
		Note: "One place refuses the training of models to some agent on some path, another permits it, free or for " +
			"money. The paths may differ: then both may be meant.",
		Legend: []draw.Legend{{Class: "star", Name: "hosts"}},
		Title: fmt.Sprintf("What is said in two places differs most often so: %s, on %s", contraryName(keys[0]),
			words.OfHosts(pairs[keys[0]], hosts)),
	}
	byKey(f, d.from("document_contrary", true), "places", "hosts", pairs, "star", hosts)
	f.Examples = d.examples.List("Examples", "statements", "document_contrary", contraryName, keys...)
	return f
}

// placesName returns the display name of a set of places.
func placesName(set string) string {
	switch set {
	case summary.NoPlace:
		return "nowhere"
	case summary.UnreadTerms:
		return "nowhere, but robots.txt names a licence whose terms nobody has read"
	}
	places := strings.Split(set, "+")
	for i, place := range places {
		if place != summary.InRobots {
			places[i] = words.Mechanism.Of(place)
		}
	}
	return strings.Join(places, " + ")
}

// contraryName returns the display name of a place that refuses and one that permits.
func contraryName(pair string) string {
	refusing, permitting, _ := strings.Cut(pair, " ")
	return placesName(refusing) + " refuses, " + placesName(permitting) + " permits"
}
