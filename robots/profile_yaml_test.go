package robots

import (
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// TestProfileYAML checks that the fields have the names and values of the
// configuration file and decode onto a copy of a profile.
func TestProfileYAML(t *testing.T) {
	decode := func(text string) (*Profile, error) {
		p := named(t, "google")
		d := yaml.NewDecoder(strings.NewReader(text))
		d.KnownFields(true)
		return p, d.Decode(p)
	}
	p, err := decode("name: mine\nsize_limit: 1000\ntypos: open\nprecedence: longest_open\nties: open\n" +
		"near_typos: open\ngroup_end: record\nunknown_ends: open\nagent_match: token_open\nescapes: rfc9309\nreserved_in_path: open\n" +
		"too_many_requests: server_error\nunreachable_limit: 48h\nunreachable: undefined\n" +
		"redirect_unsupported: undefined\nserver_error_copy: open\nnetwork_failure_copy: use\nunreachable_copy: ignore\n")
	if err != nil {
		t.Fatal(err)
	}
	want := google()
	want.Name, want.SizeLimit, want.Typos, want.Precedence = "mine", 1000, Open, LongestOpen
	want.Ties, want.NearTypos, want.GroupEnd, want.UnknownEnds = TiesOpen, Open, EndAtRecord, Open
	want.AgentMatch, want.Escapes, want.Reserved = MatchTokenOpen, EscapesRFC, ReservedOpen
	want.TooManyRequests, want.UnreachableLimit, want.Unreachable = AnswerServerError, 48*time.Hour, OutcomeUndefined
	want.RedirectUnsupported, want.ServerErrorCopy, want.NetworkCopy, want.UnreachableCopy = OutcomeUndefined, EitherCopy, TakeCopy, IgnoreCopy
	if *p != want {
		t.Errorf("got %+v", *p)
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	if p, err = decode("bare_prefix: open\n"); err != nil {
		t.Fatal(err)
	}
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "bare_prefix: open needs wildcards: false") {
		t.Errorf("bare_prefix with wildcards: got %v", err)
	}
	for text, want := range map[string]string{
		"typos: maybe":                `"maybe" is not one of reject, accept, open`,
		"tipos: open":                 "tipos",
		"network_failure_copy: maybe": `"maybe" is not one of ignore, use, open`,
	} {
		if _, err := decode(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
