package expect

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// Hosts are held against a model by what their rules mean, for each agent.
func TestHostsAgainstAModel(t *testing.T) {
	const model = "User-agent: *\nDisallow: /private/\nDisallow: /news/\nAllow: /news/today$\n\nUser-agent: RoboTestB\n" +
		"Disallow: /\n"
	folder := t.TempDir()
	for host, text := range map[string]string{
		"same.example": model,
		"other.example": "User-agent: RoboTestB\nDisallow: *\n\nUser-agent: *\nDisallow: /private/*\n" +
			"Disallow: /private/a\nAllow: /news/today$\nDisallow: /news/\n",
		"stricter.example": "User-agent: *\nDisallow: /\n",
		"looser.example":   "User-agent: *\nDisallow: /private/\n\nUser-agent: RoboTestB\nDisallow: /a\n",
		"mixed.example":    strings.Replace(model, "/private/", "/privat", 1) + "Allow: /b\n",
		"none.example":     "",
		"hostile.example": "User-agent: *\nDisallow: /private/\n" +
			strings.Repeat("Disallow: /*a*b*c*d*e\nAllow: /*b*d*f*a*c\nDisallow: /*c*a*e*g*i*k\n", 1) + audittest.HostileRules(
			60),
	} {
		sinktest.Must(t, os.WriteFile(folder+"/"+host, []byte(text), 0o666))
	}
	google, _ := robots.ProfileNamed("google")
	old, _ := robots.ProfileNamed("google-2012")
	for _, c := range []struct {
		name, tables string
		profile      *robots.Profile
	}{{"from tables", "fetches agents groups rules", google}, {"from bodies", "fetches agents bodies", old}} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			audittest.StoredRun(t, dir, "r", folder, c.tables, c.profile)
			run, err := past.Read(t.Context(), sinktest.Open(t, dir), "r")
			sinktest.Must(t, err)
			agents := run.Registry.Agents
			for _, x := range []struct {
				text     string
				want     string // state, checked, broken, undecided
				breaches []string
			}{
				{"at_least_as_strict_as: m, hosts: [same.*, other.*, stricter.*]", "kept 9 0 0", nil},
				{"at_most_as_strict_as: m, hosts: [same.*, other.*]", "kept 4 0 0", nil},
				{"at_least_as_strict_as: m, hosts: looser.*", "broken 3 3 0", []string{
					"looser.example RoboTestA /news/ allow, and the model disallow (line 3) 0",
					"looser.example RoboTestB / allow, and the model disallow (line 7) 0",
					"looser.example RoboTestC /news/ allow, and the model disallow (line 3) 0",
				}},
				{"at_most_as_strict_as: m, hosts: looser.*", "kept 2 0 0", nil},
				{"at_most_as_strict_as: m, hosts: stricter.*, agents: RoboTestA", "broken 1 1 0",
					[]string{"stricter.example RoboTestA / disallow, and the model allow 2"}},
				{"at_least_as_strict_as: m, hosts: mixed.*", "broken 3 1 0",
					[]string{"mixed.example RoboTestB /b allow, and the model disallow (line 7) 8"}},
				{"at_least_as_strict_as: m, hosts: mixed.*, at_most: 1", "kept 3 1 0", nil},
				{"at_most_as_strict_as: m, hosts: mixed.*, category: search", "broken 1 1 0",
					[]string{"mixed.example RoboTestA /privat disallow, and the model allow 2"}},
				{"at_least_as_strict_as: m, hosts: none.*, agents: robotestc", "broken 1 1 0",
					[]string{"none.example RoboTestC /news/ allow, and the model disallow (line 3) 0"}},
				{"at_most_as_strict_as: m, hosts: none.*", "kept 2 0 0", nil},
				{"at_most_as_strict_as: m, hosts: nowhere.*", "unchecked 0 0 0", nil},
			} {
				e, err := Parse("e", []byte("- {name: x, "+x.text+"}"), func(string) ([]byte, error) { return []byte(model), nil })
				sinktest.Must(t, err)
				promises, err := e.Check(t.Context(), sinktest.Open(t, dir), "r", agents)
				sinktest.Must(t, err)
				p := promises[0]
				if got := fmt.Sprintf("%s %d %d %d", p.State, p.Checked, p.Broken, p.Undecided); got != x.want {
					t.Errorf("%s: %s, want %s: %s", x.text, got, x.want, p.Note)
				}
				if c.profile != google || x.breaches == nil {
					continue // lines and some verdicts are others
				}
				var got []string
				for _, b := range p.First {
					line := int32(0)
					if b.Line != nil {
						line = *b.Line
					}
					got = append(got, fmt.Sprintf("%s %s %s %s %d", b.Host, *b.Agent, *b.URL, b.Found, line))
				}
				slices.Sort(got)
				if diff := cmp.Diff(x.breaches, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", x.text, diff)
				}
			}
			// An agent to which the model forbids nothing is not checked: it would dilute a share.
			e, err := Parse("e", []byte("- {name: x, at_least_as_strict_as: m, hosts: none.*, at_most: 99%}"),
				func(string) ([]byte, error) { return []byte("User-agent: RoboTestA\nDisallow: /\n"), nil })
			sinktest.Must(t, err)
			one, err := e.Check(t.Context(), sinktest.Open(t, dir), "r", agents)
			sinktest.Must(t, err)
			if p := one[0]; p.State != Broken || p.Checked != 1 || p.Broken != 1 {
				t.Errorf("of a model about one agent: %+v", p)
			}
			// What cannot be decided keeps no promise and breaks none.
			e, err = Parse("e", []byte("- {name: x, at_least_as_strict_as: m, hosts: hostile.*}"),
				func(string) ([]byte, error) { return []byte("User-agent: *\n" + audittest.HostileRules(61)), nil })
			sinktest.Must(t, err)
			promises, err := e.Check(t.Context(), sinktest.Open(t, dir), "r", agents)
			sinktest.Must(t, err)
			if p := promises[0]; p.State != Unchecked || !p.Fails || p.Undecided != 3 || !strings.Contains(p.Note,
				"3 undecided") {
				t.Errorf("of hostile rules: %+v", p)
			}
		})
	}
}

