package robots

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/dunglas/httpsfv"
	"github.com/robocensus/robocensus/robots/usage"
)

// vocabulary is the one of the current documents, as configs/uses.yaml has it.
var vocabulary = usage.Vocabulary{
	{Mechanism: usage.ContentUsage, Name: "train-ai"}:  usage.AITrain,
	{Mechanism: usage.ContentUsage, Name: "search"}:    usage.Search,
	{Mechanism: usage.ContentSignal, Name: "ai-train"}: usage.AITrain,
	{Mechanism: usage.ContentSignal, Name: "ai-input"}: usage.AIInput,
	{Mechanism: usage.ContentSignal, Name: "search"}:   usage.Search,
	{Mechanism: usage.ContentUsage, Name: "bots"}:      usage.NoUse,
}

// askUses returns what a file says to an agent about a URL.
func askUses(p *Profile, body, url string, tokens ...string) (Uses, bool) {
	var f File
	f.Parse([]byte(body), p)
	j := NewJudge(p, []Agent{{Tokens: tokens}})
	j.Load(&f)
	t := p.LiteralTarget(url)
	return j.Policy(0).Uses(&t, vocabulary)
}

// short writes ai-train, ai-input and search as letters with mechanism and line.
func short(u Uses, ok bool) string {
	if !ok {
		return "shut"
	}
	var all []string
	for _, s := range u.Stated {
		cell := s.Preference.String()[:1]
		if s.Line > 0 {
			cell += fmt.Sprint(s.Line, map[usage.Mechanism]string{usage.ContentUsage: "u", usage.ContentSignal: "s",
				usage.PolicyToken: "t"}[s.Mechanism])
		}
		all = append(all, cell)
	}
	return strings.Join(all, " ")
}

// The cases of the specification: the value of a line of Content-Usage, and what it says
// of ai-train and search.
func TestContentUsageValues(t *testing.T) {
	for _, row := range []struct{ value, train, search string }{
		{"train-ai=n, search=y", "d", "a"},
		{"train-ai=n search=y", "u", "u"},
		{"train-ai=n,", "u", "u"},
		{"Train-AI=n, search=y", "u", "u"},
		{"train-ai = n", "u", "u"},
		{"train-ai=no, search=y", "u", "a"},
		{"train-ai=n;x=1", "d", "u"},
		{"train-ai=n, train-ai", "u", "u"},
		{"train-ai=y, train-ai=n", "d", "u"},
		{"foo=(a b);q=1, train-ai=n", "d", "u"},
		{"", "u", "u"},
		{`train-ai="n"`, "u", "u"},
		{`train-ai=n, note="a#b"`, "u", "u"},
		{"bots=n", "u", "u"},
		{`note="a, train-ai=y", train-ai=n`, "d", "u"},
		{`note=%"a\", train-ai=n`, "d", "u"},
		{"*/x train-ai=n", "u", "u"}, // no path
		{"/x train-ai=n", "d", "u"},
		{"/x\ttrain-ai=n", "d", "u"},
		{"/y train-ai=n", "u", "u"},
		{"/x train-ai=n,", "u", "u"},
		{"train-ai=N", "u", "u"},
		{"train-ai=?0", "u", "u"},
		{"train-ai=(n)", "u", "u"},
	} {
		for _, name := range ProfileNames() {
			p := named(t, name)
			if p.ByAgent {
				continue
			}
			u, ok := askUses(p, "User-agent: *\nDisallow: /z\nContent-Usage: "+row.value+"\n", "http://a/x", "Bot")
			got := short(u, ok)
			cell := map[string]string{"d": "d3u", "a": "a3u", "u": "u"}
			if want := cell[row.train] + " u " + cell[row.search]; got != want {
				t.Errorf("%s: %q: %s, want %s", name, row.value, got, want)
			}
		}
	}
}

