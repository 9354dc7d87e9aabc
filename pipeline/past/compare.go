package past

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/journal"
)

// Differences says what differs between a run and an earlier one, in sentences without
// a full stop.
type Differences struct {
	before, after *Run

	Tables   []string // other versions of the tables, or another kind of source: nothing is comparable
	Hosts    []string // another choice of hosts (list, --limit, --sample): figures of all hosts are not comparable
	Editions []string // another edition of the list: a host may be in one run only
	Chosen   []Chosen // the same of stored answers that choose the hosts
	Asked    []string // settings under which the same hosts may give other answers
	Ranks    []string // another list of ranks: strata are not comparable
	Grouped  []string // another list of labels: values of labels are not comparable
	Notes    []string // settings that change few answers
	Reversed string   // the run before is the later one
}

// Chosen says that stored answers, whose inputs have a role, choose other hosts.
type Chosen struct{ Role, Text string }

// Compare compares two runs.
func Compare(before, after *Run) *Differences {
	d := &Differences{before: before, after: after}
	differ := func(to *[]string, what string, x, y any) {
		if x != y {
			*to = append(*to, fmt.Sprintf("%s: %v, then %v", what, x, y))
		}
	}
	differ(&d.Tables, "another version of the tables", before.SchemaVersion, after.SchemaVersion)
	if before.Source != "" && after.Source != "" {
		differ(&d.Tables, "another kind of source", before.Source, after.Source)
	}
	if unknown := slices.DeleteFunc([]*Run{before, after},
		func(r *Run) bool { return !r.isAgain() || r.Earlier != nil }); len(unknown) > 0 {
		d.Hosts = append(d.Hosts, fmt.Sprintf("run %s does not say which hosts the run had that it re-evaluates",
			unknown[0].Run))
	} else {
		differ(&d.Hosts, "another list of hosts", before.list("hosts"), after.list("hosts"))
		differ(&d.Hosts, "another --limit", before.Limit(), after.Limit())
		differ(&d.Hosts, "another --sample", before.Sample(), after.Sample())
	}
	for _, s := range journal.StoredSources {
		if x, y := before.list(s.Role), after.list(s.Role); s.Chooses != "" && x != y {
			d.Chosen = append(d.Chosen, Chosen{s.Role, fmt.Sprintf("another %s: %s, then %s", s.Chooses, x, y)})
			d.Editions = append(d.Editions, d.Chosen[len(d.Chosen)-1].Text)
		}
	}
	if d.EditionOf("hosts") {
		d.Editions = append(d.Editions, "another edition of the list of hosts")
	}
	differ(&d.Ranks, "another list of ranks", before.list("ranks"), after.list("ranks"))
	differ(&d.Grouped, "another list of labels", before.list("labels"), after.list("labels"))
	d.settings()
	if c := cmp.Or(before.Date.Compare(after.Date), cmp.Compare(before.Run, after.Run)); c > 0 {
		d.Reversed = fmt.Sprintf("the first run, %s of %s, is later than the second, %s of %s: what came reads as gone",
			before.Run, before.Date.Format(time.RFC3339), after.Run, after.Date.Format(time.RFC3339))
		if before.Date.Equal(after.Date) {
			d.Reversed = fmt.Sprintf("the runs %s and %s are of the same time, and the first has the later name: what came "+
				"may read as gone",
				before.Run, after.Run)
		}
	}
	return d
}

// All says why no figure of all hosts can be compared.
func (d *Differences) All() []string { return slices.Concat(d.Tables, d.Hosts, d.Asked) }

// EditionOf reports whether the runs have other editions of one list, of hosts or of
// ranks.
func (d *Differences) EditionOf(role string) bool {
	return d.before.list(role) == d.after.list(role) && d.before.edition(role) != d.after.edition(role)
}

// MayMiss says why a host of one run may not be in the other although it is neither new
// nor gone, or "".
func (d *Differences) MayMiss() string { return strings.Join(slices.Concat(d.Hosts, d.Editions), "; ") }

// Told says all that differs but for profiles and agents, for a comparison host by host.
func (d *Differences) Told() (out []string) {
	if d.Reversed != "" {
		out = append(out, d.Reversed)
	}
	if why := d.MayMiss(); why != "" {
		out = append(out, why+": hosts may be new or gone for that alone")
	}
	return slices.Concat(out, d.Tables, d.Asked, d.Ranks, d.Grouped, d.Notes)
}

