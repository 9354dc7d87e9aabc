package consent

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"

	"github.com/robocensus/robocensus/robots/usage"
)

// Names of the report: members of a rule, headers, and names of meta elements.
const (
	tdmReservation = "tdm-reservation"
	tdmPolicy      = "tdm-policy"
)

// tdmRep is the meaning of a tdmrep.json: the first rule that matches decides.
type tdmRep struct {
	rules     []tdmRule
	locations patterns
}

type tdmRule struct {
	location, raw, policy string
	preference            usage.Preference // Unknown if rights are not reserved
	remark                string
}

// readTDMRep reads an array of rules. A rule that is none is passed over; if no other is
// left, the document is invalid.
func readTDMRep(d *Document, body []byte, _ *Served) any {
	in := json.NewDecoder(bytes.NewReader(body))
	if token, err := in.Token(); err != nil || token != json.Delim('[') {
		d.Invalid = "no_array"
		if err != nil {
			d.Invalid = "not_json"
		}
		return nil
	}
	m := &tdmRep{}
	for n := 0; in.More(); n++ {
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			d.Invalid = "not_json"
			return nil
		}
		if n >= maxStatements {
			d.remark(remarkLimit)
			continue
		}
		line := lineOf(body, in.InputOffset()-int64(len(raw)))
		rule, ok := d.tdmRule(raw)
		if !ok {
			d.remark(remarkRule)
			d.state(Statement{Mechanism: usage.TDMRep, Line: line,
				Statement: usage.Statement{Label: tdmReservation, Use: usage.NoUse, Value: short(string(raw)), Remark: remarkRule}})
			continue
		}
		m.rules = append(m.rules, rule)
		d.state(Statement{Mechanism: usage.TDMRep, Path: rule.location, Line: line,
			Statement: usage.Statement{Label: tdmReservation, Use: usage.AITrain, Preference: rule.preference, Value: rule.raw,
				Remark: rule.remark}})
		if rule.policy != "" && rule.preference == usage.Refuses {
			d.state(Statement{Mechanism: usage.TDMRep, Path: rule.location, Line: line,
				Statement: usage.Statement{Label: tdmPolicy, Use: usage.NoUse, Value: rule.policy}})
		}
	}
	if _, err := in.Token(); err != nil {
		d.Invalid = "not_json"
		return nil
	}
	if _, err := in.Token(); err != io.EOF {
		d.Invalid = "not_json"
		return nil
	}
	if len(m.rules) == 0 && len(d.Statements) > 0 {
		d.Invalid = "no_rule"
		return nil
	}
	var locations []string
	for _, r := range m.rules {
		locations = append(locations, r.location)
	}
	m.locations = compile(locations)
	d.findOrder(m)
	return m
}

// tdmRule reads a rule. It reports false for what is none.
func (d *Document) tdmRule(raw []byte) (r tdmRule, ok bool) {
	in := json.NewDecoder(bytes.NewReader(raw))
	if token, _ := in.Token(); token != json.Delim('{') {
		return r, false
	}
	members := make(map[string]json.RawMessage)
	for in.More() {
		name, err := in.Token()
		var value json.RawMessage
		if err != nil || in.Decode(&value) != nil {
			return r, false
		}
		key, _ := name.(string)
		if _, known := members[key]; known && (key == "location" || key == tdmReservation || key == tdmPolicy) {
			d.remark(remarkRepeated)
		}
		if key == "location" || key == tdmReservation || key == tdmPolicy {
			members[key] = value
		}
	}
	value, reserved := members[tdmReservation]
	if !reserved || json.Unmarshal(members["location"], &r.location) != nil || r.location == "" {
		return r, false
	}
	_ = json.Unmarshal(members[tdmPolicy], &r.policy) // one that is no text is none
	r.raw = short(string(value))
	r.preference, r.remark = reservation(r.raw)
	if r.location[0] != '/' && r.location[0] != '*' {
		r.preference, r.remark = usage.Unknown, remarkPath
		if isURL(r.location) {
			r.remark = remarkAbsolute
		}
	}
	if r.remark != "" {
		d.remark(r.remark)
	}
	return r, true
}

// reservation returns what a value says: 1 reserves the rights, 0 does not and states
// nothing here, any other counts as unset.
func reservation(raw string) (p usage.Preference, remark string) {
	n, err := strconv.ParseFloat(raw, 64)
	switch {
	case err == nil && n == 1:
		return usage.Refuses, ""
	case err == nil && n == 0:
		return usage.Unknown, ""
	}
	return usage.Unknown, remarkValue
}

// findOrder remarks the rules that are never reached: an earlier one matches their own
// location, and says otherwise.
func (d *Document) findOrder(m *tdmRep) {
	at := make(map[int]int) // by rule: its statement
	n := 0
	for i, s := range d.Statements {
		if s.Label == tdmReservation && s.Remark != remarkRule {
			at[n] = i
			n++
		}
	}
	for i, r := range m.rules {
		if first, longest := m.locations.first(literalOf(r.location)); first >= 0 && first < i && longest == i &&
			m.rules[first].preference != r.preference && at[i] < len(d.Statements) {
			d.remark(remarkOrder)
			if s := &d.Statements[at[i]]; s.Remark == "" {
				s.Remark = remarkOrder
			}
		}
	}
}

// literalOf returns a path that a pattern matches.
func literalOf(pattern string) string {
	out := []byte(pattern)
	for i, c := range out {
		if c == '*' {
			out[i] = 'x'
		}
	}
	return string(bytes.TrimSuffix(out, []byte("$")))
}

// short bounds a value that is kept as written.
func short(s string) string {
	const most = 2 << 10
	if len(s) > most {
		return s[:most]
	}
	return s
}