// The clauses of the specification's section on usage preferences.
func TestUses(t *testing.T) {
	const star = "user-agent: *\n"
	for _, row := range []struct{ clause, file, path, want string }{
		{"the longest path decides, and the whole line", star + "content-usage: search=n\ncontent-usage: /a/ train-ai=y",
			"/a/b", "a3u u u"},
		{"paths match as rules do", star + "content-usage: /*.php$ train-ai=n", "/x/y.php", "d2u u u"},
		{"paths match as rules do", star + "content-usage: /*.php$ train-ai=n", "/x/y.php?z", "u u u"},
		{"length is in encoded bytes", star + "content-usage: /é train-ai=n\ncontent-usage: /*é train-ai=y", "/%C3%A9",
			"a3u u u"},
		{"length is in encoded bytes", star + "content-usage: /é train-ai=n\ncontent-usage: /%C3* train-ai=y", "/%C3%A9",
			"d2u u u"},
		{"lines of one length combine restrictively", star + "content-usage: train-ai=y\ncontent-usage: train-ai=n", "/",
			"d3u u u"},
		{"lines of one length combine restrictively", star + "content-usage: /a train-ai=n, search=y\n" +
			"content-usage: /a search=n", "/a", "d2u u d3u"},
		{"lines of one length combine use by use", star + "content-usage: /a train-ai=y\ncontent-usage: /a search=y", "/a",
			"a2u u a3u"},
		{"a path without a statement is no statement", star + "content-usage: train-ai=n\ncontent-usage: /a", "/a",
			"d2u u u"},
		{"a longer line that does not parse leaves everything unknown",
			star + "content-usage: train-ai=n\ncontent-usage: /a x y", "/a", "u u u"},
		{"own groups are merged", star + "content-usage: search=n\ndisallow:\nuser-agent: bot\ncontent-usage: train-ai=n\n" +
			"disallow:\nuser-agent: BOT\ncontent-usage: search=y", "/", "d5u u a8u"},
		{"an own group inherits nothing", star + "content-usage: train-ai=n\ndisallow:\nuser-agent: bot\ndisallow:", "/",
			"u u u"},
		{"a line within the head belongs to all agents of the group",
			"user-agent: a\ncontent-usage: train-ai=n\nuser-agent: bot\ndisallow: /x", "/", "d2u u u"},
		{"an orphan applies to nobody", "content-usage: train-ai=n\ncontent-signal: search=no\n" + star + "disallow:", "/",
			"u u u"},
		{"no preference where the agent may not fetch", star + "disallow: /a\ncontent-usage: train-ai=n", "/a", "shut"},
		{"any case of a signal, spaces around =", star + "Content-signal: SEARCH = Yes ,, AI-Train=NO", "/", "d2s u a2s"},
		{"other values of a signal are unknown", star + "content-signal: ai-train=maybe, ai-input=no, ai-train", "/",
			"u d2s u"},
		{"a conflict of signals is disallow", star + "content-signal: ai-train=no\ncontent-signal: ai-train=yes, search=yes",
			"/", "d2s u a3s"},
		{"mechanisms combine restrictively", star + "content-signal: ai-train=no\ncontent-usage: train-ai=y, search=n", "/",
			"d2s u d3u"},
		{"of mechanisms that agree, content-usage is named", star + "content-signal: ai-train=no\ncontent-usage: train-ai=n",
			"/", "d3u u u"},
		{"a signal holds for the whole site", star + "content-signal: ai-train=no\ncontent-usage: /a train-ai=y", "/a",
			"d2s u u"},
		{"the value ends at #", star + "content-usage: train-ai=n # search=n", "/", "d2u u u"},
		{"no group", "user-agent: other\ncontent-usage: train-ai=n", "/", "u u u"},
	} {
		if got := short(askUses(named(t, "google"), row.file, "http://h"+row.path, "Bot")); got != row.want {
			t.Errorf("%s: %q on %s: %s, want %s", row.clause, row.file, row.path, got, row.want)
		}
	}
}

