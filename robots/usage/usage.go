package usage

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dunglas/httpsfv"
	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// A Use is what may be done with what is fetched.
type Use uint8

const (
	AITrain Use = iota // to train a model
	AIInput            // to ground the answer of a model
	Search             // to find it

	NumUses = iota // the number of uses

	NoUse Use = NumUses // in a Vocabulary, of a label that states nothing
)

func (u Use) String() string { return [NumUses]string{"ai-train", "ai-input", "search"}[u] }

// A Mechanism is a way to state a preference.
type Mechanism uint8

const (
	NoMechanism   Mechanism = iota
	ContentUsage            // Content-Usage: [/path] dictionary (draft-ietf-aipref-attach)
	ContentSignal           // Content-Signal: key=value, …
	License                 // License: URL (RSL)
	PolicyToken             // a group for a token that stands for a use
	PageHeader              // a header of a page, which is not part of robots.txt

	// Package consent reads these.
	PageMeta // an element of a page's HTML
	TDMRep   // a rule of tdmrep.json
	RSL      // a licence of an RSL document
	Spawning // a rule of an ai.txt in Spawning's grammar, that of robots.txt
	Car      // a field of an ai.txt by draft-car-ai-txt-wellknown
	TrustTxt // a line of trust.txt
)

func (m Mechanism) String() string {
	return [...]string{"", "content-usage", "content-signal", "license", "token", "header", "meta",
		"tdmrep", "rsl", "ai.txt-spawning", "ai.txt-car", "trust.txt"}[m]
}

// A Preference is what is stated about a use.
type Preference uint8

const (
	Unknown Preference = iota
	Allows
	Refuses
	Priced // allowed for money, or with a licence that must be got first; not in robots.txt
)

func (p Preference) String() string { return [...]string{"unknown", "allow", "disallow", "priced"}[p] }

// A Label is the name that a mechanism gives to a use. A content signal's is in lower
// case.
type Label struct {
	Mechanism Mechanism
	Name      string
}

// A Vocabulary says which use a label stands for: NoUse for a label of an earlier draft.
// Drafts move, so it is data. A label that it lacks is kept under its name too.
type Vocabulary map[Label]Use

// A Line is a line about use: Content-Usage, Content-Signal or License.
type Line struct {
	Line, Group int32 // Group is -1 before the first group
	Mechanism   Mechanism
	Value       []byte // as written
}

// Path returns the path that a line of Content-Usage is about, nil for none, and the rest
// of the line: its dictionary.
func (u *Line) Path() (path, rest []byte) {
	if u.Mechanism != ContentUsage || len(u.Value) == 0 || u.Value[0] != '/' {
		return nil, u.Value
	}
	return ascii.CutWord(u.Value)
}

// Remarks about lines and labels.
const (
	RemarkNotParsed    = "not_parsed"    // it is not a dictionary, so its labels are unknown
	RemarkNoStatement  = "no_statement"  // it has no label
	RemarkOldLabel     = "old_label"     // of an earlier draft: it states nothing today
	RemarkUnknownLabel = "unknown_label" // the vocabulary lacks the label
	RemarkUnknownValue = "unknown_value" // the value neither allows nor refuses
	RemarkRepeated     = "repeated"      // an earlier item of the line has the same label
	RemarkNotURL       = "not_url"       // a licence or a policy that is not an absolute URL
	RemarkUnknownToken = "unknown_token" // a token of purpose (__usage_…) that the registry lacks
	RemarkTooLong      = "too_long"      // a line of a page's header that is too long to be read
)

// A Statement is one label of a line.
type Statement struct {
	Label      string // "" for a licence, and for a line without labels
	Use        Use    // NoUse for a label without one
	Preference Preference
	Level      Level  // of the label use of a content signal
	Value      string // as written
	Remark     string // "" for none
}

// Level is a ceiling on uses: what the label use of a content signal says.
type Level uint8

const (
	NoLevel        Level = iota
	LevelImmediate       // the strictest
	LevelReference
	LevelFull // as if absent
)

func (l Level) String() string { return [...]string{"", "immediate", "reference", "full"}[l] }

// Statements returns the statements of a line, in its order; one, with a remark, for a
// line that states nothing.
func (v Vocabulary) Statements(u *Line) (all []Statement) {
	switch u.Mechanism {
	case ContentUsage:
		_, rest := u.Path()
		all = v.dictionary(string(rest), string(u.Value))
	case ContentSignal:
		all = v.signals(u)
	case License:
		s := Statement{Use: NoUse, Value: string(u.Value)}
		if !ascii.IsAbsolute(u.Value) {
			s.Remark = RemarkNotURL
		}
		return []Statement{s}
	}
	if all == nil {
		return []Statement{{Use: NoUse, Value: string(u.Value), Remark: RemarkNoStatement}}
	}
	return all
}

