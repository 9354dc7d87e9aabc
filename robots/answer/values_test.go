package answer

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The lists and tables of enumerated values hold every constant of their type.
func TestListsOfValuesAreWhole(t *testing.T) {
	constants := make(map[string][]string)
	for _, name := range []string{"facts.go", "failure.go", "kind.go"} {
		file, err := goparser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 {
				return true
			}
			of, _ := v.Type.(*ast.Ident)
			value, _ := v.Values[0].(*ast.BasicLit)
			if of == nil || value == nil {
				return true
			}
			text, err := strconv.Unquote(value.Value)
			if err != nil {
				t.Fatal(err)
			}
			constants[of.Name] = append(constants[of.Name], text)
			return true
		})
	}
	var rows []Reason
	for _, row := range reasonRows {
		rows = append(rows, row.reason)
	}
	for name, list := range map[string][]string{"ErrorClass": list(ErrorClasses), "Outcome": list(Outcomes[:]),
		"Reason": list(rows)} {
		if !slices.Equal(list, constants[name]) {
			t.Errorf("%s: the list is %v, and the constants are %v", name, list, constants[name])
		}
	}
}

// A reason without evidence or words would be missing from every summary, and a class
// of AnswerKind that no error and no status leads to would be dead.
func TestRowsAreWhole(t *testing.T) {
	for _, r := range append(slices.Clone(Reasons), Challenged, Throttled, Payment, Refused) {
		if r.Evidence() == ShowsNothing || !slices.Contains(r.Evidence().Reasons(), r) {
			t.Errorf("reason %s has no evidence", r)
		}
	}
	for _, c := range ErrorClasses {
		if c.Words() == "" {
			t.Errorf("class %s has no words", c)
		}
		if !slices.Contains(Classes, c.Answer()) {
			t.Errorf("class %s leads to %s, which is not a class of answers", c, c.Answer())
		}
		if got := (Facts{Error: c}).Kind().Class; got != c.Answer() {
			t.Errorf("an answer that ends with %s has class %s, want %s", c, got, c.Answer())
		}
		if got, want := (Facts{Error: c, Hops: []Hop{{Status: 503}}}).Kind().Class, c.Answer(); want.IsOutage() &&
			got != ServerError || !want.IsOutage() && got != want {
			t.Errorf("a 503 that ends with %s has class %s", c, got)
		}
	}
	if !slices.Contains(Classes, ServerError) || slices.Contains(Classes, StaleCopy) ||
		slices.Contains(Classes, UnreachableTooLong) {
		t.Errorf("the classes are %v", Classes)
	}
	if r := Reason("new"); r.Evidence() != ShowsNothing || r.Words() != "" || r.IsOutage() {
		t.Error("an unknown reason is known")
	}
	if c := ErrorClass("new"); c.Answer() != NetworkFailure || c.Words() != "" || c.MayBeOurs() {
		t.Error("an unknown class is known")
	}
}

// An outage, a refusal of our own and a capture that is not stored show nothing of the
// site; a failure is told apart by its cause.
func TestEvidence(t *testing.T) {
	for e, want := range map[Evidence]string{
		ShowsFile: "success", ShowsErrorBody: "error_body",
		ShowsNoFile:       "client_error unauthorized not_read misconfigured_server",
		ShowsDeadRedirect: "redirect_limit redirect_loop redirect_invalid redirect_unsupported html_redirect",
		NotStored:         "redirect_unresolved revisit_unresolved", ServerFails: "server_error",
		NotReached:   "network_failure",
		BrokenAnswer: "invalid_response incomplete_body", OnlyMemory: "stale_copy unreachable_too_long",
		SpecialAddress: "address_blocked", NoRouteHere: "no_route", BehindWall: "challenge",
		TurnsAway: "throttled payment refused", ShowsNothing: "",
	} {
		if got := strings.Join(list(e.Reasons()), " "); got != want {
			t.Errorf("evidence %d has the reasons %s, want %s", e, got, want)
		}
		if got, want := e.IsCurrent(), e == ShowsFile || e == ShowsErrorBody || e == ShowsNoFile ||
			e == ShowsDeadRedirect; got != want {
			t.Errorf("evidence %d is current: %v", e, got)
		}
	}
}

func list[T ~string](values []T) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

// An answer that throttles, charges or refuses is named so; an FTP reply is none of these.
func TestTurnedAway(t *testing.T) {
	for _, row := range []struct {
		url        string
		status     int
		retryAfter bool
		want       Reason
	}{
		{"", 429, false, Throttled}, {"", 429, true, Throttled}, {"", 503, true, Throttled}, {"", 503, false, ""},
		{"", 500, true, ""},
		{"", 402, false, Payment}, {"", 401, false, Refused}, {"", 403, true, Refused}, {"", 451, false, Refused},
		{"", 404, true, ""}, {"", 400, false, ""}, {"", 200, true, ""}, {"", 0, false, ""}, {"ftp://h/robots.txt", 451,
			false, ""},
	} {
		if got := TurnedAway(Hop{URL: row.url, Status: row.status}, row.retryAfter); got != row.want {
			t.Errorf("%s %d, Retry-After %v: %q, want %q", row.url, row.status, row.retryAfter, got, row.want)
		}
	}
}
