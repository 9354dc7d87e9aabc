package consent

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/usage"
)

func TestReadHead(t *testing.T) {
	page := `<!doctype html><HTML><head><META NAME=Robots CONTENT='noindex'>
<meta property="og:title" content="x"><meta name="description" content="noai"><meta name="googlebot" content="nosnippet, max-snippet:0">
<!-- <meta name="tdm-reservation" content="1"> --><script>"<meta name='robots' content='noai'>"</script>
<link rel="icon" href="/i"><LINK REL="license nofollow" TYPE="application/rsl+xml; charset=utf-8" HREF=" /license.xml "><link rel=license href=/by/>
<script type="application/rsl+xml"> <rsl/> </script><template><meta name="tdm-policy" content="https://p.example"></template>`
	h := ReadHead([]byte(page))
	var meta []string
	for _, f := range h.Meta {
		meta = append(meta, f.Name+"="+*f.Value)
	}
	if got, want := fmt.Sprint(meta), "[robots=noindex description=noai googlebot=nosnippet, max-snippet:0 "+
		"tdm-policy=https://p.example]"; got != want {
		t.Errorf("meta %s, want %s", got, want)
	}
	if got := fmt.Sprintf("%q %q", h.Licenses, h.RSL); got != `["/license.xml"] ["<rsl/>"]` {
		t.Errorf("licences %s", got)
	}
	far := strings.Repeat(" ", HeadBytes) + `<meta name=robots content=noai>`
	if h := ReadHead([]byte(far)); h.Meta != nil {
		t.Error("an element beyond the beginning is read")
	}
	many := ReadHead([]byte(strings.Repeat("<meta name=robots content=noai>", 2000)))
	if len(many.Meta) != maxMeta {
		t.Errorf("%d elements are kept", len(many.Meta))
	}
}

func TestOfMeta(t *testing.T) {
	var got []string
	for _, s := range labels.OfMeta(
		ReadHead(
			[]byte(`<meta name=robots content="NoAI, frob"><meta name=googlebot content="nosnippet"><meta name=generator content="a b"><meta name=ccbot content="nofollow,x"><meta name=tdm-reservation content=" 1 "><meta name=bingbot content="noarchive, nocache"><meta name=bingbot content="">`)).Meta) {
		use := "-"
		if s.Use != usage.NoUse {
			use = s.Use.String()
		}
		got = append(got, fmt.Sprintf("%s %s %s %s %s %s", s.Header, s.Agent, s.Label, use, s.Preference, s.Remark))
	}
	want := `robots * noai ai-train disallow |robots * frob - unknown unknown_label|robots googlebot nosnippet ai-input disallow |tdm-reservation * tdm-reservation ai-train disallow |` +
		`robots bingbot noarchive - unknown |robots bingbot nocache - unknown `
	if strings.Join(got, "|") != want {
		t.Errorf("statements\n%s, want\n%s", strings.Join(got, "|"), want)
	}
}

func TestLinkedLicenses(t *testing.T) {
	for _, c := range []struct{ link, want string }{
		{`</license.xml>; rel="license"; type="application/rsl+xml"`, "[/license.xml]"},
		{`<a>; rel=license, <b>;type="application/rsl+xml";rel="x license" , <c>; rel=license; type=application/rsl+xml`,
			"[b c]"},
		{`<a>; title="x, <y>; rel=license"; rel="license"; type="application/rsl+xml"`, "[a]"},
		{`<a>; rel="next"; rel="license"; type="application/rsl+xml"`, "[]"},
		{`<a`, "[]"}, {``, "[]"}, {`<a>; rel`, "[]"}, {`;;<>;=`, "[]"},
	} {
		if got := fmt.Sprint(LinkedLicenses([]string{c.link})); got != c.want {
			t.Errorf("%s: %s, want %s", c.link, got, c.want)
		}
	}
	if n := len(LinkedLicenses([]string{strings.Repeat(`<a>; rel=license; type="application/rsl+xml",`,
		1000)})); n != maxLinks {
		t.Errorf("%d links", n)
	}
}

