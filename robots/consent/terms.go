package consent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/robots/usage"
)

// The words of RSL (3.4.1), by type of list; any word for a place.
var rslTokens = map[string][]string{
	"usage": {"all", "ai-all", "ai-train", "ai-input", "ai-index", "search"},
	"user":  {"commercial", "non-commercial", "education", "government", "personal"},
	"geo":   nil,
}

// rslUses are the uses of RSL that no other holds.
var rslUses = []string{"ai-train", "ai-input", "ai-index", "search"}

// paymentTypes are the types of payment (3.7): for money, for goodwill, for credit, none.
var paymentTypes = []string{"purchase", "subscription", "training", "crawl", "use", "contribution", "attribution",
	"free"}

// union are the members of the European Union, which a licence names as EU.
const union = " AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK "

// rslTerms is the meaning of licences: of the contents that match a path, the longest that
// speaks of a use decides.
type rslTerms struct {
	contents     []rslContent
	isAssociated bool
}

// offer returns what a licence makes of what it permits.
func (l *rslLicense) offer() (p usage.Preference, condition, remark string) {
	pay := l.payment
	switch {
	case pay == nil:
		return usage.Allows, "", ""
	case pay.kind == "free", pay.kind == "attribution", pay.kind == "contribution":
		return usage.Allows, pay.kind, ""
	case pay.kind == "":
		if amount, err := strconv.ParseFloat(pay.amount, 64); pay.isShared || pay.amount != "" &&
			(err != nil || amount != 0) {
			return usage.Priced, "", ""
		}
		return usage.Allows, "", ""
	case !slices.Contains(paymentTypes, pay.kind):
		return usage.Priced, pay.kind, remarkPayment
	}
	return usage.Priced, pay.kind, ""
}

// classOf returns how closely a list of uses names one: 0 not at all, 1 all, 2 ai-all, 3
// by its own name.
func classOf(list []string, use string) int {
	switch {
	case slices.Contains(list, use):
		return 3
	case strings.HasPrefix(use, "ai-") && slices.Contains(list, "ai-all"):
		return 2
	case slices.Contains(list, "all"):
		return 1
	}
	return 0
}

// isIn reports whether a list names who runs a robot, or where.
func isIn(list []string, what string) bool {
	return what != "" && (slices.Contains(list, what) ||
		slices.Contains(list, "EU") && len(what) == 2 && strings.Contains(union, " "+what+" "))
}

// A voice is what one licence says of a use.
type voice struct {
	says      usage.Preference
	class     int  // how closely it names the use
	forSome   bool // it names who or where
	condition string
	remark    string
}

// says returns what a licence says of a use to somebody. permitted reports whether its
// list of permits names the use, whatever else it says.
func (l *rslLicense) says(use, user, geo string) (v voice, permitted bool) {
	list, isClosed := l.permits["usage"]
	v.class = classOf(list, use)
	permitted = isClosed && v.class > 0
	if n := classOf(l.prohibits["usage"], use); n > 0 {
		return voice{says: usage.Refuses, class: n}, permitted
	}
	hasList := isClosed
	for kind, who := range map[string]string{"user": user, "geo": geo} {
		if isIn(l.prohibits[kind], who) {
			return voice{says: usage.Refuses, class: v.class, forSome: true}, permitted
		}
		if list, closed := l.permits[kind]; closed {
			hasList, v.forSome = true, true
			if !isIn(list, who) {
				return voice{says: usage.Refuses, class: v.class, forSome: true, remark: remarkClosed}, permitted
			}
		}
	}
	switch {
	case isClosed && v.class == 0:
		return voice{says: usage.Refuses, remark: remarkClosed}, false
	case !hasList:
		return voice{}, false // it prohibits other things, and says nothing of this
	}
	v.says, v.condition, v.remark = l.offer()
	return v, permitted
}