// dictionary returns the statements of a dictionary of Structured Fields (RFC 9651,
// 4.2.2), with the whole line if it does not parse: it states nothing then. Of a label
// that occurs twice the last item counts, whatever it is.
func (v Vocabulary) dictionary(text, line string) (all []Statement) {
	d, err := httpsfv.UnmarshalDictionary([]string{text})
	if err != nil {
		return []Statement{{Use: NoUse, Value: line, Remark: RemarkNotParsed}}
	}
	at := make(map[string]int) // by label: its place in all
	for _, item := range splitItems(text) {
		label, value := item, ""
		if i := strings.IndexAny(item, "=;"); i >= 0 {
			label, value = item[:i], strings.TrimPrefix(item[i:], "=")
		}
		s := Statement{Label: label, Value: value}
		if i, repeated := at[label]; repeated {
			s.Remark = RemarkRepeated
			all[i] = v.read(s, d)
			continue
		}
		at[label] = len(all)
		all = append(all, v.read(s, d))
	}
	return all
}

// read reads the item of a dictionary that a statement has as text.
func (v Vocabulary) read(s Statement, d *httpsfv.Dictionary) Statement {
	known := v.setUse(&s, ContentUsage)
	member, _ := d.Get(s.Label)
	item, _ := member.(httpsfv.Item)
	s.setPreference(known, item.Value == httpsfv.Token("y"), item.Value == httpsfv.Token("n"))
	return s
}

// setUse sets the use of a statement, and reports whether its label is known.
func (v Vocabulary) setUse(s *Statement, m Mechanism) bool {
	use, known := v[Label{m, s.Label}]
	if !known {
		use = NoUse
	}
	s.Use = use
	return known
}

// setPreference sets what an item with a label says.
func (s *Statement) setPreference(known, allows, refuses bool) {
	switch {
	case allows:
		s.Preference = Allows
	case refuses:
		s.Preference = Refuses
	}
	switch {
	case s.Remark != "":
	case !known:
		s.Remark = RemarkUnknownLabel
	case s.Use == NoUse:
		s.Remark = RemarkOldLabel
	case s.Preference == Unknown:
		s.Remark = RemarkUnknownValue
	}
}

// splitItems splits a dictionary that has been parsed at the commas between its items: a
// comma inside an item stands in a string or a display string.
func splitItems(text string) (items []string) {
	from := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ',':
			items = append(items, strings.Trim(text[from:i], " \t"))
			from = i + 1
		case '"':
			escapes := i == 0 || text[i-1] != '%' // a display string has no \"
			for i++; i < len(text) && text[i] != '"'; i++ {
				if escapes && text[i] == '\\' {
					i++
				}
			}
		}
	}
	if last := strings.Trim(text[from:], " \t"); last != "" {
		items = append(items, last)
	}
	return items
}

// EachSignal yields the items of a line of Content-Signal, which has no normative grammar:
// empty items do not count, and keys and values may have white space around them.
func EachSignal(line []byte, yield func(key, value []byte)) {
	for more := true; more; {
		var item []byte
		item, line, more = bytes.Cut(line, []byte(","))
		if item = ascii.Trim(item); len(item) > 0 {
			key, value, _ := bytes.Cut(item, []byte("="))
			yield(ascii.Trim(key), ascii.Trim(value))
		}
	}
}

// lower returns a name in lower case, with bytes that are not UTF-8 as escapes: so the tables
// tell texts, and a name that is read out of them is the same.
func lower(name string) string {
	if utf8.ValidString(name) {
		return strings.ToLower(name)
	}
	var low strings.Builder
	for len(name) > 0 {
		r, n := utf8.DecodeRuneInString(name)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&low, "%%%02x", name[0])
		} else {
			low.WriteString(strings.ToLower(name[:n]))
		}
		name = name[n:]
	}
	return low.String()
}

// signals returns the statements of a line of Content-Signal. Keys and values may have any
// case.
func (v Vocabulary) signals(u *Line) (all []Statement) {
	EachSignal(u.Value, func(key, value []byte) {
		s := Statement{Label: lower(string(key)), Value: string(value)}
		known := v.setUse(&s, ContentSignal)
		if s.Label == "use" && !known {
			for _, l := range [...]Level{LevelImmediate, LevelReference, LevelFull} {
				if ascii.EqualFold(value, l.String()) {
					s.Level = l
				}
			}
			if s.Level == NoLevel {
				s.Remark = RemarkUnknownValue
			}
		} else {
			s.setPreference(known, ascii.EqualFold(value, "yes"), ascii.EqualFold(value, "no"))
		}
		all = append(all, s)
	})
	return all
}
