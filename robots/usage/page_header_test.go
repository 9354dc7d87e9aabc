package usage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pageWords is a vocabulary with a label of each kind.
var pageWords = Vocabulary{
	{ContentUsage, "train-ai"}: AITrain, {ContentUsage, "search"}: Search, {PageHeader, "noai"}: AITrain,
	{PageHeader, "tdm-reservation"}: AITrain,
	{PageHeader, "noindex"}:         NoUse, {PageHeader, "nofollow"}: NoUse, {PageHeader, "unavailable_after"}: NoUse,
	{PageHeader, "max-snippet"}: NoUse,
}

// saidOnPage writes statements as "header agent label use preference value remark", with -
// for what is not said.
func saidOnPage(all []PageStatement) (out []string) {
	dash := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	for _, s := range all {
		use := "-"
		if s.Use != NoUse {
			use = s.Use.String()
		}
		out = append(out, fmt.Sprintf("%s %s %s %s %s %q %s", s.Header, s.Agent, dash(s.Label), use, s.Preference, s.Value,
			dash(s.Remark)))
	}
	return out
}

func TestOfPage(t *testing.T) {
	for _, c := range []struct{ what, header, want string }{
		{"nothing", "server: x", ""},
		{"a dictionary, without a path", "content-usage: train-ai=n, search=y",
			`content-usage * train-ai ai-train disallow "n" -|content-usage * search search allow "y" -`},
		{"several lines are one dictionary (RFC 9651, 4.2): the last item counts",
			"content-usage: train-ai=n|content-usage: train-ai=y", `content-usage * train-ai ai-train allow "y" repeated`},
		{"a path is not for headers", "content-usage: /a train-ai=n",
			`content-usage * - - unknown "/a train-ai=n" not_parsed`},
		{"no comment begins at #", "content-usage: train-ai=n #", `content-usage * - - unknown "train-ai=n #" not_parsed`},
		{"no statement", "content-usage: ", `content-usage * - - unknown "" no_statement`},
		{"for all", "x-robots-tag: NoAI, noindex",
			`x-robots-tag * noai ai-train disallow "NoAI" -|x-robots-tag * noindex - unknown "noindex" -`},
		{"for some, until another name", "x-robots-tag: nofollow, BadBot: noai, noindex, googlebot: nofollow",
			`x-robots-tag * nofollow - unknown "nofollow" -|x-robots-tag badbot noai ai-train disallow "noai" -|x-robots-tag badbot noindex - unknown "noindex" -|x-robots-tag googlebot nofollow - unknown "nofollow" -`},
		{"a name holds for its line", "x-robots-tag: badbot: noindex|x-robots-tag: noai",
			`x-robots-tag badbot noindex - unknown "noindex" -|x-robots-tag * noai ai-train disallow "noai" -`},
		{"a rule with a value is no name", "x-robots-tag: max-snippet: 20, noai",
			`x-robots-tag * max-snippet - unknown "20" -|x-robots-tag * noai ai-train disallow "noai" -`},
		{"a name before a rule with a value", "x-robots-tag: otherbot: max-snippet:-1",
			`x-robots-tag otherbot max-snippet - unknown "-1" -`},
		{"a date with commas and colons", "x-robots-tag: unavailable_after: Friday, 25 Jun 2010 15:00:00 GMT, noai",
			`x-robots-tag * unavailable_after - unknown "Friday, 25 Jun 2010 15:00:00 GMT" -|x-robots-tag * noai ai-train disallow "noai" -`},
		{"empty items", "x-robots-tag: , ,bot: ,", `x-robots-tag * - - unknown ", ,bot: ," no_statement`},
		{"a byte that is not UTF-8", "x-robots-tag: Caf\xc3\x89 \xe9",
			`x-robots-tag * café %e9 - unknown "CafÉ \xe9" unknown_label`},
		{"as a table tells it", "x-robots-tag: CafÉ %E9", `x-robots-tag * café %e9 - unknown "CafÉ %E9" unknown_label`},
		{"an unknown rule", "x-robots-tag: no ai", `x-robots-tag * no ai - unknown "no ai" unknown_label`},
		{"reserved", "tdm-reservation: 1|tdm-policy: https://x.example/p.json",
			`tdm-reservation * tdm-reservation ai-train disallow "1" -|tdm-policy * tdm-policy - unknown "https://x.example/p.json" -`},
		{"not reserved", "tdm-reservation: 0", `tdm-reservation * tdm-reservation ai-train unknown "0" -`},
		{"neither", "tdm-reservation: true|tdm-policy: /p",
			`tdm-reservation * tdm-reservation ai-train unknown "true" unknown_value|tdm-policy * tdm-policy - unknown "/p" not_url`},
		{"too long to be read", "x-robots-tag|x-robots-tag: noai",
			`x-robots-tag * - - unknown "" too_long|x-robots-tag * noai ai-train disallow "noai" -`},
	} {
		var header []HeaderField
		for line := range strings.SplitSeq(c.header, "|") {
			name, value, ok := strings.Cut(line, ": ")
			f := HeaderField{Name: name}
			if ok {
				f.Value = &value
			}
			header = append(header, f)
		}
		if diff := cmp.Diff(c.want, strings.Join(saidOnPage(pageWords.OfPage(header)), "|")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
}

// No header makes more statements than it has items, or takes long.
func FuzzOfPage(f *testing.F) {
	f.Add("noai, a: b, unavailable_after: x, 1:2")
	f.Add("train-ai=n, \"a,b\"=")
	f.Fuzz(func(t *testing.T, value string) {
		for _, name := range PageHeaders {
			n := len(pageWords.OfPage([]HeaderField{{Name: name, Value: &value}}))
			if n == 0 || n > strings.Count(value, ",")+1 {
				t.Errorf("%s: %q makes %d statements", name, value, n)
			}
		}
	})
}
