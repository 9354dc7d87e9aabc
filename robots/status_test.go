package robots

import (
	"math"
	"strings"
	"testing"
	"time"
)

const robotsURL = "http://example.com/robots.txt"

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
	const cannot = "full_allow redirect_unsupported"
	nowhere := by{cannot, cannot, "undefined redirect_unsupported", "undefined redirect_unsupported", cannot}
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
		{"limit told", Facts{Hops: chain(301, 301, 301, 301, 301, 301), Error: ErrorRedirectLimit}, all("full_allow redirect_limit")},
		{"not followed as far as the profile allows", Facts{Hops: chain(301, 301, 301, 301, 301), Error: ErrorRedirectLimit}, all("undefined redirect_unresolved")},
		{"limit before failure", Facts{Hops: chain(301, 301, 301, 301, 301, 301), Error: ErrorTimeout}, all("full_allow redirect_limit")},
		{"redirect to 404", Facts{Hops: chain(301, 404)}, all(noFile)},
		{"redirect to 500", Facts{Hops: chain(301, 500)}, all(down)},
		{"redirect to failure", Facts{Hops: chain(301), Error: ErrorConnectRefused}, fail("network_failure")},
		{"redirect to failure, noted", Facts{Hops: chain(301, 0), Error: ErrorConnectRefused}, fail("network_failure")},
		{"no location", Facts{Hops: chain(301), Error: ErrorRedirectInvalid}, all("full_allow redirect_invalid")},
		{"no location, no error", Facts{Hops: chain(301)}, all("full_allow redirect_invalid")},
		{"300 with a location, followed", Facts{Hops: chain(300, 200)}, all(good)},
		{"300 without a location", Facts{Hops: chain(300), Error: ErrorRedirectInvalid}, all("full_allow redirect_invalid")},
		{"300 to mailto", Facts{Hops: chain(300), Error: ErrorRedirectUnsupported}, nowhere},
		{"to mailto", Facts{Hops: chain(301), Error: ErrorRedirectUnsupported}, nowhere},
		{"6 redirects, then to mailto", Facts{Hops: chain(301, 301, 301, 301, 301, 301), Error: ErrorRedirectUnsupported}, all("full_allow redirect_limit")},
		{"loop", Facts{Hops: chain(301, 301), Error: ErrorRedirectLoop}, all("full_allow redirect_loop")},
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
		{"404 cut", Facts{Hops: chain(404), Error: ErrorTruncatedBody}, all(noFile)},
		{"500", Facts{Hops: chain(500)}, all(down)},
		{"503", Facts{Hops: chain(503)}, all(down)},
		{"599", Facts{Hops: chain(599)}, all(down)},
		{"misconfigured", Facts{Hops: chain(500), Misconfigured: true}, by{
			"full_allow misconfigured_server", "full_allow misconfigured_server",
			"full_allow misconfigured_server", "full_allow misconfigured_server", down}},
		{"304", Facts{Hops: chain(304)}, fail("invalid_response")},
		{"100", Facts{Hops: chain(100)}, fail("invalid_response")},
		{"600", Facts{Hops: chain(600)}, fail("invalid_response")},
		{"999", Facts{Hops: chain(999)}, fail("invalid_response")},
		{"redirect to 304", Facts{Hops: chain(301, 304)}, fail("invalid_response")},
		{"nothing", Facts{}, fail("network_failure")},
		{"dns", Facts{Error: ErrorDNSNotFound}, fail("network_failure")},
		{"tls", Facts{Error: ErrorTLS}, fail("network_failure")},
		{"timeout in the body", Facts{Hops: chain(200), Error: ErrorTimeout}, fail("network_failure")},
		{"chunking", Facts{Hops: chain(200), Error: ErrorProtocol}, fail("invalid_response")},
		{"headers", Facts{Error: ErrorHeaderTooLarge}, fail("invalid_response")},
		{"short body", Facts{Hops: chain(200), Error: ErrorTruncatedBody}, fail("incomplete_body")},
		{"our refusal", Facts{Error: ErrorAddressBlocked}, all("undefined address_blocked")},
		{"no route from here", Facts{Error: ErrorNoRoute}, all("undefined no_route")},
		{"our refusal of a hop", Facts{Hops: chain(302), Error: ErrorAddressBlocked}, all("undefined address_blocked")},
		{"stopped", Facts{Error: ErrorCanceled}, all(undecided)},
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

