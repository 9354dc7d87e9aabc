package consent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/robots/usage"
)

// told writes a document as its outcome and remarks, and a line for each statement:
// "line mechanism agent path label use preference value remark", with - for nothing.
func told(d *Document) string {
	dash := func(s string) string {
		if s == "" {
			return "-"
		}
		return strings.ReplaceAll(s, " ", "_")
	}
	head := "valid"
	if d.Invalid != "" {
		head = "invalid " + d.Invalid
	}
	if d.Form != "" {
		head += " " + d.Form
	}
	out := []string{strings.TrimSpace(head + " " + strings.Join(d.Remarks, ","))}
	for _, s := range d.Statements {
		use := "-"
		if s.Use != usage.NoUse {
			use = s.Use.String()
		}
		out = append(out, fmt.Sprintf("%d %s %s %s %s %s %s %s %s", s.Line, s.Mechanism, s.Agent, dash(s.Path),
			dash(s.Label), use, s.Preference, dash(s.Value), dash(s.Remark)))
	}
	return strings.Join(out, "\n")
}

func TestStatements(t *testing.T) {
	const rsl = `<rsl xmlns="https://rslstandard.org/rsl">`
	for _, c := range []struct {
		what string
		kind Kind
		by   Association
		body string
		want string
	}{
		{"the report's first example: a folder that is open, and one that is not", TDMRep, AtPath,
			"[\n{\"location\":\"/a/\",\"tdm-reservation\":0},\n" +
				"{\"location\":\"/b/\",\"tdm-reservation\":1,\"tdm-policy\":\"https://p.example/1\"}]",
			`valid
2 tdmrep * /a/ tdm-reservation ai-train unknown 0 -
3 tdmrep * /b/ tdm-reservation ai-train disallow 1 -
3 tdmrep * /b/ tdm-policy - unknown https://p.example/1 -`},
		{"a rule that is never reached", TDMRep, AtPath,
			`[{"location":"/","tdm-reservation":1},{"location":"/a/","tdm-reservation":0}]`,
			`valid order
1 tdmrep * / tdm-reservation ai-train disallow 1 -
1 tdmrep * /a/ tdm-reservation ai-train unknown 0 order`},
		{"one that says the same is no matter", TDMRep, AtPath,
			`[{"location":"/","tdm-reservation":1},{"location":"/a/","tdm-reservation":1}]`,
			`valid
1 tdmrep * / tdm-reservation ai-train disallow 1 -
1 tdmrep * /a/ tdm-reservation ai-train disallow 1 -`},
		{"no rules and odd ones", TDMRep, AtPath,
			`["x",{"location":"a","tdm-reservation":1},{"location":"https://x.example/","tdm-reservation":1},{"location":"/","tdm-reservation":"1","x":[{}]}]`,
			`valid rule,path,absolute,value
1 tdmrep * - tdm-reservation - unknown "x" rule
1 tdmrep * a tdm-reservation ai-train unknown 1 path
1 tdmrep * https://x.example/ tdm-reservation ai-train unknown 1 absolute
1 tdmrep * / tdm-reservation ai-train unknown "1" value`},
		{"text behind the array", TDMRep, AtPath, `[] []`, "invalid not_json"},
		{"an array that is cut", TDMRep, AtPath, `[{"location":"/","tdm-reservation":1}`, "invalid not_json"},
		{"nothing", TDMRep, AtPath, ``, "invalid not_json"},

		{"what the guide shows first: search, and no training", RSL, Named,
			rsl + `<content url="/"><license><permits type="usage">search</permits><prohibits type="usage">ai-train</prohibits></license></content></rsl>`,
			`valid
1 rsl * / ai-train ai-train disallow prohibits=ai-train_permits=search -
1 rsl * / ai-input ai-input disallow permits=search closed_list
1 rsl * / ai-index - disallow permits=search closed_list
1 rsl * / search search allow permits=search -`},
		{"money for some", RSL, Named, rsl + "\n" +
			`<content url="/"><license><permits type="usage">ai-train</permits><permits type="user">education</permits></license><license><permits type="usage">ai-train</permits><permits type="user">commercial</permits><payment type="training"><amount currency="EUR">9</amount></payment></license></content></rsl>`,
			`valid
2 rsl * / ai-train ai-train allow user=education -
2 rsl * / ai-train ai-train priced payment=training,9,EUR_user=commercial -
2 rsl * / ai-train ai-train disallow permits=ai-train_|_permits=ai-train_payment=training,9,EUR closed_list
2 rsl * / ai-input ai-input disallow permits=ai-train closed_list
2 rsl * / ai-index - disallow permits=ai-train closed_list
2 rsl * / search search disallow permits=ai-train closed_list`},
		{"nobody names it", RSL, AtPath,
			rsl + `<content url="/a"><license><prohibits type="usage">search</prohibits></license></content></rsl>`,
			`valid not_associated
1 rsl * /a search search unknown prohibits=search not_associated`},
		{"of another origin", RSL, Named,
			rsl + `<content url="https://b.example/a"><license><prohibits type="usage">search</prohibits></license></content></rsl>`,
			`valid other_origin
1 rsl * https://b.example/a search search unknown prohibits=search other_origin`},
		{"no content", RSL, Named, rsl + `</rsl>`, "invalid no_content"},
		{"an empty licence", RSL, Named, rsl + `<content url="/"><license/></content></rsl>`, "valid"},
		{"a licence in a place of its own", RSL, Named, rsl + `<license/></rsl>`, "invalid unknown_element"},
		{"two payments", RSL, Named, rsl + `<content url="/"><license><payment/><payment/></license></content></rsl>`,
			"invalid repeated_element"},
		{"two warranties of one type", RSL, Named,
			rsl + `<content url="/"><license><legal type="contact">a</legal><legal type="contact">b</legal></license></content></rsl>`, "invalid repeated_element"},
		{"no URL", RSL, Named, rsl + `<content><license/></content></rsl>`, "invalid no_url"},
		{"another namespace", RSL, Named, `<rsl xmlns="https://rslstandard.org/rsl2"><content url="/"/></rsl>`,
			"invalid namespace"},
		{"a feed without licences", RSL, Embedded, `<rss><channel><title>x</title></channel></rss>`, "invalid namespace"},
		{"a page without licences", RSL, Embedded, `<!doctype html><title>x</title>`, "invalid page"},
		{"entities of its own", RSL, Named, `<!DOCTYPE rsl [<!ENTITY a "aaaa">]>` + rsl +
			`<content url="/&a;"><license/></content></rsl>`, "invalid not_xml"},
		{"Latin letters of one byte", RSL, Named, "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>" + rsl + "<content " +
			"url=\"/\"><terms>\xe9</terms><license><prohibits type=\"usage\">search</prohibits></license></content></rsl>",
			`valid
1 rsl * / search search disallow prohibits=search -`},

		{"Spawning's", AITxt, AtPath, "User-Agent: *\nDisallow: *.jpg\nAllow: /a\nDisallow: a/\nDisallow:\n",
			`valid spawning
2 ai.txt-spawning * *.jpg disallow ai-train disallow *.jpg -
3 ai.txt-spawning * /a allow ai-train allow /a -
4 ai.txt-spawning * a/ disallow ai-train unknown a/ path`},
		{"the draft's", AITxt, AtPath, "Site-Name: a\nSite-URL: https://a.example\nTraining: conditional\n" +
			"Training-Deny: /p/*\nTraining-Allow: /*\nIndexing: deny\n\nAgent: Bot\n  Training: allow\n  Caching: maybe\n",
			`valid car value
3 ai.txt-car * - training ai-train disallow conditional conditional
4 ai.txt-car * /p/* training-deny ai-train disallow /p/* -
5 ai.txt-car * /* training-allow ai-train allow /* -
6 ai.txt-car * - indexing - disallow deny -
9 ai.txt-car bot - training ai-train allow allow -
10 ai.txt-car bot - caching - unknown maybe value`},
		{"the draft's default", AITxt, AtPath, "site-name: a\nsite-url: https://a.example\n",
			"valid car\n0 ai.txt-car * - training ai-train unknown - default"},
		{"sections", AITxt, AtPath, "# x\n[policy]\ntraining: deny\n", "valid ini"},
		{"keys", AITxt, AtPath, "AI-Policy: none\n", "valid keys"},
		{"words", AITxt, AtPath, "We welcome: robots.\n", "valid prose"},
		{"another JSON", AITxt, AtPath, `{"a":1}`, "invalid other_json"},
		{"bytes", AITxt, AtPath, "\x00\xff\xfe", "invalid not_text"},

		{"yes and no", TrustTxt, AtPath, "datatrainingallowed=yes\nDatatrainingallowed = NO\n",
			`valid contradiction
1 trust.txt * - datatrainingallowed ai-train allow yes -
2 trust.txt * - datatrainingallowed ai-train disallow NO contradiction`},
		{"maybe", TrustTxt, AtPath, "datatrainingallowed=maybe",
			"valid value\n1 trust.txt * - datatrainingallowed ai-train unknown maybe value"},

		{"an underlined heading", LLMsTxt, AtPath, "\n\nExample\n=======\ntext\n", "valid"},
		{"a smaller heading first", LLMsTxt, AtPath, "## Example\n# Example\n", "invalid no_heading"},
		{"a hash without a space", LLMsTxt, AtPath, "#Example\n", "invalid no_heading"},
		{"a paragraph first", LLMsTxt, AtPath, "Hello\n\n# Example\n", "invalid no_heading"},
		{"an empty text", LLMsFull, AtPath, " \n", "invalid empty"},
		{"signed", SecurityTxt, AtPath, "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nContact: mailto:a@b.example\n" +
			"Expires: 2030-01-01t00:00:00z\n-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n", "valid"},
		{"no date", SecurityTxt, AtPath, "Contact: x\nExpires: soon\n", "invalid expires"},
		{"nobody sells", AdsTxt, AtPath, "# nothing\n", "valid empty"},
		{"a key with another's name", Signatures, AtPath,
			`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"lHd0lpUWyGwZoJ9bGDDkDBqLta3CucH1cWMFQkX-dtI","kid":"a"}]}`, "valid kid"},
		{"a key out of date", Signatures, AtPath, `{"keys":[{"kty":"OKP","exp":1}]}`, "valid expired"},
		{"a key of no type", Signatures, AtPath, `{"keys":[{"kid":"a"}]}`, "invalid no_key_type"},
	} {
		d := Read(c.kind, []byte(c.body), Served{URL: "https://a.example/x", Time: examplesTime, By: c.by})
		if diff := cmp.Diff(c.want, told(d)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
}

// The licence of a key that RFC 8037 prints has the thumbprint that it prints.
func TestThumbprint(t *testing.T) {
	key := map[string]any{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
	if got := thumbprint(key); got != "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" {
		t.Errorf("thumbprint %s", got)
	}
}

func TestRSLMeaning(t *testing.T) {
	const open, end = `<rsl xmlns="https://rslstandard.org/rsl">`, `</rsl>`
	for _, c := range []struct{ what, body, path, use, user, geo, want string }{
		{"of offers, the one that names the use",
			`<content url="/"><license><permits type="usage">all</permits></license><license><permits type="usage">ai-train</permits><payment type="crawl"/></license></content>`, "/", "ai-train", "", "", "priced crawl"},
		{"the other uses are of the other offer",
			`<content url="/"><license><permits type="usage">all</permits></license><license><permits type="usage">ai-train</permits><payment type="crawl"/></license></content>`, "/", "search", "", "", "allow"},
		{"the offer for whom it is",
			`<content url="/"><license><permits type="usage">all</permits></license><license><permits type="usage">all</permits><permits type="user">commercial</permits><payment type="purchase"/></license></content>`, "/", "search", "commercial", "", "priced purchase"},
		{"two offers for all: the cheaper",
			`<content url="/"><license><permits type="usage">search</permits><payment type="purchase"/></license><license><permits type="usage">search</permits></license></content>`, "/", "search", "", "", "allow"},
		{"another licence prohibits",
			`<content url="/"><license><permits type="usage">all</permits></license><license><prohibits type="usage">ai-all</prohibits></license></content>`, "/", "ai-input", "", "", "disallow self_contradiction"},
		{"users are prohibited",
			`<content url="/"><license><permits type="usage">all</permits><prohibits type="user">commercial</prohibits></license></content>`, "/", "search", "commercial", "", "disallow self_contradiction"},
		{"others are not",
			`<content url="/"><license><permits type="usage">all</permits><prohibits type="user">commercial</prohibits></license></content>`, "/", "search", "education", "", "allow"},
		{"a member of the union",
			`<content url="/"><license><permits type="usage">all</permits><permits type="geo">EU</permits></license></content>`,
			"/", "search", "", "FR", "allow"},
		{"an empty list of permits", `<content url="/"><license><permits type="usage"></permits></license></content>`, "/",
			"search", "", "", "disallow closed_list"},
		{"the narrower path does not speak of it",
			`<content url="/"><license><prohibits type="usage">search</prohibits></license></content><content url="/a"><license><prohibits type="usage">ai-train</prohibits></license></content>`, "/a", "search", "", "", "disallow"},
		{"the same path twice: the stricter",
			`<content url="/a"><license><permits type="usage">search</permits></license></content><content url="/a"><license><prohibits type="usage">search</prohibits></license></content>`, "/a", "search", "", "", "disallow"},
		{"an amount of nothing, without a type",
			`<content url="/"><license><permits type="usage">search</permits><payment><amount currency="USD">0</amount></payment></license></content>`, "/", "search", "", "", "allow"},
		{"goodwill",
			`<content url="/"><license><permits type="usage">search</permits><payment type="contribution"/></license></content>`, "/", "search", "", "", "allow contribution"},
		{"a use of no version", `<content url="/"><license><permits type="usage">all</permits></license></content>`, "/",
			"cooking", "", "", "allow"},
	} {
		d := readMeant(RSL, []byte(open+c.body+end), Served{URL: "https://a.example/license.xml", By: Named})
		a := d.Means(Question{Path: c.path, Use: c.use, User: c.user, Geo: c.geo})
		got := strings.TrimSpace(preferenceWords[a.Means] + " " + a.Condition)
		if a.Remarks != nil {
			got += " " + strings.Join(a.Remarks, " ")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q (%s)", c.what, got, c.want, told(d.Document))
		}
	}
}

// What a site sends to do harm is bounded.
func TestHostile(t *testing.T) {
	open := `<rsl xmlns="https://rslstandard.org/rsl">`
	deep := strings.Repeat("<x:a>", 100000)
	for _, c := range []struct {
		what       string
		kind       Kind
		body, want string
	}{
		{"100,000 locations", TDMRep, "[" + strings.Repeat(`{"location":"/*a*b*c*d$","tdm-reservation":1},`, 100000) +
			`{"location":"/","tdm-reservation":0}]`, "invalid not_json too_long,limit"},
		{"20,000 locations", TDMRep, "[" + strings.Repeat(`{"location":"/*a*b$","tdm-reservation":1},`, 20000) +
			`{"location":"/","tdm-reservation":0}]`, "valid limit"},
		{"50 MB", TDMRep, "[" + strings.Repeat(" ", 50<<20), "invalid not_json too_long"},
		{"arrays in arrays", TDMRep, strings.Repeat("[", 1<<20), "invalid not_json"},
		{"entities in entities", RSL, `<!DOCTYPE rsl [<!ENTITY a "` + strings.Repeat("a", 1000) + `"><!ENTITY b "` +
			strings.Repeat("&a;", 1000) + `">]>` + open +
			`<content url="/"><license><prohibits type="usage">&b;</prohibits></license></content></rsl>`, "invalid not_xml"},
		{"an entity outside", RSL, `<!DOCTYPE rsl SYSTEM "file:///etc/passwd">` + open +
			`<content url="/"><terms>&x;</terms><license/></content></rsl>`, "invalid not_xml"},
		{"elements in elements", RSL, `<rsl xmlns="https://rslstandard.org/rsl" xmlns:x="x">` + deep, "invalid too_deep"},
		{"elements of our own in each other", RSL, open + `<content url="/">` + strings.Repeat("<license>", 1000),
			"invalid unknown_element"},
		{"100,000 contents", RSL, open + strings.Repeat(`<content url="/a"><license/></content>`, 20000) + "</rsl>",
			"valid limit"},
		{"100,000 words", RSL, open + `<content url="/"><license><prohibits type="usage">` + strings.Repeat("x ", 100000) +
			"</prohibits></license></content></rsl>", "valid token_unknown"},
		{"a group of 100,000 rules", AITxt, "User-agent: *\n" + strings.Repeat("Disallow: *a*b*c\n", 50000),
			"valid spawning limit"},
		{"100,000 agents", AITxt, "Training: deny\n" + strings.Repeat("Agent: a\n  Training: allow\n", 30000),
			"valid car required"},
		{"100,000 keys", Signatures, `{"keys":[` + strings.Repeat(`{"kty":"OKP"},`, 60000) + `{"kty":"OKP"}]}`, "valid"},
	} {
		d := readMeant(c.kind, []byte(c.body), Served{URL: "https://a.example/", By: Named})
		if got, _, _ := strings.Cut(told(d.Document), "\n"); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
		if len(d.Statements) > maxStatements {
			t.Errorf("%s: %d statements", c.what, len(d.Statements))
		}
		d.Means(Question{Path: "/" + strings.Repeat("ab", 1000), Use: "ai-train", Agent: "x"})
	}
}

// No document makes the reader fail, and no valid one of the first two kinds is a page.
func FuzzRead(f *testing.F) {
	f.Add(`[{"location":"/","tdm-reservation":1}]`)
	f.Add(`<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license><permits type="usage">all</permits></license></content></rsl>`)
	f.Add("User-Agent: *\nDisallow: *.jpg")
	f.Add("Training: deny\nAgent: x\n\tTraining: allow")
	f.Fuzz(func(t *testing.T, text string) {
		for kind := range kinds {
			d := readMeant(kind, []byte(text), Served{URL: "https://a.example/", By: Named})
			d.Means(Question{Path: "/a", Use: "ai-train", Agent: "a"})
			if d.Invalid != "" && d.Statements != nil {
				t.Errorf("%s: an invalid document states something", kind)
			}
		}
	})
}
