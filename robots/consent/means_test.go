package consent

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
)

// What a document means for a path and a use, as the examples ask: the census keeps its statements,
// and does not weigh them.

// A meantDocument is a document with what its statements are of.
type meantDocument struct {
	*Document
	of any
}

func readMeant(kind Kind, body []byte, s Served) *meantDocument {
	d, of := read(kind, body, &s)
	return &meantDocument{d, of}
}

// A Question asks what is said of a path and a use.
type Question struct {
	Path  string
	Use   string // name of a use, or a label of the document's own
	Agent string // product token, "" for none that is named
	User  string // who runs the robot, "" for unknown (RSL)
	Geo   string // where, "" for unknown (RSL)
}

// An Answer is what is said. Unknown is nothing.
type Answer struct {
	Means     usage.Preference
	Remarks   []string
	Policy    string // URL of the conditions
	Raw       string // value that says so
	Condition string // type of payment, of what is allowed
}

// Means returns what a document says of a path and a use.
func (d *meantDocument) Means(q Question) Answer {
	if d.of == nil {
		return Answer{}
	}
	return d.of.(interface{ means(q *Question) Answer }).means(&q)
}

// matches returns the patterns that match a path, in ascending order, by length.
func (p patterns) matches(path string) map[int]int32 {
	all := make(map[int]int32)
	t := profile.LiteralTarget(hostOf(path))
	p.all.Each(&t, func(i int, length int32) { all[i] = length })
	return all
}

func (m *tdmRep) means(q *Question) (a Answer) {
	first, longest := m.locations.first(q.Path)
	if first < 0 || q.Use != usage.AITrain.String() {
		return a
	}
	r := &m.rules[first]
	a = Answer{Means: r.preference, Raw: r.raw}
	if r.remark != "" {
		a.Remarks = append(a.Remarks, r.remark)
	}
	if r.preference == usage.Refuses {
		a.Policy = r.policy
	}
	if m.rules[longest].preference != r.preference {
		a.Remarks = append(a.Remarks, remarkOrder)
	}
	return a
}

func (m *spawning) means(q *Question) (a Answer) {
	if q.Use != usage.AITrain.String() {
		return a
	}
	tokens := []string{q.Agent}
	if q.Agent == "" {
		tokens = []string{"*"} // no name: the group for all
	}
	judge := robots.NewJudge(profile, []robots.Agent{{Tokens: tokens}})
	judge.Load(&m.file)
	t := profile.LiteralTarget(hostOf(q.Path))
	v := judge.Policy(0).Judge(&t)
	if v.Rule < 0 {
		return a
	}
	r := &m.file.Rules[v.Rule]
	if a.Means, a.Raw = usage.Refuses, string(r.Pattern); r.Kind == robots.Allow {
		a.Means = usage.Allows
	}
	return a
}

// chain returns the blocks that speak for an agent, the nearest first.
func (m *car) chain(agent string) (all []*carBlock) {
	for _, name := range []string{strings.ToLower(agent), "*"} {
		if b := m.agents[name]; b != nil && (name != "*" || !slices.Contains(all, b)) {
			all = append(all, b)
		}
	}
	return append(all, &m.site)
}

func (m *car) means(q *Question) (a Answer) {
	field := q.Use
	if field == usage.AITrain.String() {
		field = "training"
	}
	if !slices.Contains(carPolicies, field) {
		return a
	}
	if m.required {
		a.Remarks = append(a.Remarks, remarkRequired)
	}
	chain := m.chain(q.Agent)
	for _, b := range chain {
		f, stated := b.policies[field]
		p, conditional, ok := preferenceOf(f.value)
		if stated && !ok {
			a.Remarks = append(a.Remarks, remarkValue)
		}
		if !ok {
			continue
		}
		a.Means, a.Raw = p, f.value
		if conditional && field == "training" {
			a.Means, a.Policy = m.onPath(chain, q.Path), b.fee
		}
		return a
	}
	a.Remarks = append(a.Remarks, remarkDefault)
	if a.Means = usage.Allows; field == "training" {
		a.Means = usage.Refuses
	}
	return a
}

// onPath returns what the patterns of the nearest block that has some say of a path: the
// longest that matches decides, deny among equals, and deny where none does.
func (m *car) onPath(chain []*carBlock, path string) usage.Preference {
	for _, b := range chain {
		if len(b.allow)+len(b.deny) == 0 {
			continue
		}
		allowed, denied := longestGlob(b.allow, path), longestGlob(b.deny, path)
		if allowed > denied {
			return usage.Allows
		}
		return usage.Refuses
	}
	return usage.Refuses
}

// longestGlob returns the length of the longest pattern that matches the whole of a path,
// -1 for none.
func longestGlob(all []carField, path string) int {
	var texts []string
	for _, f := range all {
		texts = append(texts, strings.TrimSuffix(f.value, "$")+"$")
	}
	longest := -1
	for i := range compile(texts).matches(path) {
		longest = max(longest, len(all[i].value))
	}
	return longest
}

func (m *trust) means(q *Question) Answer {
	if q.Use != usage.AITrain.String() {
		return Answer{}
	}
	return Answer{Means: m.says, Raw: m.raw}
}

func (m *rslTerms) compile() patterns {
	var paths []string
	for _, c := range m.contents {
		switch {
		case c.foreign:
			paths = append(paths, "") // matches nothing
		case c.path == "":
			paths = append(paths, "*") // the page or item that holds it
		default:
			paths = append(paths, c.path)
		}
	}
	return compile(paths)
}

func (m *rslTerms) means(q *Question) (a Answer) {
	if !m.isAssociated {
		return a
	}
	matching := m.compile().matches(q.Path)
	order := slices.SortedFunc(maps.Keys(matching), func(i, j int) int {
		return cmp.Or(int(matching[j]-matching[i]), i-j)
	})
	length := int32(-1)
	for _, i := range order {
		if a.Means != usage.Unknown && matching[i] < length {
			break // a broader path
		}
		v := m.contents[i].says(q.Use, q.User, q.Geo)
		if v.says == usage.Unknown {
			continue
		}
		if length = matching[i]; a.Means == usage.Unknown || rank(v.says) > rank(a.Means) {
			a = Answer{Means: v.says, Condition: v.condition}
			if v.remark != "" {
				a.Remarks = append(a.Remarks, v.remark)
			}
		}
	}
	return a
}