// TestAnswerMemory is the second table of SPEC 2, for an origin unreachable
// since the answer after the last good one.
func TestAnswerMemory(t *testing.T) {
	const day = 24 * time.Hour
	const (
		stale   = "conditional_allow stale_copy"
		down    = "full_disallow server_error"
		broken  = "full_disallow network_failure"
		bad     = "full_disallow invalid_response"
		open    = "undefined network_failure"
		badOpen = "undefined invalid_response"
		long    = "full_allow unreachable_too_long"
		forever = "undefined unreachable_too_long"
		// or is the copy or the outcome, undefined if they differ.
		or = "undefined stale_copy or "
	)
	for _, c := range []struct {
		name  string
		facts Facts
		since time.Duration
		copy  bool
		want  by
	}{
		{"5xx, no copy", Facts{Hops: chain(500)}, 30 * day, false, all(down)},
		{"5xx, copy", Facts{Hops: chain(500)}, day, true, by{down, down, down, down, or + "full_disallow"}},
		{"5xx, first time, copy", Facts{Hops: chain(503)}, 0, true, by{down, down, down, down, or + "full_disallow"}},
		{"5xx, long, no copy", Facts{Hops: chain(500)}, 30*day + 1, false, by{long, long, forever, forever, long}},
		{"5xx, long, copy", Facts{Hops: chain(500)}, 31 * day, true, by{stale, stale, forever, forever, or + "full_allow"}},
		{"network, no copy", Facts{Error: ErrorDNSFailure}, day, false, by{broken, broken, open, open, broken}},
		{"network, copy", Facts{Error: ErrorDNSFailure}, 30 * day, true, by{broken, broken, open, open, or + "full_disallow"}},
		{"network, long, no copy", Facts{Error: ErrorReset}, 31 * day, false, by{long, long, forever, forever, long}},
		{"network, long, copy", Facts{Error: ErrorReset}, 31 * day, true, by{stale, stale, forever, forever, or + "full_allow"}},
		{"other status, copy", Facts{Hops: chain(304)}, day, true, by{bad, bad, badOpen, badOpen, or + "full_disallow"}},
		{"other status, long, no copy", Facts{Hops: chain(600)}, 31 * day, false, by{long, long, forever, forever, long}},
		// rfc9309 has no misconfigured sites: this is a server error.
		{"misconfigured, copy", Facts{Hops: chain(500), Misconfigured: true}, day, true, by{
			"full_allow misconfigured_server", "full_allow misconfigured_server",
			"full_allow misconfigured_server", "full_allow misconfigured_server", or + "full_disallow"}},
		// Without an outage the memory does not count.
		{"404, copy", Facts{Hops: chain(404)}, 31 * day, true, all("full_allow client_error")},
		{"429, copy", Facts{Hops: chain(429)}, 31 * day, true, all("full_allow client_error")},
		{"200, copy", Facts{Hops: chain(200)}, 31 * day, true, all("conditional_allow success")},
		{"our refusal, copy", Facts{Error: ErrorAddressBlocked}, 31 * day, true, all("undefined address_blocked")},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachProfile(t, func(t *testing.T, p *Profile) {
				now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
				c.facts.Time, c.facts.Memory = now, &Memory{First: now.Add(-c.since)}
				if c.copy {
					c.facts.Memory = &Memory{Seen: []Seen{{AnswerKind{Class: AnswerSuccess}, now.Add(-c.since)}}, HasCopy: true}
				}
				a := p.Answer(c.facts)
				got := string(a.Outcome) + " " + string(a.Reason)
				if a.Instead != "" {
					got += " or " + string(a.Instead)
				}
				if got != c.want.of(p.Name) || a.UseCopy != (a.Reason == AnswerStaleCopy) {
					t.Errorf("got %s, copy %v, want %s", got, a.UseCopy, c.want.of(p.Name))
				}
				reached := map[AnswerReason]bool{AnswerSuccess: true, AnswerClientError: true, AnswerAddressBlocked: true, AnswerMisconfiguredServer: true}[a.Reason]
				if since := now.Add(-c.since); reached != a.UnreachableSince.IsZero() || !reached && !a.UnreachableSince.Equal(since) {
					t.Errorf("unreachable since %v, want %v", a.UnreachableSince, since)
				}
			})
		})
	}
}

