package answer

import (
	"fmt"
	"time"
)

// Answers says what answers mean that are not a file, or not only a file.
type Answers struct {
	// HTMLRedirect is the outcome of a 2xx whose HTML redirects by frame, meta
	// refresh or script: conditional_allow to read the first page, or
	// undefined.
	HTMLRedirect Outcome `yaml:"html_redirect"`
	// RedirectUnsupported is the outcome of a redirect to a scheme that cannot
	// be crawled, such as mailto: or file:. It is full_allow, as for a 404, or
	// undefined.
	RedirectUnsupported Outcome `yaml:"redirect_unsupported"`
	// TooManyRequests is what 429 counts as: client_error or server_error.
	TooManyRequests Reason `yaml:"too_many_requests"`
	// OtherStatus is what a status counts as that is neither 2xx, a redirect,
	// 4xx nor 5xx: client_error, server_error, network_failure, or
	// invalid_response, a failure whose outcome is undefined.
	OtherStatus Reason `yaml:"other_status"`
	// MisconfiguredAs404 counts a 5xx as 404 if the site is known to answer
	// every missing page with 5xx.
	MisconfiguredAs404 bool `yaml:"misconfigured_as_404"`

	// ServerError and NetworkFailure are the outcomes while an origin answers
	// 5xx, or does not answer. Whatever a profile counts as either makes the
	// origin unreachable. ServerErrorCopy and NetworkCopy say whether the last
	// whole copy is used meanwhile.
	ServerError     Outcome `yaml:"server_error"`
	ServerErrorCopy CopyUse `yaml:"server_error_copy"`
	NetworkFailure  Outcome `yaml:"network_failure"`
	NetworkCopy     CopyUse `yaml:"network_failure_copy"`
	// ServerErrorStages decide about an origin that has been unreachable for some
	// time but not yet for UnreachableLimit, whatever failed: the last stage that has
	// begun, in place of the four fields above. One that would begin later never does.
	ServerErrorStages []Stage `yaml:"server_error_stages"`
	// UnreachableLimit is the time after which Unreachable and UnreachableCopy
	// decide about an unreachable origin.
	UnreachableLimit time.Duration `yaml:"unreachable_limit"`
	// Unreachable may also be by_front_page, or unchanged: the limit is none, then, and no
	// copy is used.
	Unreachable     Outcome `yaml:"unreachable"`
	UnreachableCopy CopyUse `yaml:"unreachable_copy"`
	// MaxAgeLengthens lets the Cache-Control of an answer extend its lifetime.
	// Cache-Control can shorten it in any case.
	MaxAgeLengthens bool `yaml:"max_age_lengthens"`

	// Unauthorized is what 401 and 403 mean: full_disallow, or empty if they are
	// like any other 4xx.
	Unauthorized Outcome `yaml:"unauthorized,omitempty"`
	// Refused is what a file means that the parser refuses (strict): full_allow,
	// full_disallow, or empty for undefined.
	Refused Outcome `yaml:"refused,omitempty"`

	Program `yaml:",inline"`
}

// ByFrontPage is a value of Unreachable: full_allow if the front page of the site
// answers, full_disallow if it does not, and undefined if nobody asked for it.
const ByFrontPage Outcome = "by_front_page"

// A Stage is what holds about an unreachable origin from a time on.
type Stage struct {
	After   time.Duration `yaml:"after"`
	Outcome Outcome       `yaml:"outcome"`
	Copy    CopyUse       `yaml:"copy"`
}

// String writes a stage for a table.
func (s Stage) String() string {
	return fmt.Sprintf("after %v: %s, copy %s", s.After, s.Outcome, s.Copy)
}

// CheckStages returns an error for the first stage that is none.
func (p *Answers) CheckStages() error {
	before := time.Duration(0)
	for i, s := range p.ServerErrorStages {
		switch {
		case s.After <= before:
			return fmt.Errorf("stage %d is after %v, and must be after more than %v", i+1, s.After, before)
		case s.Outcome != FullAllow && s.Outcome != FullDisallow && s.Outcome != Undefined:
			return fmt.Errorf("stage %d: outcome: %q is not one of %s, %s, %s", i+1, s.Outcome, FullAllow, FullDisallow,
				Undefined)
		}
		if err := s.Copy.UnmarshalText([]byte(s.Copy)); err != nil {
			return fmt.Errorf("stage %d: copy: %w", i+1, err)
		}
		before = s.After
	}
	return nil
}

// CopyUse says whether the last whole copy of the file of an unreachable origin
// replaces the profile's outcome for the outage.
type CopyUse string

const (
	IgnoreCopy CopyUse = "ignore" // the outcome decides
	TakeCopy   CopyUse = "use"    // the copy decides
	EitherCopy CopyUse = "open"   // either; a verdict that depends on it is undefined
)

// UnmarshalText accepts the values of CopyUse.
func (v *CopyUse) UnmarshalText(b []byte) error {
	switch u := CopyUse(b); u {
	case IgnoreCopy, TakeCopy, EitherCopy:
		*v = u
		return nil
	}
	return fmt.Errorf("%q is not one of %s, %s, %s", b, IgnoreCopy, TakeCopy, EitherCopy)
}