// What each place says counts over the one before; silence resets nothing.
func TestPageMeans(t *testing.T) {
	reserved := readMeant(TDMRep, []byte(`[{"location":"/","tdm-reservation":1,"tdm-policy":"https://p.example"}]`),
		Served{})
	for _, c := range []struct{ what, header, body, use, agent, want string }{
		{"the file alone", "", "", "ai-train", "", "disallow 1 https://p.example"},
		{"the header says less", "Tdm-Reservation: 0", "", "ai-train", "", "nothing 0 "},
		{"twice the same", "Tdm-Reservation: 1|Tdm-Reservation: 1", "", "ai-train", "", "disallow 1 https://p.example"},
		{"twice, and not the same: unset", "Tdm-Reservation: 0|Tdm-Reservation: 1", "", "ai-train", "",
			"disallow 1 https://p.example contradiction"},
		{"a joined value is none", "Tdm-Reservation: 0, 0", "", "ai-train", "", "disallow 1 https://p.example value"},
		{"HTML says more", "Tdm-Reservation: 0",
			"<meta name=tdm-reservation content=1><meta name=tdm-policy content=https://q.example>", "ai-train", "",
			"disallow 1 https://q.example"},
		{"another use", "", "", "search", "", "nothing  "},
		{"a rule for Google's crawler", "X-Robots-Tag: googlebot: max-snippet:0", "", "ai-input", "Googlebot", "disallow 0 "},
		{"and not for another's", "X-Robots-Tag: nosnippet", "", "ai-input", "gptbot", "nothing  "},
		{"Bing, in two places", "X-Robots-Tag: noarchive", "<meta name=bingbot content=nocache>", "ai-input", "bingbot",
			"nothing nocache "},
		{"Bing's answers", "X-Robots-Tag: noarchive", "", "ai-input", "bingbot", "disallow noarchive "},
		{"a product's default", "Content-Signal: ai-input=yes|Content-Type: text/markdown", "", "ai-input", "",
			"nothing   default"},
		{"the owner's word", "Content-Signal: ai-input=yes|Content-Type: text/html", "", "ai-input", "", "allow yes "},
		{"the stricter of two", "Content-Signal: ai-input=yes|Robots-Tag: *;nosnippet", "", "ai-input", "x",
			"disallow nosnippet "},
		{"no list of fields", "Robots-Tag: nosnippet;;", "", "ai-input", "x", "nothing  "},
	} {
		h := make(http.Header)
		for line := range strings.SplitSeq(c.header, "|") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				h.Add(name, value)
			}
		}
		p := ReadPage(labels, h, []byte(c.body))
		a := p.Means(Question{Path: "/", Use: c.use, Agent: c.agent}, reserved)
		got := preferenceWords[a.Means] + " " + a.Raw + " " + a.Policy
		for _, r := range a.Remarks {
			got += " " + r
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

func TestPriceOf(t *testing.T) {
	for _, c := range []struct {
		status       int
		header, body string
		want         string
	}{
		{402, "Crawler-Price: USD 0.01", "", "crawler-price|USD 0.01|"},
		{403, "Crawler-Price: USD 0.01", "", "crawler-price|USD 0.01|"}, // whatever the refusal, the server has said it
		{401, "Crawler-Price: USD 0.01", "", "crawler-price|USD 0.01|"},
		{429, "Payment-Required: %%%", "", "payment-required|%%%|"},
		{200, "Crawler-Price: USD 0.01", "", "none"},
		{503, "Crawler-Price: USD 0.01", "", "none"},
		{403, "Www-Authenticate: Payment id=\"a\"", "", "none"},
		{403, "", `{"x402Version":1,"accepts":[{"maxAmountRequired":"1","asset":"0xa","network":"base"}]}`, "none"},
		{402, "Www-Authenticate: Payment id=\"a\"", "", `www-authenticate|Payment id="a"|`},
		{401, "Www-Authenticate: License realm=x", "", "www-authenticate|License realm=x|"},
		{401, "Www-Authenticate: Basic realm=x", "", "none"},
		{402, "Www-Authenticate: L402 macaroon=a, invoice=b", "", "www-authenticate|L402 macaroon=a, invoice=b|"},
		{402, "Payment-Required: %%%", "", "payment-required|%%%|"},
		{402, "", `{"x402Version":1,"accepts":[]}`, "none"},
		{402, "", `<html>pay</html>`, "none"},
		{402, "", strings.Repeat("[", 1<<20), "none"},
		{200, "Payment-Required: x", "", "none"},
	} {
		h := make(http.Header)
		if name, value, ok := strings.Cut(c.header, ": "); ok {
			h.Add(name, value)
		}
		got := "none"
		if p, ok := PriceOf(c.status, h, []byte(c.body)); ok {
			got = p.Header + "|" + p.Text + "|" + p.Amount
		}
		if got != c.want {
			t.Errorf("%d %s: %s, want %s", c.status, c.header, got, c.want)
		}
	}
}

func TestAlike(t *testing.T) {
	home := func(path, more string) Shown {
		return Shown{path, []byte(`<!doctype html><html><head><title>Shop ` + path +
			`</title></head><body><nav>Home Products About Contact Imprint Terms</nav>
<p>We could not find what you look for, so here is our home page with all that we sell.</p>` + more + `</body></html>`)}
	}
	text := func(s string) Shown { return Shown{"/llms.txt", []byte(s)} }
	for _, c := range []struct {
		what string
		a, b Shown
		want bool
	}{
		{"the path is in the page", home("/llms.txt", ""), home("/qx7bdnfk.txt", ""), true},
		{"numbers and tokens", home("/llms.txt", `<input value="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"> 12:01`),
			home("/qx7bdnfk.txt", `<input value="60303ae22b998861bce3b28f33eec1be758a213c"> 12:02`), true},
		{"one of several adverts", home("/a.txt", "<p>Buy hats</p>"), home("/b.txt", "<p>Buy shoes</p>"), true},
		{"a document", text("# Shop\n\nWhat we sell\n\n- [hats](https://a.example/hats)"), home("/qx7bdnfk.txt", ""), false},
		{"two documents", text("# Shop\n\nWhat we sell: hats and gloves"), text("# Shop\n\nWhat we buy: wool, silk, felt"),
			false},
		{"a page of the same site with a text of its own",
			home("/about.html", "<h1>About us</h1><p>Our shop was founded by two sisters who could not find gloves "+
				"that fit them</p>"), home("/b.html", ""), false},
		{"nothing, twice", text(""), text(" \n"), true},
		{"nothing, and something", text(""), text("x"), false},
		{"the same bytes", text("12"), text("12"), true},
		{"other order", text("a b c d e f g h i j k l"), text("l k j i h g f e d c b a"), false},
	} {
		if got := Alike(c.a, c.b); got != c.want {
			t.Errorf("%s: %t, want %t", c.what, got, c.want)
		}
	}
	big := Shown{"/a", []byte(strings.Repeat("word ", 10<<20))}
	if !Alike(big, Shown{"/b", big.Body[:len(big.Body)-5]}) {
		t.Error("a large page is not its like")
	}
}

func TestOutcomeOf(t *testing.T) {
	for status, want := range map[int]Outcome{0: Unreachable, 204: Absent, 206: Absent, 304: Absent, 301: Absent,
		401: Refused, 402: Refused, 403: Refused, 404: Absent, 410: Absent, 429: Refused, 451: Refused, 500: Unreachable,
		503: Unreachable} {
		if got, decided := OutcomeOf(status); got != want || !decided {
			t.Errorf("%d: %s", status, got)
		}
	}
	if _, decided := OutcomeOf(200); decided {
		t.Error("a 200 is decided without its body")
	}
}
