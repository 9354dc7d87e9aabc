package robots

import (
	"strings"
	"testing"
	"time"
)

const robotsURL = "http://example.com/robots.txt"

// chain is hops of the given statuses.
func chain(statuses ...int) []Hop {
	var hops []Hop
	for _, s := range statuses {
		hops = append(hops, Hop{robotsURL, s})
	}
	return hops
}

// TestAnswer is the first table of SPEC 2. Each answer is "outcome reason".
func TestAnswer(t *testing.T) {
	const (
		good      = "conditional_allow success"
		noFile    = "full_allow client_error"
		down      = "full_disallow server_error"
		undecided = "undefined network_failure"
	)
	// fail is the answer to a failure under each profile.
	fail := func(reason string) by {
		yes, open := "full_disallow "+reason, "undefined "+reason
		return by{yes, yes, open, open, yes}
	}
	for _, c := range []struct {
		name  string
		facts Facts
		want  by
	}{
		{"200", Facts{Hops: chain(200)}, all(good)},
		{"206", Facts{Hops: chain(206)}, all(good)},
		{"204", Facts{Hops: chain(204)}, all(good)},
		{"one redirect", Facts{Hops: chain(301, 200)}, all(good)},
		{"5 redirects", Facts{Hops: chain(301, 302, 303, 307, 308, 200)}, all(good)},
		{"6 redirects", Facts{Hops: chain(301, 302, 303, 307, 308, 301, 200)}, all("full_allow redirect_limit")},
		{"limit told", Facts{Hops: chain(301), Error: RedirectLimit}, all("full_allow redirect_limit")},
		{"limit before failure", Facts{Hops: chain(301, 301, 301, 301, 301, 301), Error: Timeout}, all("full_allow redirect_limit")},
		{"redirect to 404", Facts{Hops: chain(301, 404)}, all(noFile)},
		{"redirect to 500", Facts{Hops: chain(301, 500)}, all(down)},
		{"redirect to failure", Facts{Hops: chain(301), Error: ConnectRefused}, fail("network_failure")},
		{"redirect to failure, noted", Facts{Hops: chain(301, 0), Error: ConnectRefused}, fail("network_failure")},
		{"no location", Facts{Hops: chain(301), Error: RedirectInvalid}, all("full_allow redirect_invalid")},
		{"no location, no error", Facts{Hops: chain(301)}, all("full_allow redirect_invalid")},
		{"to mailto", Facts{Hops: chain(301), Error: RedirectUnsupported}, all("full_allow redirect_unsupported")},
		{"loop", Facts{Hops: chain(301, 301), Error: RedirectLoop}, all("full_allow redirect_loop")},
		{"stored revisit", Facts{Hops: chain(200), Unstored: true}, all("undefined revisit_unresolved")},
		{"stored revisit without a header", Facts{Hops: chain(0), Unstored: true}, all("undefined revisit_unresolved")},
		{"stored revisit of an error", Facts{Hops: chain(404), Unstored: true}, all("full_allow client_error")},
		{"stored redirect", Facts{Hops: chain(301), Unfollowed: true}, all("undefined redirect_unresolved")},
		{"html redirect", Facts{Hops: chain(200), HTMLRedirect: true},
			by{good, good, "undefined html_redirect", "undefined html_redirect", good}},
		{"400", Facts{Hops: chain(400)}, all(noFile)},
		{"401", Facts{Hops: chain(401)}, all(noFile)},
		{"403", Facts{Hops: chain(403)}, all(noFile)},
		{"404", Facts{Hops: chain(404)}, all(noFile)},
		{"410", Facts{Hops: chain(410)}, all(noFile)},
		{"429", Facts{Hops: chain(429)}, all(noFile)},
		{"499", Facts{Hops: chain(499)}, all(noFile)},
		{"404 cut", Facts{Hops: chain(404), Error: TruncatedBody}, all(noFile)},
		{"500", Facts{Hops: chain(500)}, all(down)},
		{"503", Facts{Hops: chain(503)}, all(down)},
		{"599", Facts{Hops: chain(599)}, all(down)},
		{"misconfigured", Facts{Hops: chain(500), Misconfigured: true}, by{
			"full_allow misconfigured_server", "full_allow misconfigured_server",
			"full_allow misconfigured_server", "full_allow misconfigured_server", down}},
		{"304", Facts{Hops: chain(304)}, fail("invalid_response")},
		{"100", Facts{Hops: chain(100)}, fail("invalid_response")},
		{"600", Facts{Hops: chain(600)}, fail("invalid_response")},
		{"nothing", Facts{}, fail("network_failure")},
		{"dns", Facts{Error: DNSNotFound}, fail("network_failure")},
		{"tls", Facts{Error: TLSFailure}, fail("network_failure")},
		{"timeout in the body", Facts{Hops: chain(200), Error: Timeout}, fail("network_failure")},
		{"chunking", Facts{Hops: chain(200), Error: Protocol}, fail("invalid_response")},
		{"headers", Facts{Error: HeaderTooLarge}, fail("invalid_response")},
		{"short body", Facts{Hops: chain(200), Error: TruncatedBody}, fail("incomplete_body")},
		{"our refusal", Facts{Error: AddressBlocked}, all("undefined address_blocked")},
		{"our refusal of a hop", Facts{Hops: chain(302), Error: AddressBlocked}, all("undefined address_blocked")},
		{"stopped", Facts{Error: Canceled}, all(undecided)},
		{"ftp transfer", Facts{Hops: []Hop{{"ftp://h/robots.txt", 226}}}, all(good)},
		{"ftp no such file", Facts{Hops: []Hop{{"FTP://h/robots.txt", 550}}}, all(noFile)},
		{"ftp not now", Facts{Hops: []Hop{{"ftp://h/robots.txt", 421}}}, all(down)},
		{"ftp no login", Facts{Hops: []Hop{{"ftp://h/robots.txt", 530}}}, all(down)},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachProfile(t, func(t *testing.T, p *Profile) {
				a := p.Answer(c.facts)
				if got := string(a.Outcome) + " " + string(a.Reason); got != c.want.of(p.Name) || a.UseCopy {
					t.Errorf("got %s, copy %v, want %s", got, a.UseCopy, c.want.of(p.Name))
				}
			})
		})
	}
}

