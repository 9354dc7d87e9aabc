package answer

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Program says what a crawler's program does with an answer, where the documents leave it no
// choice. The zero value says what they say.
type Program struct {
	// BodyAt are the statuses at which the body is read: a status such as 200, a class such
	// as 4xx, or any. None are those of 2xx. At any other status there is no file, at 2xx too.
	BodyAt Statuses `yaml:"body_at,omitempty"`
	// ContentTypes are the media types of which a body is read, such as text/plain or text/*.
	// A body of another type, or of none, is no file. None are all types.
	ContentTypes []string `yaml:"content_types,omitempty"`
	// OtherClientError is what 4xx mean other than 404, 410, and those that have a field of
	// their own: full_disallow, or empty if they mean that there is no file.
	OtherClientError Outcome `yaml:"other_client_error,omitempty"`
	// NotModified is what 304 means: full_allow, full_disallow, or empty if it is like any
	// other of OtherStatus.
	NotModified Outcome `yaml:"not_modified,omitempty"`
	// Timeout is what no answer in time means: full_allow, full_disallow, undefined, or empty
	// if it is like any other failure.
	Timeout Outcome `yaml:"timeout,omitempty"`
	// RedirectStatuses are the statuses of redirects that are followed; none are all.
	RedirectStatuses Statuses `yaml:"redirect_statuses,omitempty"`
	// RedirectHosts says which hosts a redirect may lead to.
	RedirectHosts RedirectHosts `yaml:"redirect_hosts,omitempty"`
	// RedirectRefused is the outcome of a redirect to another host than these:
	// full_disallow, or empty for full_allow, as of one with another status. Its body is not
	// kept.
	RedirectRefused Outcome `yaml:"redirect_refused,omitempty"`
	// RedirectFailed is the outcome of a loop, of too many redirects, and of a redirect
	// without a usable location: full_disallow, undefined, or empty for full_allow.
	RedirectFailed Outcome `yaml:"redirect_failed,omitempty"`
	// Tries is how often the program asks before it takes a failure for its answer; a run asks
	// at least as often. 0 says nothing.
	Tries int `yaml:"tries,omitempty"`
}

// Unchanged is a value of Unreachable: an outage means what it did at first, however long
// it lasts. Such a profile has no memory.
const Unchanged Outcome = "unchanged"

// RedirectHosts says which hosts a redirect may lead to.
type RedirectHosts string

const (
	AnyHost  RedirectHosts = ""
	SameHost RedirectHosts = "same_host" // by any scheme and port
	// SameOrigin: the same scheme, host and port, or the same host and port by https in
	// place of http, where both ports may be the usual ones.
	SameOrigin RedirectHosts = "same_origin"
)

// Statuses are statuses of HTTP: 200, a class such as 4xx, or any.
type Statuses []string

// Has reports whether a status is one of them.
func (s Statuses) Has(status int) bool {
	for _, one := range s {
		switch {
		case one == anyStatus:
			return true
		case len(one) == 3 && status >= 100 && status <= 999 && int(one[0]-'0') == status/100 &&
			(one[1:] == "xx" || int(one[1]-'0') == status/10%10 && int(one[2]-'0') == status%10):
			return true
		}
	}
	return false
}

const anyStatus = "any"

// check returns an error for the first entry that is no status.
func (s Statuses) check() error {
	for i, one := range s {
		isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
		isOne := len(one) == 3 && one[0] >= '1' && one[0] <= '9' && (one[1:] == "xx" || isDigit(one[1]) && isDigit(one[2]))
		switch {
		case !isOne && one != anyStatus:
			return fmt.Errorf("%q is none of a status such as 404, a class such as 4xx, and any", one)
		case slices.Contains(s[:i], one):
			return fmt.Errorf("%q is there twice", one)
		case len(s) > 1 && slices.Contains(s, anyStatus):
			return fmt.Errorf("%s has all other statuses; leave them out", anyStatus)
		}
	}
	return nil
}

// isProgram reports whether a field of programs decides.
func (p *Program) isProgram() bool {
	return len(p.BodyAt) > 0 || len(p.ContentTypes) > 0 || p.OtherClientError != "" || len(p.RedirectStatuses) > 0 ||
		p.RedirectHosts != AnyHost
}

// reads reports whether the body of an answer of this status is read.
func (p *Program) reads(status int) bool {
	if len(p.BodyAt) == 0 {
		return status >= 200 && status <= 299
	}
	return p.BodyAt.Has(status)
}

