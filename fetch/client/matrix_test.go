//go:build unix

package client

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
)

// The fault matrix: each way in which a network misbehaves, produced by a real
// server on loopback, and the expected result: the facts of the capture, with
// and without retries, and their reading under every profile.

// A row is one fault. Its name says what happens. The tables follow the rows of
// SPEC section 2.
type row struct {
	name  string
	stage stage
	want  want
}

type want struct {
	status   int // status of the last hop
	class    answer.ErrorClass
	hops     int
	attempts attempts
	reading  readings
}

// A stage starts the server of a fault and points the scene at it.
type stage func(t *testing.T, s *scene)

// A scene is the setup of one fetch.
type scene struct {
	Config
	ask           []fetch.Origin
	ctx           context.Context
	cancel        context.CancelFunc
	client        func(*Client)                    // final changes, nil for none
	also          func(*testing.T, *fetch.Capture) // further checks, nil for none
	misconfigured bool                             // the result of a probe
	skip          string                           // why this system cannot run it, "" if it can
}

// attempts are the numbers of attempts without retries and with one.
type attempts [2]int

var (
	once  = attempts{1, 1} // an answer, or a permanent failure
	again = attempts{1, 2}
	often = attempts{1, 3} // "503 retried often"
)

// readings is each profile's reading of the facts.
type readings map[string]answer.Answer

// same returns a reading that all documents share.
func same(o answer.Outcome, why answer.Reason) readings {
	a := answer.Answer{Outcome: o, Reason: why}
	return readings{"google": a, "google-2019": a, "google-2012": a, "classic-1996": a, "rfc9309": a}
}

// but changes the outcome under google-2012 and under classic-1996, which
// copies it.
func (r readings) but(o answer.Outcome, why answer.Reason) readings {
	r["google-2012"] = answer.Answer{Outcome: o, Reason: why}
	r["classic-1996"] = r["google-2012"]
	return r
}

// google changes the outcome under google.
func (r readings) google(o answer.Outcome, why answer.Reason) readings {
	r["google"] = answer.Answer{Outcome: o, Reason: why}
	return r
}

// noAnswer is the reading of a failure that google-2012 does not define.
func noAnswer(why answer.Reason) readings {
	return same(answer.FullDisallow, why).but(answer.Undefined, why)
}

var (
	throttled       = same(answer.FullAllow, answer.ClientError).google(answer.FullDisallow, answer.ServerError)
	rulesDecide     = same(answer.ConditionalAllow, answer.Success)
	asIfMissing     = same(answer.FullAllow, answer.ClientError)
	serverError     = same(answer.FullDisallow, answer.ServerError)
	networkFailure  = noAnswer(answer.NetworkFailure)
	invalidResponse = noAnswer(answer.InvalidResponse)
	incompleteBody  = noAnswer(answer.IncompleteBody)
	limitReached    = same(answer.FullAllow, answer.RedirectLimit)
	loops           = same(answer.FullAllow, answer.RedirectLoop)
	leadsNowhere    = same(answer.FullAllow, answer.RedirectInvalid)
	cannotBeFetched = same(answer.FullAllow, answer.RedirectUnsupported).but(answer.Undefined, answer.RedirectUnsupported)
	refused         = same(answer.Undefined, answer.AddressBlocked)
	stopped         = same(answer.Undefined, answer.NetworkFailure)
)

// rows returns the whole matrix.
func rows() (all []row) {
	for _, table := range [][]row{
		answerRows, bodyRows, redirectRows, networkRows, tlsRows, dnsRows, guardRows, deepRows,
	} {
		all = append(all, table...)
	}
	return all
}

func TestFaultMatrix(t *testing.T) {
	type result struct {
		row
		scene *scene
		got   *fetch.Capture
		made  []*fetch.Exchange
	}
	// t.Parallel would run only as many rows at once as there are processors.
	var fetches errgroup.Group
	fetches.SetLimit(16)
	var results [][2]*result
	for _, r := range rows() {
		var both [2]*result
		for retries := range both {
			s := &scene{Config: Config{
				UserAgent: "robocensus-test", Timeout: 15 * time.Second, Retries: retries, Limits: fetch.Limits{MaxRedirects: 5,
					MaxBody: 512_000}, Concurrency: 10, PerAddress: 4, PerDomain: 10, RootCAs: testRoots(), Record: true,
			}, ask: []fetch.Origin{origin(t, "http://a.example")}}
			s.ctx, s.cancel = context.WithCancel(t.Context())
			defer s.cancel()
			r.stage(t, s)
			c, err := New(s.Config, Backing{})
			if err != nil {
				t.Fatalf("%s: %v", r.name, err)
			}
			if s.client != nil {
				s.client(c)
			}
			both[retries] = &result{r, s, nil, nil}
			fetches.Go(func() error {
				both[retries].got, both[retries].made = recordedFetch(t, c, s.ctx, s.ask...)
				return nil
			})
		}
		results = append(results, both)
	}
	fetches.Wait()
	for _, both := range results {
		t.Run(both[0].name, func(t *testing.T) {
			for retries, r := range both {
				if r.scene.skip != "" {
					t.Skip(r.scene.skip)
				}
				r.want.check(t, r.got, retries, r.scene)
				checkExchanges(t, r.got, r.made, r.scene.MaxBody)
			}
			// Equal answers give equal rows of the tables. A stopped run has no
			// answer.
			a, b := both[0].got.Err, both[1].got.Err
			if both[0].want.class != answer.ErrorCanceled && a != nil && b != nil && a.Error() != b.Error() {
				t.Errorf("the same failure reads %q and %q", a, b)
			}
		})
	}
}

