package robots

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/dialect"
)

const robotsURL = "http://example.com/robots.txt"

func chain(statuses ...int) []answer.Hop {
	var hops []answer.Hop
	for _, s := range statuses {
		hops = append(hops, answer.Hop{URL: robotsURL, Status: s})
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
		facts answer.Facts
		want  by
	}{
		{"200", answer.Facts{Hops: chain(200)}, all(good)},
		{"206", answer.Facts{Hops: chain(206)}, all(good)},
		{"204", answer.Facts{Hops: chain(204)}, all(good)},
		{"one redirect", answer.Facts{Hops: chain(301, 200)}, all(good)},
		{"5 redirects", answer.Facts{Hops: chain(301, 302, 303, 307, 308, 200)}, all(good)},
		{"6 redirects", answer.Facts{Hops: chain(301, 302, 303, 307, 308, 301, 200)}, all("full_allow redirect_limit")},
		{"limit told", answer.Facts{Hops: chain(301, 301, 301, 301, 301, 301), Error: answer.ErrorRedirectLimit},
			all("full_allow redirect_limit")},
		{"not followed as far as the profile allows", answer.Facts{Hops: chain(301, 301, 301, 301, 301),
			Error: answer.ErrorRedirectLimit}, all("undefined redirect_unresolved")},
		{"limit before failure", answer.Facts{Hops: chain(301, 301, 301, 301, 301, 301), Error: answer.ErrorTimeout},
			all("full_allow redirect_limit")},
		{"redirect to 404", answer.Facts{Hops: chain(301, 404)}, all(noFile)},
		{"redirect to 500", answer.Facts{Hops: chain(301, 500)}, all(down)},
		{"redirect to failure", answer.Facts{Hops: chain(301), Error: answer.ErrorConnectRefused}, fail("network_failure")},
		{"redirect to failure, noted", answer.Facts{Hops: chain(301, 0), Error: answer.ErrorConnectRefused},
			fail("network_failure")},
		{"no location", answer.Facts{Hops: chain(301), Error: answer.ErrorRedirectInvalid},
			all("full_allow redirect_invalid")},
		{"no location, no error", answer.Facts{Hops: chain(301)}, all("full_allow redirect_invalid")},
		{"300 with a location, followed", answer.Facts{Hops: chain(300, 200)}, all(good)},
		{"300 without a location", answer.Facts{Hops: chain(300), Error: answer.ErrorRedirectInvalid},
			all("full_allow redirect_invalid")},
		{"300 to mailto", answer.Facts{Hops: chain(300), Error: answer.ErrorRedirectUnsupported}, nowhere},
		{"to mailto", answer.Facts{Hops: chain(301), Error: answer.ErrorRedirectUnsupported}, nowhere},
		{"6 redirects, then to mailto", answer.Facts{Hops: chain(301, 301, 301, 301, 301, 301),
			Error: answer.ErrorRedirectUnsupported}, all("full_allow redirect_limit")},
		{"loop", answer.Facts{Hops: chain(301, 301), Error: answer.ErrorRedirectLoop}, all("full_allow redirect_loop")},
		{"stored revisit", answer.Facts{Hops: chain(200), Unstored: true}, all("undefined revisit_unresolved")},
		{"stored revisit without a header", answer.Facts{Hops: chain(0), Unstored: true},
			all("undefined revisit_unresolved")},
		{"stored revisit of an error", answer.Facts{Hops: chain(404), Unstored: true}, all("full_allow client_error")},
		{"stored redirect", answer.Facts{Hops: chain(301), Unfollowed: true}, all("undefined redirect_unresolved")},
		{"html redirect", answer.Facts{Hops: chain(200), HTMLRedirect: true},
			by{good, good, "undefined html_redirect", "undefined html_redirect", good}},
		{"400", answer.Facts{Hops: chain(400)}, all(noFile)},
		{"401", answer.Facts{Hops: chain(401)}, all(noFile)},
		{"403", answer.Facts{Hops: chain(403)}, all(noFile)},
		{"404", answer.Facts{Hops: chain(404)}, all(noFile)},
		{"410", answer.Facts{Hops: chain(410)}, all(noFile)},
		{"429", answer.Facts{Hops: chain(429)}, by{down, noFile, noFile, noFile, noFile}},
		{"499", answer.Facts{Hops: chain(499)}, all(noFile)},
		{"404 cut", answer.Facts{Hops: chain(404), Error: answer.ErrorTruncatedBody}, all(noFile)},
		{"500", answer.Facts{Hops: chain(500)}, all(down)},
		{"503", answer.Facts{Hops: chain(503)}, all(down)},
		{"599", answer.Facts{Hops: chain(599)}, all(down)},
		{"misconfigured", answer.Facts{Hops: chain(500), Misconfigured: true}, by{
			"full_allow misconfigured_server", "full_allow misconfigured_server",
			"full_allow misconfigured_server", "full_allow misconfigured_server", down}},
		{"304", answer.Facts{Hops: chain(304)}, fail("invalid_response")},
		{"100", answer.Facts{Hops: chain(100)}, fail("invalid_response")},
		{"600", answer.Facts{Hops: chain(600)}, fail("invalid_response")},
		{"999", answer.Facts{Hops: chain(999)}, fail("invalid_response")},
		{"redirect to 304", answer.Facts{Hops: chain(301, 304)}, fail("invalid_response")},
		{"nothing", answer.Facts{}, fail("network_failure")},
		{"dns", answer.Facts{Error: answer.ErrorDNSNotFound}, fail("network_failure")},
		{"tls", answer.Facts{Error: answer.ErrorTLS}, fail("network_failure")},
		{"timeout in the body", answer.Facts{Hops: chain(200), Error: answer.ErrorTimeout}, fail("network_failure")},
		{"chunking", answer.Facts{Hops: chain(200), Error: answer.ErrorProtocol}, fail("invalid_response")},
		{"content coding", answer.Facts{Hops: chain(200), Error: answer.ErrorUndecodableBody}, fail("invalid_response")},
		{"no address", answer.Facts{Error: answer.ErrorDNSNoAddress}, fail("network_failure")},
		{"headers", answer.Facts{Error: answer.ErrorHeaderTooLarge}, fail("invalid_response")},
		{"short body", answer.Facts{Hops: chain(200), Error: answer.ErrorTruncatedBody}, fail("incomplete_body")},
		{"our refusal", answer.Facts{Error: answer.ErrorAddressBlocked}, all("undefined address_blocked")},
		{"no route from here", answer.Facts{Error: answer.ErrorNoRoute}, all("undefined no_route")},
		{"our refusal of a hop", answer.Facts{Hops: chain(302), Error: answer.ErrorAddressBlocked},
			all("undefined address_blocked")},
		{"stopped", answer.Facts{Error: answer.ErrorCanceled}, all(undecided)},
		{"ftp transfer", answer.Facts{Hops: []answer.Hop{{URL: "ftp://h/robots.txt", Status: 226}}}, all(good)},
		{"ftp no such file", answer.Facts{Hops: []answer.Hop{{URL: "FTP://h/robots.txt", Status: 550}}}, all(noFile)},
		{"ftp no session, by 550", answer.Facts{
			Hops: []answer.Hop{{URL: "ftp://h/robots.txt", Status: 550}}, Error: answer.ErrorFTPRefused,
		}, all(down)},
		{"ftp broken off, by 550", answer.Facts{
			Hops: []answer.Hop{{URL: "ftp://h/robots.txt", Status: 550}}, Error: answer.ErrorTruncatedBody,
		}, fail("incomplete_body")},
		{"ftp not now", answer.Facts{Hops: []answer.Hop{{URL: "ftp://h/robots.txt", Status: 421}}}, all(down)},
		{"ftp no login", answer.Facts{Hops: []answer.Hop{{URL: "ftp://h/robots.txt", Status: 530}}}, all(down)},
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
		none    = "full_allow client_error"
		// or is the copy or the outcome, undefined if they differ.
		or = "undefined stale_copy or "
	)
	for _, c := range []struct {
		name  string
		facts answer.Facts
		since time.Duration
		copy  bool
		want  by
	}{
		{"5xx, half a day, no copy", answer.Facts{Hops: chain(500)}, day / 2, false, all(down)},
		{"5xx, half a day, copy", answer.Facts{Hops: chain(500)}, day / 2, true, by{down, down, down, down,
			or + "full_disallow"}},
		{"5xx, more than half a day, copy", answer.Facts{Hops: chain(500)}, day/2 + 1, true, by{stale, down, down, down,
			or + "full_disallow"}},
		{"5xx, no copy", answer.Facts{Hops: chain(500)}, 30 * day, false, by{long, down, down, down, down}},
		{"5xx, copy", answer.Facts{Hops: chain(500)}, day, true, by{stale, down, down, down, or + "full_disallow"}},
		{"5xx, first time, copy", answer.Facts{Hops: chain(503)}, 0, true, by{down, down, down, down, or + "full_disallow"}},
		{"5xx, long, no copy", answer.Facts{Hops: chain(500)}, 30*day + 1, false, by{forever, long, forever, forever, long}},
		{"5xx, long, a front page", answer.Facts{Hops: chain(500), Site: answer.SiteAnswers}, 31 * day, true,
			by{long, stale, forever, forever, or + "full_allow"}},
		{"5xx, long, no front page", answer.Facts{Hops: chain(500), Site: answer.SiteFails}, 31 * day, true,
			by{"full_disallow unreachable_too_long", stale, forever, forever, or + "full_allow"}},
		{"5xx, not long, a front page", answer.Facts{Hops: chain(500), Site: answer.SiteAnswers}, day / 2, true,
			by{down, down, down, down, or + "full_disallow"}},
		{"5xx, long, copy", answer.Facts{Hops: chain(500)}, 31 * day, true, by{forever, stale, forever, forever,
			or + "full_allow"}},
		{"network, no copy", answer.Facts{Error: answer.ErrorDNSFailure}, day, false, by{long, broken, open, open, broken}},
		{"network, copy", answer.Facts{Error: answer.ErrorDNSFailure}, 30 * day, true, by{stale, broken, open, open,
			or + "full_disallow"}},
		{"network, long, no copy", answer.Facts{Error: answer.ErrorReset}, 31 * day, false, by{forever, long, forever,
			forever, long}},
		{"network, long, copy", answer.Facts{Error: answer.ErrorReset}, 31 * day, true, by{forever, stale, forever, forever,
			or + "full_allow"}},
		{"other status, copy", answer.Facts{Hops: chain(304)}, day, true, by{stale, bad, badOpen, badOpen,
			or + "full_disallow"}},
		{"other status, long, no copy", answer.Facts{Hops: chain(600)}, 31 * day, false, by{forever, long, forever, forever,
			long}},
		// rfc9309 has no misconfigured sites: this is a server error.
		{"misconfigured, copy", answer.Facts{Hops: chain(500), Misconfigured: true}, day, true, by{
			"full_allow misconfigured_server", "full_allow misconfigured_server",
			"full_allow misconfigured_server", "full_allow misconfigured_server", or + "full_disallow"}},
		// Without an outage the memory does not count.
		{"404, copy", answer.Facts{Hops: chain(404)}, 31 * day, true, all("full_allow client_error")},
		{"429, copy", answer.Facts{Hops: chain(429)}, 31 * day, true, by{forever, none, none, none, none}},
		{"200, copy", answer.Facts{Hops: chain(200)}, 31 * day, true, all("conditional_allow success")},
		{"our refusal, copy", answer.Facts{Error: answer.ErrorAddressBlocked}, 31 * day, true,
			all("undefined address_blocked")},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachProfile(t, func(t *testing.T, p *Profile) {
				now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
				c.facts.Time, c.facts.Memory = now, &answer.Memory{First: now.Add(-c.since)}
				if c.copy {
					c.facts.Memory = &answer.Memory{Seen: []answer.Seen{{Kind: answer.Kind{Class: answer.Success},
						Next: now.Add(-c.since)}}, HasCopy: true}
				}
				a := p.Answer(c.facts)
				got := string(a.Outcome) + " " + string(a.Reason)
				if a.Instead != "" {
					got += " or " + string(a.Instead)
				}
				if got != c.want.of(p.Name) || a.UseCopy != (a.Reason == answer.StaleCopy) {
					t.Errorf("got %s, copy %v, want %s", got, a.UseCopy, c.want.of(p.Name))
				}
				reached := map[answer.Reason]bool{answer.Success: true, answer.ClientError: true, answer.AddressBlocked: true,
					answer.MisconfiguredServer: true}[a.Reason]
				if since := now.Add(-c.since); reached != a.UnreachableSince.IsZero() || !reached &&
					!a.UnreachableSince.Equal(since) {
					t.Errorf("unreachable since %v, want %v", a.UnreachableSince, since)
				}
			})
		})
	}
}