// says returns what a content says of a use to somebody: any licence that prohibits it
// counts; else an offer, the one that names use and user most closely; else a closed list.
func (c *rslContent) says(use, user, geo string) (v voice) {
	prohibited, permitted := false, false
	var offers []voice
	for i := range c.licenses {
		one, named := c.licenses[i].says(use, user, geo)
		permitted = permitted || named
		switch one.says {
		case usage.Refuses:
			if one.remark != remarkClosed {
				prohibited = true
			}
			if v.says != usage.Refuses || v.remark == remarkClosed {
				v = one
			}
		case usage.Allows, usage.Priced:
			offers = append(offers, one)
		}
	}
	if prohibited {
		if permitted {
			v.remark = remarkSelf
		}
		return v
	}
	if len(offers) > 0 {
		v = slices.MinFunc(offers, func(a, b voice) int {
			if a.class != b.class {
				return b.class - a.class
			}
			if a.forSome != b.forSome {
				return map[bool]int{true: -1, false: 1}[a.forSome]
			}
			return int(a.says) - int(b.says)
		})
		if c.server && v.says == usage.Allows {
			v.says, v.remark = usage.Priced, remarkToken
		}
	}
	return v
}

// rank orders what is said by how much it restricts.
func rank(p usage.Preference) int {
	return [...]int{usage.Unknown: 0, usage.Allows: 1, usage.Priced: 2, usage.Refuses: 3}[p]
}

// stateAll adds a statement for what each content says of each use: of who and where it
// names, and of all others.
func (m *rslTerms) stateAll(d *Document) {
	for i := range m.contents {
		c := &m.contents[i]
		for _, use := range rslUses {
			c.state(d, use, m.isAssociated)
		}
	}
}

func (c *rslContent) state(d *Document, use string, isAssociated bool) {
	add := func(v voice, value string) {
		if c.foreign {
			v.says, v.remark = usage.Unknown, remarkOtherOrigin
		} else if !isAssociated {
			v.says, v.remark = usage.Unknown, remarkNotAssociated
		}
		d.state(Statement{Mechanism: usage.RSL, Path: c.path, Line: c.line,
			Statement: usage.Statement{Label: use, Use: useNamed(use), Preference: v.says, Value: value, Remark: v.remark}})
	}
	everybody := c.says(use, "", "")
	seen := make(map[string]bool)
	for i := range c.licenses {
		l := &c.licenses[i]
		for _, user := range orAny(l.permits["user"]) {
			for _, geo := range orAny(l.permits["geo"]) {
				v := c.says(use, user, geo)
				value := strings.TrimSpace(fmt.Sprintf("%s%s%s", word("payment", l.paymentText()), word("user", user),
					word("geo", geo)))
				if (user != "" || geo != "") && v.says != everybody.says && !seen[user+" "+geo] && len(seen) < 64 {
					seen[user+" "+geo] = true
					add(v, value)
				}
			}
		}
	}
	if everybody.says == usage.Unknown {
		return
	}
	var texts []string
	for i := range c.licenses {
		if text := c.licenses[i].textOf(use); text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	add(everybody, short(strings.Join(texts, " | ")))
}

func orAny(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

func word(name, value string) string {
	if value == "" {
		return ""
	}
	return name + "=" + value + " "
}

// paymentText writes a payment as type, amount and currency.
func (l *rslLicense) paymentText() string {
	if l.payment == nil {
		return ""
	}
	p := l.payment
	return strings.Join(slices.DeleteFunc([]string{p.kind, p.amount, p.currency},
		func(s string) bool { return s == "" }), ",")
}

// textOf writes what of a licence bears on a use.
func (l *rslLicense) textOf(use string) string {
	var parts []string
	if list, ok := l.prohibits["usage"]; ok && classOf(list, use) > 0 {
		parts = append(parts, "prohibits="+strings.Join(list, ","))
	}
	if list, ok := l.permits["usage"]; ok {
		parts = append(parts, "permits="+strings.Join(list, ","))
		if text := l.paymentText(); text != "" && classOf(list, use) > 0 {
			parts = append(parts, "payment="+text)
		}
	}
	return strings.Join(parts, " ")
}