// ReadsPages reports whether the program reads bodies of other answers than 2xx.
func (p *Program) ReadsPages() bool {
	return slices.ContainsFunc(p.BodyAt, func(one string) bool { return !strings.HasPrefix(one, "2") })
}

// readsType reports whether a body of a type is read, such as "Text/Plain; charset=utf-8".
func (p *Program) readsType(contentType string) bool {
	value, _, _ := strings.Cut(contentType, ";")
	value = strings.ToLower(strings.TrimSpace(value))
	return slices.ContainsFunc(p.ContentTypes, func(one string) bool {
		class, all := strings.CutSuffix(one, "*")
		return value == one || all && len(value) > len(class) && strings.HasPrefix(value, class)
	})
}

// follows reports whether a redirect may lead from one URL to another. It is true where the
// other is not known.
func (p *Program) follows(from, to string) bool {
	if p.RedirectHosts == AnyHost || to == "" {
		return true
	}
	a, err := url.Parse(from)
	b, e := url.Parse(to)
	if cmp.Or(err, e) != nil { // of an archive, or a URL that was cut
		return true
	}
	switch {
	case !strings.EqualFold(a.Hostname(), b.Hostname()):
		return false
	case p.RedirectHosts == SameHost || a.Scheme == b.Scheme && portOf(a) == portOf(b):
		return true
	}
	usual := portOf(a) == usualPorts[a.Scheme] && portOf(b) == usualPorts[b.Scheme]
	return a.Scheme == "http" && b.Scheme == "https" && (usual || portOf(a) == portOf(b))
}

var usualPorts = map[string]string{"http": "80", "https": "443"}

func portOf(u *url.URL) string { return cmp.Or(u.Port(), usualPorts[u.Scheme]) }

// asProgram changes the reading of an answer to that of the program.
func (p *Answers) asProgram(f *Facts, r rowReading, maxRedirects int) rowReading {
	says := func(o Outcome, why Reason) rowReading { return rowReading{Answer: Answer{Outcome: o, Reason: why}} }
	if len(f.Hops) == 0 || !r.isOfHost() {
		return p.late(f, r)
	}
	for i, redirects := 0, 0; i < len(f.Hops) && redirects <= maxRedirects; i++ {
		if !f.Hops[i].IsRedirect() {
			continue
		}
		redirects++
		to := ""
		if i+1 < len(f.Hops) {
			to = f.Hops[i+1].URL
		}
		leads := to != "" || f.Error.Answer() != RedirectInvalid && r.Reason != RedirectInvalid
		switch {
		case !leads || redirects > maxRedirects:
		case len(p.RedirectStatuses) > 0 && !p.RedirectStatuses.Has(f.Hops[i].Status):
			return says(FullAllow, NotRead)
		case !p.follows(f.Hops[i].URL, to):
			return says(cmp.Or(p.RedirectRefused, FullAllow), NotRead)
		}
	}
	last := f.Hops[len(f.Hops)-1]
	status := last.Status
	isWhole := f.Error == "" || !f.Error.Answer().IsOutage()
	switch {
	case isFTP(last) || status == 0:
	case r.Reason == RedirectLimit || r.Reason == RedirectLoop:
		return r
	case status/100 == 2 && isWhole && !f.Unstored && !p.reads(status):
		return says(FullAllow, NotRead)
	case status/100 != 2 && p.reads(status):
		switch {
		case !isWhole:
			r = p.read(Kind{Class: f.Error.Answer()}, maxRedirects)
		case f.HasPage:
			r = says(ConditionalAllow, ErrorBody)
		default: // it was not kept
			r = says(Undefined, r.Reason)
		}
	case status == 304 && p.NotModified != "":
		return says(p.NotModified, InvalidResponse)
	case status/100 == 4 && status != 404 && status != 410 && r.Reason == ClientError && p.OtherClientError != "":
		return says(p.OtherClientError, Unauthorized)
	}
	if len(p.ContentTypes) > 0 && r.Outcome == ConditionalAllow && f.ContentType != nil && !p.readsType(*f.ContentType) {
		return says(FullAllow, NotRead)
	}
	return p.late(f, r)
}

// isOfHost reports whether the host gave the answer, or failed to.
func (r *rowReading) isOfHost() bool {
	switch r.Reason.Evidence() {
	case NotStored, SpecialAddress, NoRouteHere:
		return false
	}
	return true
}

// late is the reading of an answer that did not come in time.
func (p *Answers) late(f *Facts, r rowReading) rowReading {
	if p.Timeout != "" && r.Reason == NetworkFailure && (f.Error == ErrorTimeout || f.Error == ErrorConnectTimeout) {
		r.Outcome = p.Timeout
	}
	return r
}