// The stance of a file on ai-train, ai-input and search.
func TestStances(t *testing.T) {
	const star, token = "user-agent: *\n", "\nuser-agent: Google-Extended\ndisallow: "
	for _, row := range []struct{ clause, file, want string }{
		{"nobody says anything", star + "disallow: /a", "- - -"},
		{"one preference everywhere", star + "content-usage: train-ai=n, search=y", "disallow - allow"},
		{"it depends on the path", star + "content-usage: train-ai=n\ncontent-usage: /a train-ai=y", "partial - -"},
		{"stated for one path only", star + "content-usage: /a train-ai=n", "partial - -"},
		{"a path that covers all", star + "content-usage: / train-ai=n", "disallow - -"},
		{"paths that the agent may not fetch do not count", star + "disallow: /a\ncontent-usage: train-ai=n\n" +
			"content-usage: /a train-ai=y", "disallow - -"},
		{"only what is stated may be fetched", star + "disallow: /\nallow: /a\ncontent-usage: /a train-ai=n", "disallow - -"},
		{"a rule below a path counts", star + "disallow: /a/b\ncontent-usage: train-ai=n\ncontent-usage: /a/b train-ai=y",
			"disallow - -"},
		{"an agent that is shut out", star + "disallow: /\ncontent-usage: train-ai=n", "- - -"},
		{"mechanisms combine restrictively", star + "content-signal: ai-train=no, ai-input=yes\n" +
			"content-usage: /a train-ai=y", "disallow allow -"},
		{"a longer path that does not parse", star + "content-usage: train-ai=n\ncontent-usage: /a x y", "partial - -"},
		{"a line that another covers", star + "content-usage: /a train-ai=y\ncontent-usage: /* train-ai=n\n" +
			"content-usage: /*a train-ai=n", "disallow - -"},
		{"a token that is shut out", star + "disallow: /x" + token + "/", "disallow disallow -"},
		{"a token on a path", star + "disallow: /x" + token + "/y", "partial partial -"},
		{"a token on a path that is shut anyway", star + "disallow: /x" + token + "/x", "- - -"},
		{"a token that is open", star + "content-usage: train-ai=y\ndisallow: /x" + token, "allow - -"},
		{"what only a rule opens counts", star + "disallow: /\nallow: /b\ncontent-usage: train-ai=n\n" +
			"content-usage: /a train-ai=y", "disallow - -"},
		{"orphans", "content-usage: train-ai=n\n" + star + "disallow: /x", "- - -"},
	} {
		for _, name := range []string{"google", "rfc9309", "protego", "urllib-2026"} {
			p := named(t, name)
			if name == "urllib-2026" && strings.Contains(row.file, "/*") {
				continue // whose lengths depend on the URL
			}
			var f File
			f.Parse([]byte(row.file), p)
			j := NewJudge(p, []Agent{{Tokens: []string{"Bot"}}, {Tokens: []string{"Other"}},
				{Tokens: []string{"Google-Extended"}}})
			for range 2 {
				j.Load(&f)
				for agent := range 2 {
					got := j.Policy(agent).Stances(vocabulary, TokenPolicy{Policy: j.Policy(2), Uses: []usage.Use{usage.AITrain,
						usage.AIInput}})
					var words []string
					for _, s := range got {
						words = append(words, cmp.Or(s.String(), "-"))
					}
					if text := strings.Join(words, " "); text != row.want {
						t.Errorf("%s: %s: %q: %s, want %s", name, row.clause, row.file, text, row.want)
					}
				}
			}
		}
	}
}

// A judge forgets what an earlier file said, and an agent without tokens is not bound by
// those of another that follows the same group.
func TestStancesOfSeveralFiles(t *testing.T) {
	p := named(t, "google")
	j := NewJudge(p, []Agent{{Tokens: []string{"Bot"}}, {Tokens: []string{"Other"}}, {Tokens: []string{"X"}}})
	bound := TokenPolicy{Policy: j.Policy(2), Uses: []usage.Use{usage.AIInput}}
	root := p.Target("/")
	for _, row := range []struct {
		file        string
		bot, other  Stances
		onRootOfBot string
	}{
		{"user-agent: *\ncontent-usage: train-ai=n\ndisallow: /x\nuser-agent: X\ndisallow: /",
			Stances{usage.AITrain: StanceDisallow, usage.AIInput: StanceDisallow}, Stances{usage.AITrain: StanceDisallow},
			"d2u d5t u"},
		{"user-agent: *\ncontent-usage: train-ai=y\ndisallow: /x", Stances{usage.AITrain: StanceAllow},
			Stances{usage.AITrain: StanceAllow}, "a2u u u"},
		{"user-agent: *\ndisallow: /x", Stances{}, Stances{}, "u u u"},
	} {
		var f File
		f.Parse([]byte(row.file), p)
		j.Load(&f)
		other, bot := j.Policy(1).Stances(vocabulary), j.Policy(0).Stances(vocabulary, bound)
		if bot != row.bot || other != row.other {
			t.Errorf("%q: %v and %v, want %v and %v", row.file, bot, other, row.bot, row.other)
		}
		if got := short(j.Policy(0).Uses(&root, vocabulary, bound)); got != row.onRootOfBot {
			t.Errorf("%q: %s, want %s", row.file, got, row.onRootOfBot)
		}
	}
}

