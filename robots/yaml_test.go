package robots

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots/answer"
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
		"near_typos: open\ngroup_end: record\nunknown_ends: open\nagent_match: token_open\nescapes: rfc9309\n" +
		"reserved_in_path: open\ntoo_many_requests: server_error\nunreachable_limit: 48h\nunreachable: undefined\n" +
		"redirect_unsupported: undefined\nserver_error_copy: open\nnetwork_failure_copy: use\nunreachable_copy: ignore\n")
	if err != nil {
		t.Fatal(err)
	}
	want := google()
	want.Name, want.SizeLimit, want.Typos, want.Precedence = "mine", 1000, Open, LongestOpen
	want.Ties, want.NearTypos, want.GroupEnd, want.UnknownEnds = TiesOpen, Open, EndAtRecord, Open
	want.AgentMatch, want.Escapes, want.Reserved = MatchTokenOpen, EscapesRFC, ReservedOpen
	want.TooManyRequests, want.UnreachableLimit, want.Unreachable = answer.ServerError, 48*time.Hour, answer.Undefined
	want.RedirectUnsupported, want.ServerErrorCopy, want.NetworkCopy, want.UnreachableCopy = answer.Undefined,
		answer.EitherCopy, answer.TakeCopy, answer.IgnoreCopy
	if !reflect.DeepEqual(*p, want) {
		t.Errorf("got %+v", *p)
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	grouped, err := decode("name: mine\nsize_limit: 1000\nlines: {typos: open, near_typos: open}\n" +
		"groups: {group_end: record, unknown_ends: open, agent_match: token_open}\n" +
		"matching: {precedence: longest_open, ties: open, escapes: rfc9309, reserved_in_path: open}\n" +
		"answers:\n  too_many_requests: server_error\n  unreachable_limit: 48h\n  unreachable: undefined\n" +
		"  redirect_unsupported: undefined\n  server_error_copy: open\n  network_failure_copy: use\n" +
		"  unreachable_copy: ignore\n")
	if err != nil || !reflect.DeepEqual(*grouped, want) {
		t.Errorf("in groups: %+v, %v", grouped, err)
	}
	for _, text := range []string{"lines: plain\n", "lines: {reading: plain}\n", "reading: plain\n"} {
		if p, err := decode(text); err != nil || p.Reading != LinesPlain || p.Typos != Accept {
			t.Errorf("%s: %+v, %v", text, p, err)
		}
	}
	text, err := yaml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := decode(string(text)); err != nil || !reflect.DeepEqual(*back, want) {
		t.Errorf("encoded and decoded: %+v, %v", back, err)
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
		"lines: {ties: open}":         "ties",
		"lines: maybe":                `"maybe" is not one of plain, google`,
		"matching: {ties: maybe}":     `"maybe" is not one of allow, open`,
		"network_failure_copy: maybe": `"maybe" is not one of ignore, use, open`,
	} {
		if _, err := decode(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// Every field of own survives a record, by_agent too: without it, own would judge
// everybody as google.
func TestOwnSurvivesARecord(t *testing.T) {
	p, ok := ProfileNamed("own")
	if !ok || !p.ByAgent {
		t.Fatal("own judges nobody by another profile")
	}
	text, err := yaml.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	back := new(Profile)
	if err := yaml.Unmarshal(text, back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, p) {
		t.Errorf("got %+v, want %+v", back, p)
	}
	back.Name = "mine"
	if back.Validate() == nil {
		t.Error("a profile of another name is by_agent")
	}
}

// Each number of a profile, also of a dialect, is checked.
func TestNegativeNumbersOfProfilesAreRefused(t *testing.T) {
	for _, f := range fieldsOfProfile(reflect.TypeFor[Profile](), "", nil) {
		p := heritrix()
		switch v := reflect.ValueOf(&p).Elem().FieldByIndex(f.index); {
		case v.CanInt():
			v.SetInt(-1)
		case v.CanFloat():
			v.SetFloat(-1)
		default:
			continue
		}
		if err := p.Validate(); err == nil {
			t.Errorf("Validate takes -1 for %s: check it there, or in checkDialect", f.name)
		}
	}
}