// TestAnswerMemory is the second table of SPEC 2.
func TestAnswerMemory(t *testing.T) {
	const day = 24 * time.Hour
	const (
		stale   = "conditional_allow stale_copy"
		down    = "full_disallow server_error"
		broken  = "full_disallow network_failure"
		open    = "undefined network_failure"
		long    = "full_allow unreachable_too_long"
		forever = "undefined unreachable_too_long"
	)
	for _, c := range []struct {
		name  string
		facts Facts
		want  by
	}{
		{"5xx, no copy", Facts{Hops: chain(500), Memory: Memory{30 * day, false}}, all(down)},
		{"5xx, copy", Facts{Hops: chain(500), Memory: Memory{day, true}}, by{down, down, down, down, stale}},
		{"5xx, first time, copy", Facts{Hops: chain(503), Memory: Memory{0, true}}, by{down, down, down, down, stale}},
		{"5xx, long, no copy", Facts{Hops: chain(500), Memory: Memory{30*day + 1, false}}, by{long, long, forever, forever, long}},
		{"5xx, long, copy", Facts{Hops: chain(500), Memory: Memory{31 * day, true}}, by{stale, stale, forever, forever, stale}},
		{"network, no copy", Facts{Error: DNSFailure, Memory: Memory{day, false}}, by{broken, broken, open, open, broken}},
		{"network, copy", Facts{Error: DNSFailure, Memory: Memory{30 * day, true}}, by{broken, broken, stale, stale, stale}},
		{"network, long, no copy", Facts{Error: Reset, Memory: Memory{31 * day, false}}, by{long, long, forever, forever, long}},
		{"network, long, copy", Facts{Error: Reset, Memory: Memory{31 * day, true}}, by{stale, stale, forever, forever, stale}},
		// What is no outage does not look at the memory.
		{"404, copy", Facts{Hops: chain(404), Memory: Memory{31 * day, true}}, all("full_allow client_error")},
		{"200, copy", Facts{Hops: chain(200), Memory: Memory{31 * day, true}}, all("conditional_allow success")},
		{"our refusal, copy", Facts{Error: AddressBlocked, Memory: Memory{31 * day, true}}, all("undefined address_blocked")},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachProfile(t, func(t *testing.T, p *Profile) {
				a := p.Answer(c.facts)
				want := c.want.of(p.Name)
				if got := string(a.Outcome) + " " + string(a.Reason); got != want || a.UseCopy != (want == stale) {
					t.Errorf("got %s, copy %v, want %s", got, a.UseCopy, want)
				}
			})
		})
	}
}