var digits = regexp.MustCompile(`[0-9]+`)

// list names a list without its folder and with # for numbers: tranco-2026-11-01.csv
// and tranco-2026-11-08.csv are two editions of one list. Hosts that are arguments have
// no editions. A run that re-evaluates another one may choose from its hosts.
func (r *Run) list(role string) string {
	return r.eachInput(role, "none", func(in journal.Input) string {
		if in.Path == journal.NamedHosts {
			return fmt.Sprintf("%s (%.8s)", in.Path, in.SHA256)
		}
		return digits.ReplaceAllString(filepath.Base(filepath.ToSlash(in.Path)), "#")
	})
}

// edition returns the digest of a list, "" if it is not known.
func (r *Run) edition(role string) string {
	return r.eachInput(role, "", func(in journal.Input) string { return cmp.Or(in.SHA256, in.EndsSHA256) })
}

func (r *Run) eachInput(role, none string, text func(journal.Input) string) string {
	var texts []string
	for _, c := range r.Choices() {
		for _, in := range c.Inputs {
			if in.Role == role {
				texts = append(texts, text(in))
			}
		}
	}
	return cmp.Or(strings.Join(texts, " of "), none)
}

// Profile says why nothing can be compared under a profile, or nil.
func (d *Differences) Profile(name string) (out []string) {
	a, b := d.before, d.after
	x, y := fieldsOf(a.ProfileFields[name]), fieldsOf(b.ProfileFields[name])
	switch inA, inB := slices.Contains(a.Profiles, name), slices.Contains(b.Profiles, name); {
	case !inA && inB:
		return []string{"run " + a.Run + " has no profile " + name}
	case !inB:
		return []string{"run " + b.Run + " has no profile " + name}
	case x == nil || y == nil:
		if a.ToolVersion != b.ToolVersion || asJSON(a.Configuration["profiles"]) != asJSON(b.Configuration["profiles"]) {
			return []string{"a run does not say what the profile " + name + " was"}
		}
		return nil
	}
	if out = d.fields(name); y["by_agent"] == true {
		for _, reader := range d.readers() {
			out = append(out, d.fields(reader)...)
		}
	}
	return out
}

// fields says which recorded fields of a profile differ.
func (d *Differences) fields(name string) (out []string) {
	x, y := fieldsOf(d.before.ProfileFields[name]), fieldsOf(d.after.ProfileFields[name])
	names := maps.Clone(x)
	maps.Copy(names, y)
	for _, field := range slices.Sorted(maps.Keys(names)) {
		if before, after := asJSON(x[field]), asJSON(y[field]); before != after && !(isOff(x[field]) && isOff(y[field])) {
			out = append(out, fmt.Sprintf("profile %s: %s was %s and is %s", name, field, before, after))
		}
	}
	return out
}

// readers returns the profiles that may judge under own in both runs. An agent that has
// another one now has another entry (see [Differences.Entry]).
func (d *Differences) readers() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(d.after.ProfileFields)) {
		if d.before.ProfileFields[name] != nil && name != robots.Own {
			names = append(names, name)
		}
	}
	return names
}

// answering are the fields of a profile that neither say how a file is read nor what a
// status 4xx means.
var answering = func() map[string]bool {
	out := map[string]bool{"max_redirects": true}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[answer.Answers]()) {
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		out[name] = name != ""
	}
	for _, name := range []string{"too_many_requests", "unauthorized", "refused", "body_at", "content_types",
		"other_client_error"} {
		delete(out, name)
	}
	return out
}()

// ReadsAlike reports whether a profile takes files, and answers that there is none, in
// the same way in both runs, even if other answers may mean something else.
func (d *Differences) ReadsAlike(name string) bool {
	x, y := fieldsOf(d.before.ProfileFields[name]), fieldsOf(d.after.ProfileFields[name])
	if x == nil || y == nil {
		return d.Profile(name) == nil
	}
	if y["by_agent"] == true && slices.ContainsFunc(d.readers(),
		func(reader string) bool { return !d.ReadsAlike(reader) }) {
		return false
	}
	for _, fields := range []map[string]any{x, y} {
		maps.DeleteFunc(fields, func(field string, value any) bool { return answering[field] || isOff(value) })
	}
	return asJSON(x) == asJSON(y)
}