// An outage is not a policy: it keeps no promise and breaks none.
func TestAnOutageAgainstAModel(t *testing.T) {
	down, gone := audittest.Fetch("https://down.example", "server_error", "", 0), audittest.Fetch("https://gone.example",
		"client_error", "", 0)
	dir := t.TempDir()
	audittest.Run(t, dir, "r", []string{"fetches", "groups", "rules", "agents"}, []schema.Fetch{down, gone})
	agents := []schema.Agent{{Name: "A", Tokens: []string{"A"}}, {Name: "B", Tokens: []string{"B"}}}
	for text, want := range map[string]string{
		"hosts: down.example": "unchecked false 0 0 2", "hosts: gone.example": "broken true 2 2 0",
		"hosts: '*.example', at_most: 2": "unchecked false 2 2 2", "hosts: '*.example', at_most: 99%": "broken true 2 2 2",
	} {
		e, err := Parse("e", []byte("- {name: x, at_least_as_strict_as: m, "+text+"}"), func(string) ([]byte, error) {
			return []byte("User-agent: *\nDisallow: /x"), nil
		})
		sinktest.Must(t, err)
		promises, err := e.Check(t.Context(), sinktest.Open(t, dir), "r", agents)
		sinktest.Must(t, err)
		if p := promises[0]; fmt.Sprintf("%s %v %d %d %d", p.State, p.Fails, p.Checked, p.Broken, p.Unknown) != want {
			t.Errorf("%s: %+v, want %s", text, p, want)
		}
	}
}

