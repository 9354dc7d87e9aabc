package consent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
)

// Forms of an ai.txt. Only the first two state anything.
const (
	FormSpawning = "spawning" // robots.txt's grammar, about the training of models
	FormCar      = "car"      // draft-car-ai-txt-wellknown, or its companion in JSON
	FormINI      = "ini"      // sections in brackets
	FormKeys     = "keys"     // lines such as Allow-Training: yes
	FormProse    = "prose"    // a text for readers, such as Markdown
	FormNone     = "none"     // nothing
)

// readAITxt finds the grammar of an ai.txt, by the first line that has one.
func readAITxt(d *Document, body []byte, _ *Served) any {
	switch text := bytes.TrimSpace(body); {
	case len(text) == 0:
		d.Form = FormNone
		d.remark(remarkEmpty)
		return nil
	case !utf8.Valid(cutRune(text)) || bytes.IndexByte(text, 0) >= 0:
		d.Invalid = "not_text"
		return nil
	case text[0] == '{':
		return readCarJSON(d, text)
	case text[0] == '<':
		d.Invalid = "markup"
		return nil
	}
	switch d.Form = formOf(body); d.Form {
	case FormSpawning:
		return readSpawning(d, body)
	case FormCar:
		return readCar(d, body)
	}
	return nil
}

// cutRune removes the beginning of a character at the end of a text that was cut.
func cutRune(text []byte) []byte {
	if n := len(text); n > utf8.UTFMax {
		for i := n - 1; i >= n-utf8.UTFMax; i-- {
			if utf8.RuneStart(text[i]) {
				if !utf8.FullRune(text[i:]) {
					return text[:i]
				}
				break
			}
		}
	}
	return text
}

// formOf returns the form of a text that is not empty. A line Training, or a field that no
// other form has, makes it a Car; a group of user agents comes first.
func formOf(body []byte) string {
	form := FormProse
	for line := range lines(body) {
		text := strings.TrimSpace(line.text)
		if text == "" || text[0] == '#' {
			continue
		}
		if text[0] == '[' && strings.HasSuffix(text, "]") && form == FormProse {
			return FormINI
		}
		name, _, ok := strings.Cut(text, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		switch {
		case !ok:
		case name == "user-agent":
			return FormSpawning
		case slices.Contains(carFields, name):
			return FormCar
		case isKey(name) && keyWords(name):
			form = FormKeys
		}
	}
	return form
}

// isKey reports whether a text may be the name of a field.
func isKey(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// keyWords reports whether the name of a field speaks of what a model may do.
func keyWords(name string) bool {
	for _, word := range []string{"allow", "disallow", "deny", "train", "policy", "permission", "license"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// spawning is the meaning of an ai.txt in robots.txt's grammar, for the training of models.
type spawning struct{ file robots.File }

func readSpawning(d *Document, body []byte) any {
	m := &spawning{}
	m.file.Parse(bytes.Clone(body), profile)
	f := &m.file
	if len(f.Groups) == 0 {
		d.Invalid = "no_group"
		return nil
	}
	for i := range f.Rules {
		r := &f.Rules[i]
		if r.Group < 0 || len(r.Pattern) == 0 {
			continue
		}
		s := Statement{Mechanism: usage.Spawning, Agent: m.agentOf(r.Group), Path: string(r.Pattern), Line: int(r.Line),
			Statement: usage.Statement{Label: "disallow", Use: usage.AITrain, Preference: usage.Refuses,
				Value: string(r.Pattern)}}
		switch {
		case !r.Effective:
			s.Preference, s.Remark = usage.Unknown, remarkPath
		case r.Kind == robots.Allow:
			s.Label, s.Preference = "allow", usage.Allows
		}
		d.state(s)
	}
	return m
}

// agentOf returns for whom a group is: * if it is for all, else its first name.
func (m *spawning) agentOf(group int32) string {
	agents := m.file.Agents[m.file.Groups[group].Agents.From:m.file.Groups[group].Agents.To]
	for i := range agents {
		if string(agents[i].Wide) == "*" {
			return "*"
		}
	}
	if len(agents) == 0 {
		return ""
	}
	return strings.ToLower(string(agents[0].Wide))
}

// readAnyJSON reads a text of JSON, whatever it says.
func readAnyJSON(d *Document, body []byte, _ *Served) {
	if !json.Valid(body) {
		d.Invalid = "not_json"
	}
}

// readText reads a text, whatever it says.
func readText(d *Document, body []byte, _ *Served) {
	switch text := bytes.TrimSpace(body); {
	case len(text) == 0:
		d.Invalid = remarkEmpty
	case !utf8.Valid(cutRune(text)) || bytes.IndexByte(text, 0) >= 0:
		d.Invalid = "not_text"
	}
}