// Agent says why nothing can be compared for an agent, or "".
func (d *Differences) Agent(name string) string {
	if _, ok := d.before.Category[name]; !ok {
		return fmt.Sprintf("the registry of run %s has no %s", d.before.Run, name)
	}
	return d.Entry(name)
}

// Entry says how the entry of an agent changed that both runs have, or "".
func (d *Differences) Entry(name string) string {
	return d.after.Registry.change(d.before.Registry, name)
}

// Labels says why what files state about use cannot be compared, or "": the runs know
// other labels.
func (d *Differences) Labels() string {
	if asJSON(d.before.Configuration["uses"]) != asJSON(d.after.Configuration["uses"]) {
		return "the runs have labels about use of their own, and other ones"
	}
	return d.files("uses", "labels about use")
}

// States says why what files state to an agent about use cannot be compared, or "".
func (d *Differences) States(agent string) string {
	return cmp.Or(d.Labels(), d.Agent(agent), d.after.Registry.binds(d.before.Registry, agent))
}

// Templates says why it cannot be compared whose words files are, or "": the runs know
// other templates.
func (d *Differences) Templates() string { return d.files("templates", "templates") }

// Identities says why answers to identities cannot be compared, or "": the runs asked under
// others.
func (d *Differences) Identities() string {
	x, y := d.before.digests("identities"), d.after.digests("identities")
	if x == nil || y == nil || slices.Equal(x, y) { // a run that re-evaluates another does not record them
		return ""
	}
	return "the runs asked under other identities"
}

// Pages says why what identities meet on pages cannot be compared, or "": the runs asked for
// another page, or also where robots.txt shuts the agent out. A run that re-evaluates another one
// has the settings of that one. What is not known of a run is not compared.
func (d *Differences) Pages() string {
	for _, flag := range []string{"page", "pages"} {
		x, y := d.before.Configuration.Text(flag), d.after.Configuration.Text(flag)
		if x != "" && y != "" && x != y {
			return fmt.Sprintf("another --%s: %s, then %s", flag, x, y)
		}
	}
	return ""
}

// Sitemaps says why the pages that hosts list cannot be compared, or "": the runs read other
// numbers of sitemaps. A run that re-evaluates another one has its number. What is not known of a
// run is not compared.
func (d *Differences) Sitemaps() string {
	x, y := d.before.Configuration.Text("sitemaps"), d.after.Configuration.Text("sitemaps")
	if x == "" || y == "" || x == y {
		return ""
	}
	return fmt.Sprintf("another --sitemaps: %s, then %s", x, y)
}

// files says that the files of a role have other digests. A run that records none has those
// of its program.
func (d *Differences) files(role, what string) string {
	x, y := d.before.digests(role), d.after.digests(role)
	if (x == nil || y == nil) && d.before.ToolVersion == d.after.ToolVersion || slices.Equal(x, y) {
		return ""
	}
	return "the runs know other " + what
}

// digests returns the digests of the inputs of a role.
func (r *Run) digests(role string) (out []string) {
	for _, in := range r.Inputs {
		if in.Role == role {
			out = append(out, in.SHA256)
		}
	}
	return out
}

// Categories says why a category cannot be compared: its agents differ.
func (d *Differences) Categories() map[string]string {
	out := make(map[string]string)
	of := func(r *Run) map[string][]string {
		by := make(map[string][]string)
		for agent, category := range r.Category {
			by[category] = append(by[category], agent)
		}
		return by
	}
	before, after := of(d.before), of(d.after)
	for category, agents := range after {
		var changed []string
		for _, agent := range agents {
			switch was, ok := d.before.Category[agent]; {
			case !ok, was != category:
				changed = append(changed, agent+" is new")
			case d.Entry(agent) != "":
				changed = append(changed, "the entry of "+agent+" changed")
			}
		}
		for _, agent := range before[category] {
			if d.after.Category[agent] != category {
				changed = append(changed, agent+" is gone")
			}
		}
		slices.Sort(changed)
		if changed != nil {
			out[category] = "the category " + category + " changed: " + Some(changed, 5)
		}
	}
	return out
}

// Some joins texts, or the first few of many.
func Some(texts []string, most int) string {
	if more := len(texts) - most; more > 0 {
		return strings.Join(texts[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(texts, ", ")
}

func asJSON(v any) string {
	text, _ := json.Marshal(v) // read from JSON
	return string(text)
}