// TestAnswerFields changes the fields of a profile one by one.
func TestAnswerFields(t *testing.T) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	outage := func(f Facts) Facts {
		f.Time, f.Memory = now, &Memory{Seen: []Seen{{AnswerKind{Class: AnswerSuccess}, now.Add(-time.Hour)}}, HasCopy: true}
		return f
	}
	for _, c := range []struct {
		name   string
		change func(*Profile)
		facts  Facts
		want   string
	}{
		{"429 as 5xx", func(p *Profile) { p.TooManyRequests = AnswerServerError }, Facts{Hops: chain(429)}, "full_disallow server_error"},
		{"429 as 5xx has the copy of 5xx", func(p *Profile) { p.TooManyRequests, p.ServerErrorCopy = AnswerServerError, TakeCopy },
			outage(Facts{Hops: chain(429)}), "conditional_allow stale_copy"},
		{"no redirects", func(p *Profile) { p.MaxRedirects = 0 }, Facts{Hops: chain(301, 200)}, "full_allow redirect_limit"},
		{"ten redirects", func(p *Profile) { p.MaxRedirects = 10 }, Facts{Hops: chain(301, 301, 301, 301, 301, 301, 200)}, "conditional_allow success"},
		{"to mailto, undefined", func(p *Profile) { p.RedirectUnsupported = OutcomeUndefined }, Facts{Hops: chain(301), Error: ErrorRedirectUnsupported}, "undefined redirect_unsupported"},
		{"another status, undefined", func(p *Profile) { p.OtherStatus = AnswerInvalidResponse }, Facts{Hops: chain(304)}, "undefined invalid_response"},
		{"another status, the copy of failures", func(p *Profile) { p.OtherStatus, p.NetworkCopy = AnswerInvalidResponse, TakeCopy },
			outage(Facts{Hops: chain(304)}), "conditional_allow stale_copy"},
		{"misconfigured as 5xx", func(p *Profile) { p.MisconfiguredAs404 = false }, Facts{Hops: chain(500), Misconfigured: true}, "full_disallow server_error"},
		{"5xx, the copy", func(p *Profile) { p.ServerErrorCopy = TakeCopy }, outage(Facts{Hops: chain(500)}), "conditional_allow stale_copy"},
		{"5xx, open", func(p *Profile) { p.ServerErrorCopy = EitherCopy }, outage(Facts{Hops: chain(500)}), "undefined stale_copy"},
		{"5xx, another outcome", func(p *Profile) { p.ServerError = FullAllow }, outage(Facts{Hops: chain(500)}), "full_allow server_error"},
		{"the copy of 5xx is not that of failures", func(p *Profile) { p.ServerErrorCopy = TakeCopy }, outage(Facts{Error: ErrorReset}), "full_disallow network_failure"},
		{"a short limit", func(p *Profile) { p.UnreachableLimit = time.Minute }, outage(Facts{Hops: chain(500)}), "conditional_allow stale_copy"},
		{"a short limit, no copy", func(p *Profile) { p.UnreachableLimit, p.UnreachableCopy = time.Minute, IgnoreCopy },
			outage(Facts{Hops: chain(500)}), "full_allow unreachable_too_long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := named(t, "google")
			c.change(p)
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
			a := p.Answer(c.facts)
			if got := string(a.Outcome) + " " + string(a.Reason); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// If a profile leaves open whether the copy is used, the verdict is that of
// both choices, or undefined.
func TestAnswerVerdict(t *testing.T) {
	body := []byte("User-agent: *\nDisallow: /private\n")
	for _, c := range []struct {
		name    string
		answer  Answer
		path    string
		profile string
		want    string
	}{
		{"full allow", Answer{Outcome: FullAllow}, "/private", "google", "allow full_allow"},
		{"full disallow", Answer{Outcome: FullDisallow}, "/", "google", "disallow full_disallow"},
		{"undefined", Answer{Outcome: OutcomeUndefined}, "/", "google", "undefined undefined"},
		{"the rules", Answer{Outcome: ConditionalAllow}, "/private", "google", "disallow rule"},
		{"copy or full disallow: they agree", Answer{OutcomeUndefined, AnswerStaleCopy, true, FullDisallow, time.Time{}}, "/private", "rfc9309", "disallow rule"},
		{"copy or full disallow: they differ", Answer{OutcomeUndefined, AnswerStaleCopy, true, FullDisallow, time.Time{}}, "/", "rfc9309", "undefined undefined"},
		{"copy or full allow: they agree", Answer{OutcomeUndefined, AnswerStaleCopy, true, FullAllow, time.Time{}}, "/", "rfc9309", "allow no_rule"},
		{"copy or full allow: they differ", Answer{OutcomeUndefined, AnswerStaleCopy, true, FullAllow, time.Time{}}, "/private", "rfc9309", "undefined undefined"},
		{"copy or undefined", Answer{OutcomeUndefined, AnswerStaleCopy, true, OutcomeUndefined, time.Time{}}, "/", "google", "undefined undefined"},
		{"robots.txt of a closed site", Answer{Outcome: FullDisallow}, "/robots.txt", "rfc9309", "allow robots_txt"},
		{"robots.txt, undefined", Answer{Outcome: OutcomeUndefined}, "/robots.txt", "rfc9309", "allow robots_txt"},
		{"robots.txt, copy or full disallow", Answer{OutcomeUndefined, AnswerStaleCopy, true, FullDisallow, time.Time{}}, "/robots.txt", "rfc9309", "allow robots_txt"},
		{"robots.txt is like another under google", Answer{Outcome: FullDisallow}, "/robots.txt", "google", "disallow full_disallow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := named(t, c.profile)
			var file File
			file.Parse(body, p)
			judge := NewJudge(p, []Agent{{Name: "Foobot", Tokens: []string{"Foobot"}}})
			judge.Load(&file)
			target := p.Target("http://example.com" + c.path)
			v, decided := c.answer.Verdict(&target)
			if rules := judge.Policy(0).Judge(&target); c.answer.AsksRules() {
				if w := c.answer.Weigh(rules); decided && w != v {
					t.Errorf("a verdict that was kept is weighed as %v, and %v decides", w, v)
				} else {
					v = w
				}
			}
			if got := v.Value.String() + " " + v.Reason.String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestProfileValidate(t *testing.T) {
	eachProfile(t, func(t *testing.T, p *Profile) {
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	})
	for want, change := range map[string]func(*Profile){
		"the profile has no name": func(p *Profile) { p.Name = "" },
		"size_limit":              func(p *Profile) { p.SizeLimit = 0 },
		"give at most 67108864":   func(p *Profile) { p.SizeLimit = MaxSizeLimit + 1 },
		"(64 MiB)":                func(p *Profile) { p.SizeLimit = math.MaxInt },
		"max_redirects":           func(p *Profile) { p.MaxRedirects = -1 },
		"unreachable_limit":       func(p *Profile) { p.UnreachableLimit = -1 },
		"precedence: \"shortest\" is not one of longest, longest_open, longest_or_least": func(p *Profile) { p.Precedence = "shortest" },
		"typos":             func(p *Profile) { p.Typos = "" },
		"server_error":      func(p *Profile) { p.ServerError = ConditionalAllow },
		"too_many_requests": func(p *Profile) { p.TooManyRequests = AnswerSuccess },
		"redirect_unsupported: \"full_disallow\" is not one of full_allow, undefined": func(p *Profile) { p.RedirectUnsupported = FullDisallow },
		"server_error_copy: \"true\" is not one of ignore, use, open":                 func(p *Profile) { p.ServerErrorCopy = "true" },
		"network_failure_copy": func(p *Profile) { p.NetworkCopy = "" },
		"unreachable_copy":     func(p *Profile) { p.UnreachableCopy = "" },
	} {
		p := named(t, "google")
		change(p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, ok := ProfileNamed("bing"); ok {
		t.Error("ProfileNamed finds bing")
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
		`<html><meta http-equiv="refresh" content="0; url=http://x/">`:                            {true, true},
		`<html><META content='0;URL=/x' HTTP-EQUIV=Refresh>`:                                      {true, true},
		`<html><meta http-equiv="refresh" content="30">`:                                          {true, false},
		`<html><!-- <meta http-equiv="refresh" content="0; url=/"> --><p>`:                        {true, false},
		`<html><frameset><frame src="/x"></frameset>`:                                             {true, true},
		`<html><iframe src="/x"></iframe>`:                                                        {true, false},
		`<html><meta name="description" content="how to refresh a url, http-equiv">`:              {true, false},
		`user-agent: * <meta http-equiv="refresh" content="0; url=/">`:                            {false, false},
		`<script>location = "/x"</script>`:                                                        {true, true},
		`<script>location.href='/x'</script>`:                                                     {true, true},
		`<script>location.replace("/x")</script>`:                                                 {true, true},
		"<html><script type=\"text/javascript\">\n  window . location\n= '/x';</script>":          {true, true},
		`<html><SCRIPT async>if(top!=self){top.location.href = self.location.href}</SCRIPT>`:      {true, true},
		`<html><script type=module>document.location.assign('/x')</script>`:                       {true, true},
		`<html><script>/* it's */ var s = "</p>"; location="/x"</script>`:                         {true, true},
		`<html><script>location.replace("/x")`:                                                    {true, true},
		`<html><script src="a.js"></script><script>location="/x"</script>`:                        {true, true},
		`<html><script>if (location == "/x") {}</script>`:                                         {true, false},
		`<html><script>x = location.href; y = location.pathname</script>`:                         {true, false},
		`<html><script>f(location => 1)</script>`:                                                 {true, false},
		`<html><script>let location = 1</script>`:                                                 {true, false},
		`<html><script>shop.location = 1; f().location = 2; mylocation = 3</script>`:              {true, false},
		`<html><script>// location = "/x"` + "\n/* location = 1 */ s = 'location = 2'</script>":   {true, false},
		`<html><script type="application/ld+json">{location = "/x"}</script>`:                     {true, false},
		`<html><p>location = "/x"`:                                                                {true, false},
		`<html><!-- <script>location = "/x"</script> --><p>`:                                      {true, false},
		`<html><script>document.write('<meta http-equiv="refresh" content="0; url=/">')</script>`: {true, false},
		`location = "/x"`: {false, false},
	} {
		if got := [2]bool{IsHTML([]byte(body)), HTMLRedirect([]byte(body))}; got != want {
			t.Errorf("%s: got %v, want %v", body, got, want)
		}
	}
}