// TestAnswerFields changes the fields that are off in every built-in profile.
func TestAnswerFields(t *testing.T) {
	p := named(t, "google")
	p.TooManyRequests = ServerError
	if a := p.Answer(Facts{Hops: chain(429)}); a.Outcome != FullDisallow {
		t.Errorf("429 as 5xx: got %+v", a)
	}
	p.MaxRedirects = 0
	if a := p.Answer(Facts{Hops: chain(301, 200)}); a.Reason != TooManyRedirects {
		t.Errorf("no redirects: got %+v", a)
	}
	p.MaxRedirects = 10
	if a := p.Answer(Facts{Hops: chain(301, 301, 301, 301, 301, 301, 200)}); a.Reason != Success {
		t.Errorf("ten redirects: got %+v", a)
	}
}

func TestAnswerVerdict(t *testing.T) {
	for outcome, want := range map[Outcome]Verdict{
		FullAllow:    {Allowed, ReasonFullAllow, -1},
		FullDisallow: {Disallowed, ReasonFullDisallow, -1},
		Undecided:    {Undefined, ReasonUndefined, -1},
	} {
		if v, ok := (Answer{Outcome: outcome}).Verdict(); v != want || !ok {
			t.Errorf("%s: got %+v, %v", outcome, v, ok)
		}
	}
	if _, ok := (Answer{Outcome: ConditionalAllow}).Verdict(); ok {
		t.Error("conditional_allow decides")
	}
}

func TestProfileValidate(t *testing.T) {
	eachProfile(t, func(t *testing.T, p *Profile) {
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	})
	for want, change := range map[string]func(*Profile){
		"a profile needs a name": func(p *Profile) { p.Name = "" },
		"size_limit":             func(p *Profile) { p.SizeLimit = 0 },
		"max_redirects":          func(p *Profile) { p.MaxRedirects = -1 },
		"unreachable_limit":      func(p *Profile) { p.UnreachableLimit = -1 },
		"precedence: \"shortest\" is none of longest, longest_open, longest_or_least": func(p *Profile) { p.Precedence = "shortest" },
		"typos":             func(p *Profile) { p.Typos = "" },
		"server_error":      func(p *Profile) { p.ServerError = ConditionalAllow },
		"too_many_requests": func(p *Profile) { p.TooManyRequests = Success },
	} {
		p := named(t, "google")
		change(p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, ok := ProfileNamed("bing"); ok {
		t.Error("a profile bing is known")
	}
}

func TestAgentValidate(t *testing.T) {
	for token, want := range map[string]string{
		"Googlebot":    "",
		"MJ12bot":      "",
		"a.b_c-d":      "",
		"Foo/1.0":      `use "Foo"`,
		"Foo Bar":      `use "Foo"`,
		"*":            "begins with a character",
		"":             "empty token",
		"Jävla-Foobot": `use "J"`,
	} {
		for _, a := range []Agent{{Name: "x", Tokens: []string{token}}, {Name: "x", Tokens: []string{"x"}, FallsBackTo: []string{"y", token}}} {
			err := a.Validate()
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%q: got %v, want %q", token, err, want)
			}
		}
	}
	if err := (Agent{Name: "x", Tokens: []string{"x", "y"}, FallsBackTo: []string{"z", "Y"}}).Validate(); err == nil || !strings.Contains(err.Error(), `its own token "Y"`) {
		t.Errorf("falls back to itself: %v", err)
	}
	if err := (Agent{Name: "x"}).Validate(); err == nil {
		t.Error("an agent without tokens is valid")
	}
}

func TestHTML(t *testing.T) {
	for body, want := range map[string][2]bool{
		"<!DOCTYPE html><p>":             {true, false},
		"\xef\xbb\xbf \n<!-- x --><HTML": {true, false},
		"user-agent: *":                  {false, false},
		"":                               {false, false},
		"<foo>":                          {false, false},
		"<?xml version='1.0'?>\n<html>":  {true, false},
		`<html><meta http-equiv="refresh" content="0; url=http://x/">`:               {true, true},
		`<html><META content='0;URL=/x' HTTP-EQUIV=Refresh>`:                         {true, true},
		`<html><meta http-equiv="refresh" content="30">`:                             {true, false},
		`<html><!-- <meta http-equiv="refresh" content="0; url=/"> --><p>`:           {true, false},
		`<html><frameset><frame src="/x"></frameset>`:                                {true, true},
		`<html><iframe src="/x"></iframe>`:                                           {true, false},
		`<html><meta name="description" content="how to refresh a url, http-equiv">`: {true, false},
		`user-agent: * <meta http-equiv="refresh" content="0; url=/">`:               {false, false},
	} {
		if got := [2]bool{IsHTML([]byte(body)), HTMLRedirect([]byte(body))}; got != want {
			t.Errorf("%s: got %v, want %v", body, got, want)
		}
	}
}