// CheckProgram returns an error for the first field of programs with a value that it cannot
// have, or that has no effect beside the others, and its name.
func (p *Answers) CheckProgram(maxRedirects int) (field string, err error) {
	oneOf := func(o Outcome, values ...Outcome) error {
		if o == "" || slices.Contains(values, o) {
			return nil
		}
		return fmt.Errorf("%q is not one of %v", o, values)
	}
	for _, f := range []struct {
		name string
		err  error
	}{
		{"body_at", p.BodyAt.check()},
		{"content_types", p.checkTypes()},
		{"other_client_error", oneOf(p.OtherClientError, FullDisallow)},
		{"not_modified", oneOf(p.NotModified, FullAllow, FullDisallow)},
		{"timeout", oneOf(p.Timeout, FullAllow, FullDisallow, Undefined)},
		{"redirect_statuses", p.checkRedirects()},
		{"redirect_refused", oneOf(p.RedirectRefused, FullDisallow)},
		{"redirect_failed", oneOf(p.RedirectFailed, FullDisallow, Undefined)},
	} {
		if f.err != nil {
			return f.name, f.err
		}
	}
	reads4xx := p.reads(401) && p.reads(403)
	switch {
	case p.RedirectHosts != AnyHost && p.RedirectHosts != SameHost && p.RedirectHosts != SameOrigin:
		return "redirect_hosts", fmt.Errorf("%q is not one of %s, %s", p.RedirectHosts, SameHost, SameOrigin)
	case p.Tries < 0:
		return "tries", fmt.Errorf("%d is negative; 0 says nothing", p.Tries)
	case len(p.RedirectStatuses) > 0 && maxRedirects == 0:
		return "redirect_statuses", noEffect("max_redirects: 0")
	case p.RedirectHosts != AnyHost && maxRedirects == 0:
		return "redirect_hosts", noEffect("max_redirects: 0")
	case p.RedirectRefused != "" && p.RedirectHosts == AnyHost:
		return "redirect_refused", errors.New("has no effect without redirect_hosts")
	case p.Unauthorized != "" && reads4xx:
		return "unauthorized", noEffect("body_at, which has 401 and 403")
	case p.OtherClientError != "" && p.BodyAt.Has(400) && (p.BodyAt.Has(499) || slices.Contains(p.BodyAt, "4xx")):
		return "other_client_error", noEffect("body_at, which has 4xx")
	case p.NotModified != "" && p.reads(304):
		return "not_modified", noEffect("body_at, which has 304")
	case p.Unreachable != Unchanged:
		for _, f := range []struct {
			name string
			set  bool
		}{{"body_at", p.ReadsPages()}, {"not_modified", p.NotModified != ""}, {"timeout", p.Timeout != ""}} {
			if f.set {
				return f.name, fmt.Errorf("needs unreachable: %s, as of a program without a memory of outages", Unchanged)
			}
		}
	default:
		for _, f := range []struct {
			name string
			copy CopyUse
		}{{"server_error_copy", p.ServerErrorCopy}, {"network_failure_copy", p.NetworkCopy},
			{"unreachable_copy", p.UnreachableCopy}} {
			if f.copy != IgnoreCopy {
				return f.name, noEffect(fmt.Sprintf("unreachable: %s; say %s", Unchanged, IgnoreCopy))
			}
		}
		if len(p.ServerErrorStages) > 0 {
			return "server_error_stages", noEffect(fmt.Sprintf("unreachable: %s; say []", Unchanged))
		}
	}
	return "", nil
}

func noEffect(beside string) error { return fmt.Errorf("has no effect beside %s", beside) }

func (p *Program) checkTypes() error {
	for i, one := range p.ContentTypes {
		class, of, ok := strings.Cut(one, "/")
		switch {
		case !ok || class == "" || of == "" || one != strings.ToLower(one) || strings.ContainsAny(one, " ;,\t") ||
			strings.Contains(class, "*") || strings.Contains(of, "*") && of != "*":
			return fmt.Errorf("%q is no media type in lower case, such as text/plain or text/*", one)
		case slices.Contains(p.ContentTypes[:i], one):
			return fmt.Errorf("%q is there twice", one)
		}
	}
	return nil
}

func (p *Program) checkRedirects() error {
	for _, one := range p.RedirectStatuses {
		if !strings.HasPrefix(one, "3") || one == "304" || one == "3xx" {
			return fmt.Errorf("%q is no status of a redirect, such as 301", one)
		}
	}
	return p.RedirectStatuses.check()
}
