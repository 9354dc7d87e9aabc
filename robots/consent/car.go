package consent

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/usage"
)

// carFields are the fields of draft-car-ai-txt-wellknown that no other form has.
var carFields = []string{"site-name", "site-url", "spec-version", "training", "training-allow", "training-deny",
	"training-license", "training-fee",
	"scraping", "indexing", "caching", "agent", "ai-disclosure"}

// carPolicies are the fields that allow or deny: the first speaks of a use, the others
// have names of their own. Without one, the draft denies training and allows the rest.
var carPolicies = []string{"training", "scraping", "indexing", "caching"}

// car is the meaning of an ai.txt by the draft.
type car struct {
	site     carBlock
	agents   map[string]*carBlock // by name, in lower case
	required bool                 // a field that the draft requires is missing
}

// A carBlock is the fields of the site, or of an agent.
type carBlock struct {
	policies    map[string]carField
	allow, deny []carField
	fields      map[string]bool
	fee         string
}

type carField struct {
	value string
	line  int
}

func newCarBlock() *carBlock {
	return &carBlock{policies: make(map[string]carField), fields: make(map[string]bool)}
}

// set sets a field. The first of several counts, but for patterns.
func (b *carBlock) set(name, value string, line int) {
	b.fields[name] = true
	switch {
	case slices.Contains(carPolicies, name):
		if _, known := b.policies[name]; !known {
			b.policies[name] = carField{strings.ToLower(value), line}
		}
	case name == "training-allow" && len(b.allow) < maxStatements:
		b.allow = append(b.allow, carField{value, line})
	case name == "training-deny" && len(b.deny) < maxStatements:
		b.deny = append(b.deny, carField{value, line})
	case name == "training-fee" || name == "training-license":
		b.fee = short(value)
	}
}

// readCar reads the fields of a text. An indented line is of the agent above it.
func readCar(d *Document, body []byte) any {
	m := &car{site: *newCarBlock(), agents: make(map[string]*carBlock)}
	var block *carBlock
	for line := range lines(body) {
		text := strings.TrimSpace(line.text)
		name, value, ok := strings.Cut(text, ":")
		if text == "" || text[0] == '#' || !ok {
			continue
		}
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch isIndented := line.text[0] == '\t' || strings.HasPrefix(line.text, "  "); {
		case isIndented && block != nil:
			block.set(name, value, line.number)
		case name == "agent":
			block = m.agent(value)
		default:
			m.site.set(name, value, line.number)
			block = nil
		}
	}
	m.required = !m.site.fields["site-name"] || !m.site.fields["site-url"]
	m.close(d)
	return m
}

// agent returns the block of an agent.
func (m *car) agent(name string) *carBlock {
	name = strings.ToLower(short(name))
	b := m.agents[name]
	if b == nil {
		b = newCarBlock()
		if len(m.agents) < maxStatements {
			m.agents[name] = b
		}
	}
	return b
}

// readCarJSON reads the companion in JSON.
func readCarJSON(d *Document, body []byte) any {
	type policies map[string]any
	var in struct {
		SpecVersion string `json:"specVersion"`
		Site        *struct{ Name, URL string }
		Policies    policies
		Paths       *struct{ Allow, Deny []string } `json:"trainingPaths"`
		Agents      map[string]policies
	}
	if err := json.Unmarshal(body, &in); err != nil {
		d.Invalid = "not_json"
		return nil
	}
	if in.Site == nil && in.Policies == nil && in.SpecVersion == "" {
		d.Invalid = "other_json"
		return nil
	}
	d.Form = FormCar
	m := &car{site: *newCarBlock(), agents: make(map[string]*carBlock)}
	add := func(b *carBlock, all policies) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if value, ok := all[name].(string); ok {
				b.set(strings.ToLower(name), value, 0)
			}
		}
	}
	add(&m.site, in.Policies)
	for _, name := range slices.Sorted(maps.Keys(in.Agents)) {
		add(m.agent(name), in.Agents[name])
	}
	if in.Paths != nil {
		for _, p := range in.Paths.Allow {
			m.site.set("training-allow", p, 0)
		}
		for _, p := range in.Paths.Deny {
			m.site.set("training-deny", p, 0)
		}
	}
	m.required = in.Site == nil || in.Site.Name == "" || in.Site.URL == ""
	m.close(d)
	return m
}

// close adds the statements of a document that has been read.
func (m *car) close(d *Document) {
	if m.required {
		d.remark(remarkRequired)
	}
	m.site.state(d, "*", true)
	for _, name := range slices.Sorted(maps.Keys(m.agents)) {
		m.agents[name].state(d, name, false)
	}
}

// preferenceOf returns what the value of a policy says.
func preferenceOf(value string) (p usage.Preference, conditional, ok bool) {
	switch value {
	case "allow":
		return usage.Allows, false, true
	case "deny":
		return usage.Refuses, false, true
	case "conditional":
		return usage.Refuses, true, true
	}
	return usage.Unknown, false, false
}

// state adds the statements of a block. A default is none: it has a row without a
// preference, with a remark.
func (b *carBlock) state(d *Document, agent string, isSite bool) {
	for _, name := range carPolicies {
		f, stated := b.policies[name]
		use := usage.NoUse
		if name == "training" {
			use = usage.AITrain
		}
		s := Statement{Mechanism: usage.Car, Agent: agent, Line: f.line, Statement: usage.Statement{Label: name, Use: use,
			Value: f.value}}
		switch p, conditional, ok := preferenceOf(f.value); {
		case !stated && !(isSite && use != usage.NoUse):
			continue
		case !stated:
			s.Remark = remarkDefault
		case !ok:
			s.Remark = remarkValue
			d.remark(remarkValue)
		default:
			if s.Preference = p; conditional {
				s.Remark = remarkConditional
				b.statePaths(d, agent)
			}
		}
		d.state(s)
	}
}

func (b *carBlock) statePaths(d *Document, agent string) {
	add := func(all []carField, label string, p usage.Preference) {
		for _, f := range all {
			d.state(Statement{Mechanism: usage.Car, Agent: agent, Path: short(f.value), Line: f.line,
				Statement: usage.Statement{Label: label, Use: usage.AITrain, Preference: p, Value: short(f.value)}})
		}
	}
	add(b.allow, "training-allow", usage.Allows)
	add(b.deny, "training-deny", usage.Refuses)
}

// A textLine is a line of a text.
type textLine struct {
	text   string // without its end
	number int
}

// lines returns the lines of a text.
func lines(body []byte) iter.Seq[textLine] {
	return func(yield func(textLine) bool) {
		n := 0
		for line := range bytes.Lines(body) {
			n++
			if text := strings.TrimRight(string(line), "\r\n"); !yield(textLine{text, n}) {
				return
			}
		}
	}
}