func (w want) check(t *testing.T, got *fetch.Capture, retries int, s *scene) {
	t.Helper()
	if got.Status() != w.status || got.Error != w.class || len(got.Hops) != w.hops || got.Attempts != w.attempts[retries] {
		t.Errorf("%d retries: status %d, error %q (%v), %d hops, %d attempts; want status %d, error %q, %d hops, %d attempts",
			retries, got.Status(), got.Error, got.Err, len(got.Hops), got.Attempts, w.status, w.class, w.hops,
			w.attempts[retries])
		return // other facts, other readings
	}
	if got.Error != "" && got.Err == nil {
		t.Errorf("error %q without a text", got.Error)
	}
	if is2xx := got.Status()/100 == 2; (got.Body != nil || got.Cut != nil) != is2xx || got.Body != nil &&
		got.Cut != nil || len(got.Body) > s.MaxBody {
		t.Errorf("status %d has a body of %d bytes (nil: %v)", got.Status(), len(got.Body), got.Body == nil)
	}
	if limit := s.Timeout + 10*time.Second; got.Times.Total == nil || *got.Times.Total > limit {
		t.Errorf("took %v of %v", got.Times.Total, s.Timeout)
	}
	facts := got.Facts()
	facts.Misconfigured = s.misconfigured
	for _, name := range robots.ProfileNames() {
		profile, _ := robots.ProfileNamed(name)
		want, ok := w.reading[name]
		if !ok { // a dialect
			want = w.reading["google-2019"]
			if status := got.Status(); profile.Unauthorized != "" && (status == 401 || status == 403) {
				want.Outcome, want.Reason = profile.Unauthorized, answer.Unauthorized
			}
			if want.Outcome == answer.FullDisallow && want.Reason.IsOutage() {
				want.Outcome = profile.ServerError // as that of a failure
			}
			if facts.Kind().Redirects > profile.MaxRedirects {
				want = answer.Answer{Outcome: answer.FullAllow, Reason: answer.RedirectLimit}
			}
		}
		if status := got.Status(); name == "httrack" && status/100 == 2 && status != 200 && want.Reason == answer.Success {
			want = answer.Answer{Outcome: answer.FullAllow, Reason: answer.NotRead}
		}
		if answer := profile.Answer(facts); answer != want {
			t.Errorf("%d retries, %s: %s %s, want %s %s", retries, name, answer.Outcome, answer.Reason, want.Outcome,
				want.Reason)
		}
	}
	if s.also != nil {
		s.also(t, got)
	}
}

// TestMatrixIsComplete finds error classes and reasons without a row in the
// matrix.
func TestMatrixIsComplete(t *testing.T) {
	seen := map[string]bool{
		// Not possible with one fetch: added by the memory and by archives.
		string(answer.StaleCopy): true, string(answer.UnreachableTooLong): true, string(answer.RedirectUnresolved): true,
		string(answer.RevisitUnresolved): true,
		// Only of dialects and programs: matrix rows of 401 and 403 check the first.
		string(answer.Unauthorized): true, string(answer.NotRead): true, string(answer.ErrorBody): true,
		// Not a profile's reading of an answer: it counts walls apart.
		string(answer.Challenged): true, string(answer.Throttled): true, string(answer.Payment): true,
		string(answer.Refused): true,
		// The tables' class of a final status without an answer.
		string(answer.ErrorUnexpectedStatus): true,
	}
	for _, r := range rows() {
		seen[string(r.want.class)] = true
		for _, a := range r.want.reading {
			seen[string(a.Reason)] = true
		}
	}
	n := 0
	declared := constants(t, "../../robots/answer/facts.go", "Reason")
	maps.Copy(declared, constants(t, "../../robots/answer/failure.go", "ErrorClass"))
	for name, value := range declared {
		if n++; !seen[value] {
			t.Errorf("no row gives %s (%s)", value, name)
		}
	}
	if n < 30 {
		t.Errorf("found only %d constants: have their declarations moved?", n)
	}
}

// constants returns the string constants of the given types in a file.
func constants(t *testing.T, file string, types ...string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		for _, name := range types {
			if id, ok := spec.Type.(*ast.Ident); ok && id.Name == name {
				found[spec.Names[0].Name], err = strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		return true
	})
	return found
}

// plain is a server that answers every request with text.
func plain(text string) stage { return served(write(text)) }

// served is an http server.
func served(answer func(c *net.TCPConn, r *http.Request, n int)) stage {
	return func(t *testing.T, s *scene) { s.ConnectTo = serve(t, answer) }
}

// roomy raises the limit above the size of flood.
func roomy(st stage) stage {
	return func(t *testing.T, s *scene) {
		s.MaxBody = 2 * floodSize
		st(t, s)
	}
}

// brief gives a stage that hangs a short time, in which a loaded machine still connects.
func brief(st stage) stage {
	return func(t *testing.T, s *scene) {
		s.Timeout = 3 * time.Second
		st(t, s)
	}
}