func TestAModelThatCannotBeRead(t *testing.T) {
	_, err := Parse("dir/e.yaml", []byte("- name: x\n  hosts: a\n  at_least_as_strict_as: m.txt\n"),
		func(path string) ([]byte, error) {
			return nil, &userfile.Error{Path: path, Err: errors.New("no such file or directory")}
		})
	if want := "dir/e.yaml:3: at_least_as_strict_as: dir/m.txt: no such file or directory"; err == nil ||
		err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for text, want := range map[string]string{
		"at_least_as_strict_as: ''":               "e:1: at_least_as_strict_as is empty",
		"at_most_as_strict_as: m, urls: /":        "urls does not apply to at_most_as_strict_as",
		"at_most_as_strict_as: m, class: partial": "an expectation has one of verdict, class,",
	} {
		if _, err := Parse("e", []byte("- {name: x, "+text+"}"), func(string) ([]byte, error) {
			return nil, nil
		}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// What is undecided does not keep a promise that it could break.
func TestUndecidedChangesBreakNoLimit(t *testing.T) {
	x := &expectation{count: 2, percent: -1}
	for _, row := range []struct {
		broken, undecided int64
		want              State
		fails             bool
	}{{0, 0, Kept, false}, {2, 0, Kept, false}, {3, 0, Broken, true}, {1, 1, Kept, false}, {2, 1, Unchecked, true},
		{0, 3, Unchecked, true}, {3, 3, Broken, true}} {
		p := &Promise{Checked: 10, Broken: row.broken, Undecided: row.undecided}
		if x.judge(p, "", ""); p.State != row.want || p.Fails != row.fails {
			t.Errorf("%d broken and %d undecided of at most 2: %s, fails %v", row.broken, row.undecided, p.State, p.Fails)
		}
	}
}

// A promise is not kept by rows that may all differ: nothing that was seen could break it.
// What an outage hid could, and changes of one host may be many.
func TestALimitThatNothingCanExceed(t *testing.T) {
	for _, row := range []struct {
		checked, unknown int64
		what             string
		want             State
		fails            bool
	}{{3, 0, "class", Unchecked, true}, {1, 2, "class", Unchecked, true}, {1, 3, "class", Unchecked, false},
		{3, 9, "class", Unchecked, false}, {4, 0, "class", Kept, false}, {3, 0, "no_change", Kept, false}} {
		p := &Promise{Checked: row.checked, Unknown: row.unknown, Broken: 1}
		x := &expectation{count: 3, percent: -1, what: row.what}
		if x.judge(p, "", ""); p.State != row.want || p.Fails != row.fails || (p.Note == "") != (row.want == Kept) {
			t.Errorf("at most 3 of %d, %d unknown, of %s: %s (%s), fails %v", row.checked, row.unknown, row.what, p.State,
				p.Note, p.Fails)
		}
	}
	share := &expectation{percent: 99}
	p := &Promise{Checked: 3}
	if share.judge(p, "", ""); p.State != Kept {
		t.Errorf("at most 99%% of 3 is %s (%s)", p.State, p.Note)
	}
}

// A change whose meaning is undecided breaks a promise for certain only if any change
// of the agent does. Of some URLs or severities, it may be about others.
func TestUndecidedChangesThatMayBeMeant(t *testing.T) {
	url := new("/x")
	for _, row := range []struct {
		name string
		x    expectation
		url  *string
		want bool
	}{
		{"any change, with a path", expectation{NoChange: words{"rules"}}, url, false},
		{"any change, without", expectation{NoChange: words{"rules"}}, nil, true},
		{"of a severity", expectation{NoChange: words{"rules"}, Severity: words{"major"}}, url, true},
		{"of another agent", expectation{NoChange: words{"rules"}, Agents: words{"Other"}}, nil, false},
		{"under another profile", expectation{NoChange: words{"rules"}, Profile: words{"other"}}, nil, false},
	} {
		change := &schema.Change{Kind: "rules", Agent: new("GPTBot"), Profile: new("google"), URL: row.url,
			After: new(change.RulesUndecided)}
		row.x.kinds = row.x.NoChange
		if got := row.x.dependsOn(change); got != row.want {
			t.Errorf("a promise about %s: %v, want %v", row.name, got, row.want)
		}
	}
}