// A dialect's groups are those of its rules: for protego any line with a colon ends a list
// of agents.
func TestUsesOfDialects(t *testing.T) {
	const file = "user-agent: x\ncrawl-delay: 1\nuser-agent: *\ndisallow: /y\ncontent-usage: train-ai=n"
	for _, name := range []string{"google", "protego"} {
		if got := short(askUses(named(t, name), file, "http://h/", "Bot")); got != "d5u u u" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := short(askUses(named(t, "protego"), file, "http://h/", "x")); got != "u u u" {
		t.Errorf("protego, x: %s", got)
	}
}

// A file with many paths costs bounded time.
func TestStancesOfManyPaths(t *testing.T) {
	var file strings.Builder
	file.WriteString("user-agent: *\ndisallow: /x\ncontent-usage: train-ai=n\n")
	for i := range 20_000 {
		fmt.Fprintf(&file, "content-usage: /%d* train-ai=n\n", i)
	}
	file.WriteString("content-usage: /z train-ai=y\n") // which no witness reaches in time
	p := named(t, "google")
	var f File
	f.Parse([]byte(file.String()), p)
	var agents []Agent
	for i := range 200 {
		agents = append(agents, Agent{Tokens: []string{fmt.Sprintf("a%d", i)}})
	}
	j := NewJudge(p, agents)
	j.Load(&f)
	for i := range agents {
		if got := j.Policy(i).Stances(vocabulary); got != (Stances{usage.AITrain: StancePartial}) {
			t.Fatalf("%v", got)
		}
	}
}

// For attach-05 a line of Content-Usage is a rule and ends the list of agents.
func TestUsageEnds(t *testing.T) {
	const file = "user-agent: a\ncontent-usage: train-ai=n\nuser-agent: bot\ndisallow: /x"
	p := *named(t, "google")
	p.Name, p.UsageEnds = "attach", true
	for _, row := range []struct{ agent, path, want string }{{"a", "/x", "d2u u u"}, {"bot", "/", "u u u"},
		{"bot", "/x", "shut"}} {
		if got := short(askUses(&p, file, "http://h"+row.path, row.agent)); got != row.want {
			t.Errorf("%s %s: %s, want %s", row.agent, row.path, got, row.want)
		}
	}
}

func TestUseLevelAndLicenses(t *testing.T) {
	const file = "License: https://l.example/all\nLicense: nothing\nuser-agent: *\ncontent-signal: use=full\n" +
		"content-signal: use=Immediate, use=reference\ndisallow:\nuser-agent: bot\ndisallow:\n" +
		"license: https://l.example/bot\n"
	u, _ := askUses(named(t, "google"), file, "http://h/", "other")
	if u.Level != usage.LevelImmediate || !reflect.DeepEqual(u.Licenses, []int32{1, 2}) {
		t.Errorf("other: level %v, licences %v", u.Level, u.Licenses)
	}
	if u, _ = askUses(named(t, "google"), file, "http://h/", "bot"); u.Level != usage.NoLevel ||
		!reflect.DeepEqual(u.Licenses, []int32{9}) {
		t.Errorf("bot: level %v, licences %v", u.Level, u.Licenses)
	}
}

// A token refuses what its own group forbids, or the group for * where that counts, and
// never permits anything.
func TestPolicyTokens(t *testing.T) {
	for _, row := range []struct {
		file, path string
		star       bool
		want       string
	}{
		{"user-agent: Google-Extended\ndisallow: /a", "/a", false, "d2t d2t u"},
		{"user-agent: Google-Extended\ndisallow: /a", "/b", false, "u u u"},
		{"user-agent: Google-Extended\nallow: /", "/b", false, "u u u"},
		{"user-agent: *\ndisallow: /a\nuser-agent: bot\nallow: /", "/a", false, "u u u"},
		{"user-agent: *\ndisallow: /a\nuser-agent: bot\nallow: /", "/a", true, "d2t d2t u"},
		{"user-agent: Google-Extended\ndisallow: /\nuser-agent: bot\ncontent-usage: train-ai=y", "/", false, "d2t d2t u"},
	} {
		p := named(t, "google")
		var f File
		f.Parse([]byte(row.file), p)
		j := NewJudge(p, []Agent{{Tokens: []string{"Bot"}}, {Tokens: []string{"Google-Extended"}}})
		j.Load(&f)
		target := p.Target(row.path)
		token := TokenPolicy{Policy: j.Policy(1), Uses: []usage.Use{usage.AITrain, usage.AIInput}, Star: row.star}
		if got := short(j.Policy(0).Uses(&target, vocabulary, token)); got != row.want {
			t.Errorf("%q on %s: %s, want %s", row.file, row.path, got, row.want)
		}
	}
}

func TestStatements(t *testing.T) {
	for _, row := range []struct {
		mechanism usage.Mechanism
		value     string
		want      string
	}{
		{usage.ContentUsage, "train-ai=n;x=1, note=\"a,b\", bots=y, tdm",
			`train-ai="n;x=1" disallow, note="\"a,b\"" unknown unknown_label, bots="y" allow old_label, tdm="" unknown unknown_label`},
		{usage.ContentUsage, "train-ai=y, search=maybe, train-ai=n",
			`train-ai="n" disallow repeated, search="maybe" unknown unknown_value`},
		{usage.ContentUsage, "/a Train-AI=n", `="/a Train-AI=n" unknown not_parsed`},
		{usage.ContentUsage, "/a", `="/a" unknown no_statement`},
		{usage.ContentUsage, "bots=maybe", `bots="maybe" unknown old_label`},
		{usage.ContentUsage, "train-ai=n\t,  search=y", `train-ai="n" disallow, search="y" allow`},
		{usage.ContentSignal, " , ", `=" , " unknown no_statement`},
		{usage.ContentSignal, "AI-Train = No, use=full, use=x, other=yes",
			`ai-train="No" disallow, use="full" unknown full, use="x" unknown unknown_value, other="yes" allow unknown_label`},
		{usage.License, "https://l.example/x", `="https://l.example/x" unknown`},
		{usage.License, "/x", `="/x" unknown not_url`},
	} {
		var got []string
		for _, s := range vocabulary.Statements(&usage.Line{Mechanism: row.mechanism, Value: []byte(row.value)}) {
			got = append(got,
				strings.TrimRight(strings.Join(strings.Fields(fmt.Sprintf("%s=%q %s %s %s", s.Label, s.Value, s.Preference,
					s.Level, s.Remark)), " "), " "))
		}
		if all := strings.Join(got, ", "); strings.Join(strings.Fields(all), " ") != strings.Join(strings.Fields(row.want),
			" ") {
			t.Errorf("%s: %q:\n%s, want\n%s", row.mechanism, row.value, all, row.want)
		}
	}
}

// The dictionaries of the public suite of RFC 9651, which the library must read as the
// suite says; what a line of Content-Usage then states follows from the tokens y and n.
func TestConformanceStructuredFields(t *testing.T) {
	n := 0
	eachJSON(t, "structured-fields/dictionaries.jsonl", func(line int, c struct {
		Name     string
		Raw      string
		Expected [][]any
		MustFail bool `json:"must_fail"`
		CanFail  bool `json:"can_fail"`
	}) {
		n++
		d, err := httpsfv.UnmarshalDictionary([]string{c.Raw})
		if err != nil {
			if !c.MustFail && !c.CanFail {
				t.Errorf("line %d: %s: %v", line, c.Name, err)
			}
			return
		}
		if c.MustFail {
			t.Errorf("line %d: %s: %q parses", line, c.Name, c.Raw)
			return
		}
		var names []string
		for _, member := range c.Expected {
			name := member[0].(string)
			names = append(names, name)
			token, _ := member[1].([]any)[0].(map[string]any)
			got, _ := d.Get(name)
			item, _ := got.(httpsfv.Item)
			if value, isToken := item.Value.(httpsfv.Token); isToken != (token["__type"] == "token") || isToken &&
				string(value) != token["value"] {
				t.Errorf("line %d: %s: %s is %v, want %v", line, c.Name, name, item.Value, member[1])
			}
		}
		if got := d.Names(); strings.Join(got, " ") != strings.Join(names, " ") {
			t.Errorf("line %d: %s: labels %q, want %q", line, c.Name, got, names)
		}
		var labels []string
		for _, s := range vocabulary.Statements(&usage.Line{Mechanism: usage.ContentUsage, Value: []byte(c.Raw)}) {
			labels = append(labels, s.Label)
		}
		if len(names) > 0 && strings.Join(labels, " ") != strings.Join(names, " ") {
			t.Errorf("line %d: %s: statements %q, want %q", line, c.Name, labels, names)
		}
	})
	if n != 432 {
		t.Errorf("%d dictionaries, want 432", n)
	}
}

// FuzzUses checks that lines about use never panic nor change a verdict, that asking
// again answers the same, and that their labels are those of the library.
func FuzzUses(f *testing.F) {
	f.Add("user-agent: *\ndisallow: /b\n", "Content-Usage: /a train-ai=n, search=y;q=\"a,b\"", "/a", uint8(0))
	f.Add("user-agent: *\nuser-agent: b\n", "Content-Signal: ai-train = NO,,use=full", "/", uint8(1))
	f.Add("", "License: https://l.example/", "/x", uint8(2))
	f.Add("user-agent: Bot\nallow: /*a$\n", "content-usage: a=%\"\\\", b=(\"x,y\" 1);c", "/xa", uint8(7))
	f.Fuzz(func(t *testing.T, body, line, path string, profile uint8) {
		if strings.ContainsAny(line, "\r\n") || strings.ContainsAny(path, "\x00#") {
			t.Skip()
		}
		names := ProfileNames()
		p := named(t, names[int(profile)%len(names)])
		if p.ByAgent {
			t.Skip()
		}
		before, after := body+"\nuser-agent: Bot\nallow: /\n", body+"\nuser-agent: Bot\nallow: /\nContent-Usage:"+line+"\n"
		if p.isDialect() {
			before += "Content-Usage:\n" // for some parsers a line with a colon ends a list
		}
		one, _ := ask(p, []byte(before), "http://h/"+path, "Bot")
		other, _ := ask(p, []byte(after), "http://h/"+path, "Bot")
		if one.Value != other.Value && !strings.Contains(line, ":") && !p.isDialect() {
			t.Errorf("%q changes %v to %v", line, one, other)
		}
		var file File
		file.Parse([]byte(after), p)
		j := NewJudge(p, []Agent{{Tokens: []string{"Bot"}}})
		j.Load(&file)
		target := p.LiteralTarget("http://h/" + path)
		first, ok := j.Policy(0).Uses(&target, vocabulary)
		again, okAgain := j.Policy(0).Uses(&target, vocabulary)
		if ok != okAgain || !reflect.DeepEqual(first, again) {
			t.Errorf("%v, then %v", first, again)
		}
		for i := range file.Usages {
			u := &file.Usages[i]
			if u.Mechanism != usage.ContentUsage {
				continue
			}
			_, rest := u.Path()
			d, err := httpsfv.UnmarshalDictionary([]string{string(rest)})
			if err != nil {
				continue
			}
			for k, s := range vocabulary.Statements(u) {
				if all := d.Names(); len(all) > 0 && (k >= len(all) || all[k] != s.Label) {
					t.Fatalf("%q: label %d is %q of %q", rest, k, s.Label, all)
				}
			}
		}
	})
}