// TestAnswerFields changes the fields of a profile one by one.
func TestAnswerFields(t *testing.T) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	outage := func(f answer.Facts) answer.Facts {
		f.Time, f.Memory = now, &answer.Memory{Seen: []answer.Seen{{Kind: answer.Kind{Class: answer.Success},
			Next: now.Add(-time.Hour)}}, HasCopy: true}
		return f
	}
	for _, c := range []struct {
		name   string
		change func(*Profile)
		facts  answer.Facts
		want   string
	}{
		{"429 as 5xx", func(p *Profile) { p.TooManyRequests = answer.ServerError }, answer.Facts{Hops: chain(429)},
			"full_disallow server_error"},
		{"429 as 5xx has the copy of 5xx", func(p *Profile) {
			p.TooManyRequests, p.ServerErrorCopy = answer.ServerError,
				answer.TakeCopy
		},
			outage(answer.Facts{Hops: chain(429)}), "conditional_allow stale_copy"},
		{"no redirects", func(p *Profile) { p.MaxRedirects = 0 }, answer.Facts{Hops: chain(301, 200)},
			"full_allow redirect_limit"},
		{"ten redirects", func(p *Profile) { p.MaxRedirects = 10 }, answer.Facts{Hops: chain(301, 301, 301, 301, 301, 301,
			200)}, "conditional_allow success"},
		{"to mailto, undefined", func(p *Profile) { p.RedirectUnsupported = answer.Undefined },
			answer.Facts{Hops: chain(301), Error: answer.ErrorRedirectUnsupported}, "undefined redirect_unsupported"},
		{"another status, undefined", func(p *Profile) { p.OtherStatus = answer.InvalidResponse },
			answer.Facts{Hops: chain(304)}, "undefined invalid_response"},
		{"another status, the copy of failures", func(p *Profile) {
			p.OtherStatus, p.NetworkCopy = answer.InvalidResponse,
				answer.TakeCopy
		},
			outage(answer.Facts{Hops: chain(304)}), "conditional_allow stale_copy"},
		{"misconfigured as 5xx", func(p *Profile) { p.MisconfiguredAs404 = false }, answer.Facts{Hops: chain(500),
			Misconfigured: true}, "full_disallow server_error"},
		{"5xx, the copy", func(p *Profile) { p.ServerErrorCopy = answer.TakeCopy }, outage(answer.Facts{Hops: chain(500)}),
			"conditional_allow stale_copy"},
		{"5xx, open", func(p *Profile) { p.ServerErrorCopy = answer.EitherCopy }, outage(answer.Facts{Hops: chain(500)}),
			"undefined stale_copy"},
		{"5xx, another outcome", func(p *Profile) { p.ServerError = answer.FullAllow },
			outage(answer.Facts{Hops: chain(500)}), "full_allow server_error"},
		{"the copy of 5xx is not that of failures", func(p *Profile) { p.ServerErrorCopy = answer.TakeCopy },
			outage(answer.Facts{Error: answer.ErrorReset}), "full_disallow network_failure"},
		{"the last stage that has begun", func(p *Profile) {
			p.ServerErrorStages = []answer.Stage{
				{After: time.Minute, Outcome: answer.FullAllow, Copy: answer.TakeCopy},
				{After: time.Hour - 1, Outcome: answer.Undefined, Copy: answer.IgnoreCopy},
				{After: time.Hour, Outcome: answer.FullAllow, Copy: answer.IgnoreCopy},
			}
		}, outage(answer.Facts{Error: answer.ErrorReset}), "undefined unreachable_too_long"},
		{"a stage, open", func(p *Profile) {
			p.ServerErrorStages = []answer.Stage{{After: time.Minute, Outcome: answer.FullAllow, Copy: answer.EitherCopy}}
		}, outage(answer.Facts{Hops: chain(429)}), "undefined stale_copy"},
		{"a short limit", func(p *Profile) { p.UnreachableLimit, p.UnreachableCopy = time.Minute, answer.TakeCopy },
			outage(answer.Facts{Hops: chain(500)}), "conditional_allow stale_copy"},
		{"a short limit, no copy", func(p *Profile) {
			p.UnreachableLimit, p.Unreachable, p.UnreachableCopy = time.Minute, answer.FullAllow, answer.IgnoreCopy
		},
			outage(answer.Facts{Hops: chain(500)}), "full_allow unreachable_too_long"},
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
		answer  answer.Answer
		path    string
		profile string
		want    string
	}{
		{"full allow", answer.Answer{Outcome: answer.FullAllow}, "/private", "google", "allow full_allow"},
		{"full disallow", answer.Answer{Outcome: answer.FullDisallow}, "/", "google", "disallow full_disallow"},
		{"undefined", answer.Answer{Outcome: answer.Undefined}, "/", "google", "undefined undefined"},
		{"the rules", answer.Answer{Outcome: answer.ConditionalAllow}, "/private", "google", "disallow rule"},
		{"copy or full disallow: they agree", answer.Answer{Outcome: answer.Undefined, Reason: answer.StaleCopy,
			UseCopy: true, Instead: answer.FullDisallow, UnreachableSince: time.Time{}}, "/private", "rfc9309", "disallow rule"},
		{"copy or full disallow: they differ", answer.Answer{Outcome: answer.Undefined, Reason: answer.StaleCopy,
			UseCopy: true, Instead: answer.FullDisallow, UnreachableSince: time.Time{}}, "/", "rfc9309", "undefined undefined"},
		{"copy or full allow: they agree", answer.Answer{Outcome: answer.Undefined, Reason: answer.StaleCopy, UseCopy: true,
			Instead: answer.FullAllow, UnreachableSince: time.Time{}}, "/", "rfc9309", "allow no_rule"},
		{"copy or full allow: they differ", answer.Answer{Outcome: answer.Undefined, Reason: answer.StaleCopy, UseCopy: true,
			Instead: answer.FullAllow, UnreachableSince: time.Time{}}, "/private", "rfc9309", "undefined undefined"},
		{"copy or undefined", answer.Answer{Outcome: answer.Undefined, Reason: answer.StaleCopy, UseCopy: true,
			Instead: answer.Undefined, UnreachableSince: time.Time{}}, "/", "google", "undefined undefined"},
		{"robots.txt of a closed site", answer.Answer{Outcome: answer.FullDisallow}, "/robots.txt", "rfc9309",
			"allow robots_txt"},
		{"robots.txt, undefined", answer.Answer{Outcome: answer.Undefined}, "/robots.txt", "rfc9309", "allow robots_txt"},
		{"robots.txt, copy or full disallow", answer.Answer{Outcome: answer.Undefined, Reason: answer.StaleCopy,
			UseCopy: true, Instead: answer.FullDisallow, UnreachableSince: time.Time{}}, "/robots.txt", "rfc9309",
			"allow robots_txt"},
		{"robots.txt is like another under google", answer.Answer{Outcome: answer.FullDisallow}, "/robots.txt", "google",
			"disallow full_disallow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := named(t, c.profile)
			var file File
			file.Parse(body, p)
			judge := NewJudge(p, []Agent{{Name: "Foobot", Tokens: []string{"Foobot"}}})
			judge.Load(&file)
			target := p.Target("http://example.com" + c.path)
			v, decided := VerdictOf(c.answer, &target)
			if rules := judge.Policy(0).Judge(&target); c.answer.AsksRules() {
				if w := Weigh(c.answer, rules); decided && w != v {
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
		"precedence: \"shortest\" is not one of longest, longest_open, longest_or_least": func(p *Profile) {
			p.Precedence = "shortest"
		},
		"typos":             func(p *Profile) { p.Typos = "" },
		"server_error":      func(p *Profile) { p.ServerError = answer.ConditionalAllow },
		"too_many_requests": func(p *Profile) { p.TooManyRequests = answer.Success },
		"redirect_unsupported: \"full_disallow\" is not one of full_allow, undefined": func(p *Profile) {
			p.RedirectUnsupported = answer.FullDisallow
		},
		"server_error_copy: \"true\" is not one of ignore, use, open": func(p *Profile) {
			p.ServerErrorCopy = "true"
		},
		"network_failure_copy": func(p *Profile) { p.NetworkCopy = "" },
		"unreachable_copy":     func(p *Profile) { p.UnreachableCopy = "" },
		"server_error_stages: stage 2 is after 12h0m0s, and must be after more than 12h0m0s": func(p *Profile) {
			p.ServerErrorStages = append(p.ServerErrorStages, p.ServerErrorStages...)
		},
		"server_error_stages: stage 1 is after 0s": func(p *Profile) {
			p.ServerErrorStages[0].After = 0
		},
		"stage 1: outcome: \"by_front_page\" is not one of": func(p *Profile) {
			p.ServerErrorStages[0].Outcome = answer.ByFrontPage
		},
		"stage 1: copy: \"\" is not one of": func(p *Profile) {
			p.ServerErrorStages[0].Copy = ""
		},
	} {
		p := named(t, "google")
		change(p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for want, change := range map[string]func(*Profile){
		`body_at: "20x" is none of`: func(p *Profile) { p.BodyAt = answer.Statuses{"20x"} },
		`body_at: any has all other statuses`: func(p *Profile) {
			p.BodyAt = answer.Statuses{"404", "any"}
		},
		`agent_fields: "Useragent" is no field in lower case`: func(p *Profile) { p.AgentFields = []string{"Useragent"} },
		`site_fields: "" is no field`: func(p *Profile) {
			p.ListEnds, p.SiteFields = dialect.EndsAny, []string{"host", ""}
		},
		"site_fields: has no effect without list_ends: any or": func(p *Profile) { p.SiteFields = []string{"host"} },
		"pattern_is_url: has no effect without requote: path":  func(p *Profile) { p.PatternIsURL = true },
		`body_at: "404" is there twice`: func(p *Profile) {
			p.BodyAt = answer.Statuses{"404", "2xx", "404"}
		},
		`content_types: "text" is no media type`:       func(p *Profile) { p.ContentTypes = []string{"text"} },
		`content_types: "Text/plain" is no media type`: func(p *Profile) { p.ContentTypes = []string{"Text/plain"} },
		`content_types: "*/*" is no media type`:        func(p *Profile) { p.ContentTypes = []string{"*/*"} },
		`redirect_statuses: "304" is no status of a redirect`: func(p *Profile) {
			p.RedirectStatuses = answer.Statuses{"304"}
		},
		`redirect_hosts: "here" is not one of`:    func(p *Profile) { p.RedirectHosts = "here" },
		"redirect_refused: has no effect without": func(p *Profile) { p.RedirectRefused = answer.FullDisallow },
		"redirect_hosts: has no effect beside max_redirects: 0": func(p *Profile) {
			p.RedirectHosts, p.MaxRedirects = answer.SameHost, 0
		},
		"redirect_statuses: has no effect beside max_redirects": func(p *Profile) {
			p.RedirectStatuses, p.MaxRedirects = answer.Statuses{"301"}, 0
		},
		`timeout: "conditional_allow" is not one of`: func(p *Profile) { p.Timeout = answer.ConditionalAllow },
		"unauthorized: has no effect beside body_at": func(p *Profile) {
			p.BodyAt, p.Unauthorized = answer.Statuses{"any"}, answer.FullDisallow
		},
		"other_client_error: has no effect beside body_at": func(p *Profile) {
			p.BodyAt, p.OtherClientError = answer.Statuses{"2xx", "4xx"}, answer.FullDisallow
		},
		"not_modified: has no effect beside body_at": func(p *Profile) {
			p.BodyAt, p.NotModified = answer.Statuses{"3xx"}, answer.FullAllow
		},
		"server_error_copy: has no effect beside unreachable": func(p *Profile) { p.ServerErrorCopy = answer.TakeCopy },
		"server_error_stages: has no effect beside unreachable": func(p *Profile) {
			p.ServerErrorStages = google().ServerErrorStages
		},
		"body_at: needs unreachable: unchanged": func(p *Profile) {
			p.BodyAt, p.Unreachable = answer.Statuses{"any"}, answer.FullAllow
		},
		"timeout: needs unreachable: unchanged": func(p *Profile) {
			p.Timeout, p.Unreachable = answer.FullAllow, answer.FullAllow
		},
		"tries: -1 is negative": func(p *Profile) { p.Tries = -1 },
	} {
		p := named(t, "wget")
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		change(p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for _, name := range ProgramNames() {
		if err := named(t, name).Validate(); err != nil {
			t.Error(err)
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
		for _, a := range []Agent{{Name: "x", Tokens: []string{token}}, {Name: "x", Tokens: []string{"x"},
			FallsBackTo: []string{"y", token}}} {
			err := a.Validate()
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%q: got %v, want %q", token, err, want)
			}
		}
	}
	if err := (Agent{Name: "x", Tokens: []string{"x", "y"}, FallsBackTo: []string{"z", "Y"}}).Validate(); err == nil ||
		!strings.Contains(err.Error(), `its own token "Y"`) {
		t.Errorf("falls back to itself: %v", err)
	}
	if err := (Agent{Name: "x"}).Validate(); err == nil {
		t.Error("an agent without tokens is valid")
	}
}

// An outage closes an origin until the first stage in which something else may hold. Programs
// remember no outage.
func TestClosedFor(t *testing.T) {
	const day = 24 * time.Hour
	down, gone, limited := answer.Facts{Hops: chain(503)}, answer.Facts{Error: answer.ErrorDNSNotFound},
		answer.Facts{Hops: chain(429)}
	for _, row := range []struct {
		profile string
		facts   answer.Facts
		want    time.Duration
	}{
		{"google", down, 12 * time.Hour}, {"google", gone, 12 * time.Hour}, {"google", limited, 12 * time.Hour},
		{"google", answer.Facts{Hops: chain(404)}, 0}, {"google", answer.Facts{Hops: chain(200)}, 0},
		{"google-2019", down, 30 * day}, {"google-2019", limited, 0}, {"google-2012", down, 30 * day},
		{"google-2012", gone, 0}, {"rfc9309", gone, 30 * day}, {"nutch", down, 0},
	} {
		p, _ := ProfileNamed(row.profile)
		if got := p.ClosedFor(row.facts); got != row.want {
			t.Errorf("%s, %v: %v, want %v", row.profile, row.facts, got, row.want)
		}
	}
	google, _ := ProfileNamed("google")
	p := *google
	p.Unreachable, p.ServerErrorStages = answer.FullDisallow, []answer.Stage{{After: time.Hour,
		Outcome: answer.FullDisallow, Copy: answer.IgnoreCopy}, {After: 40 * day, Outcome: answer.FullAllow,
		Copy: answer.IgnoreCopy}}
	if got := p.ClosedFor(down); got != 0 {
		t.Errorf("closed for ever: %v", got)
	}
	p.ServerErrorStages[1].After = 2 * time.Hour
	if got := p.ClosedFor(down); got != 2*time.Hour {
		t.Errorf("closed for two hours: %v", got)
	}
}
