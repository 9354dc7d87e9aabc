package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
)

var firstDay = time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)

// site gives all hosts the answer that is set, and counts requests.
type site struct {
	mu     sync.Mutex
	answer func(w http.ResponseWriter)
	asked  int
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	s.answer(w)
}

func (s *site) set(answer func(w http.ResponseWriter)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.asked = answer, 0
}

func file1(w http.ResponseWriter) { fmt.Fprint(w, "User-agent: *\nDisallow: /private\n") }
func down(w http.ResponseWriter)  { w.WriteHeader(http.StatusServiceUnavailable) }
func gone(w http.ResponseWriter)  { w.WriteHeader(http.StatusGone) }
func cutShort(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "100")
	fmt.Fprint(w, "User-agent: *\n")
}

// Runs on the given days after the first, under every profile: SPEC 2, the table of
// memory. "-" means that the outcome alone decides, with no verdict on /private.
func TestMemoryOverTime_NoRace(t *testing.T) {
	type day struct {
		n      int
		answer func(http.ResponseWriter)
		want   map[string]string // per profile: outcome, class
		reason string            // under the first profile, google
		since  int               // unreachable since this day, -1 for reachable
		stale  int               // day of the copy, -1 for none
	}
	closed, open, partial, unknown := "full_disallow unknown", "full_allow allow_all", "conditional_allow partial",
		"undefined unknown"
	all := func(s string) map[string]string {
		return map[string]string{"google": s, "google-2019": s, "google-2012": s, "rfc9309": s}
	}
	for _, row := range []struct {
		name string
		days []day
	}{
		{"5xx with a good copy", []day{
			{0, file1, all(partial), "success", -1, -1},
			{1, down, map[string]string{"google": closed, "google-2019": closed, "google-2012": closed, "rfc9309": unknown},
				"server_error", 1, -1},
			{31, down, map[string]string{"google": partial, "google-2019": closed, "google-2012": closed, "rfc9309": unknown},
				"stale_copy", 1, 0},
			{32, down, map[string]string{"google": unknown, "google-2019": partial, "google-2012": unknown, "rfc9309": unknown},
				"unreachable_too_long", 1, -1},
			{33, file1, all(partial), "success", -1, -1},
			{34, down, map[string]string{"google": closed, "google-2019": closed, "google-2012": closed, "rfc9309": unknown},
				"server_error", 34, -1},
		}},
		{"network failures with a good copy", []day{
			{0, file1, all(partial), "success", -1, -1},
			{5, cutShort, map[string]string{"google": closed, "google-2019": closed, "google-2012": unknown,
				"rfc9309": unknown}, "incomplete_body", 5, -1},
			{6, cutShort, map[string]string{"google": partial, "google-2019": closed, "google-2012": unknown,
				"rfc9309": unknown}, "stale_copy", 5, 0},
			{36, cutShort, map[string]string{"google": unknown, "google-2019": partial, "google-2012": unknown,
				"rfc9309": unknown}, "unreachable_too_long", 5, -1},
		}},
		{"without a copy", []day{
			{0, down, all(closed), "server_error", 0, -1},
			{7, cutShort, map[string]string{"google": open, "google-2019": closed, "google-2012": unknown, "rfc9309": closed},
				"unreachable_too_long", 0, -1},
			{31, down, map[string]string{"google": unknown, "google-2019": open, "google-2012": unknown, "rfc9309": open},
				"unreachable_too_long", 0, -1},
		}},
		{"a 4xx withdraws the copy", []day{
			{0, file1, all(partial), "success", -1, -1},
			{1, gone, all(open), "client_error", -1, -1},
			{2, down, all(closed), "server_error", 2, -1},
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &site{}
			c := newConfig(t, s.ServeHTTP, "h.example\n")
			c.State = filepath.Join(t.TempDir(), "state")
			c.Evaluate.Profiles = nil
			for _, name := range []string{"google", "google-2019", "google-2012", "rfc9309"} {
				p, _ := robots.ProfileNamed(name)
				c.Evaluate.Profiles = append(c.Evaluate.Profiles, p)
			}
			for _, d := range row.days {
				s.set(d.answer)
				now := firstDay.AddDate(0, 0, d.n)
				c.Run, c.Fetch.Now = fmt.Sprintf("day-%d", d.n), func() time.Time { return now }
				if _, err := Run(context.Background(), c, new(Progress)); err != nil {
					t.Fatal(err)
				}
				f := rowsOf[schema.Fetch](t, c, "fetches")[0]
				if f.Reason != d.reason || f.Source != "network" || s.asked != 1 || !f.FetchTime.Equal(now) {
					t.Errorf("day %d: reason %s, source %s, %d requests, at %v", d.n, f.Reason, f.Source, s.asked, f.FetchTime)
				}
				for what, pair := range map[string]struct {
					got  *time.Time
					want int
				}{"unreachable_since": {f.UnreachableSince, d.since}, "stale_since": {f.StaleSince, d.stale}} {
					if (pair.got == nil) != (pair.want < 0) || pair.got != nil && !pair.got.Equal(firstDay.AddDate(0, 0, pair.want)) {
						t.Errorf("day %d: %s is %v, want that of day %d", d.n, what, pair.got, pair.want)
					}
				}
				if judged := f.ContentDigest != nil; judged != (f.Reason == "success" || f.Reason == "stale_copy") {
					t.Errorf("day %d: digest %v beside %s", d.n, f.ContentDigest, f.Reason)
				}
				got := make(map[string]string)
				for _, p := range rowsOf[schema.Policy](t, c, "policies") {
					got[p.Profile] = p.Outcome + " " + p.Class
				}
				if diff := cmp.Diff(d.want, got); diff != "" {
					t.Errorf("day %d (-want +got):\n%s", d.n, diff)
				}
			}
		})
	}
}

// SPEC 2: each profile decides what counts as unreachable, and the memory holds
// facts. One run each day, with one memory.
func TestUnreachableIsTheProfilesOwn_NoRace(t *testing.T) {
	strict, _ := robots.ProfileNamed("rfc9309")
	strict.Name, strict.TooManyRequests = "strict", answer.ServerError
	google, _ := robots.ProfileNamed("google")
	rfc, _ := robots.ProfileNamed("rfc9309")
	tooMany := func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) }
	type day struct {
		answer   func(http.ResponseWriter)
		profiles []*robots.Profile
		row      string   // outcome, reason, error class, unreachable since, stale since
		verdicts []string // per profile: on /, /private and /robots.txt
	}
	for _, row := range []struct {
		name    string
		missing int // the status of missing pages, if the run probes for it
		days    []day
	}{
		{"429 under a strict profile", 0, []day{
			{file1, []*robots.Profile{strict}, "conditional_allow success - - -",
				[]string{"strict allow no_rule *, disallow rule *, allow robots_txt *"}},
			{tooMany, []*robots.Profile{strict}, "undefined stale_copy - 1 0",
				[]string{"strict undefined undefined *, disallow rule *, allow robots_txt *"}},
			{tooMany, []*robots.Profile{rfc}, "full_allow client_error - - -",
				[]string{"rfc9309 allow full_allow -, allow full_allow -, allow robots_txt -"}},
			{tooMany, []*robots.Profile{strict}, "undefined stale_copy - 1 0",
				[]string{"strict undefined undefined *, disallow rule *, allow robots_txt *"}},
			{down, []*robots.Profile{rfc, strict}, "full_disallow server_error server_error 4 -", []string{
				"rfc9309 disallow full_disallow -, disallow full_disallow -, allow robots_txt -",
				"strict undefined undefined *, disallow rule *, allow robots_txt *"}},
			{down, []*robots.Profile{strict, rfc}, "undefined stale_copy server_error 1 0", []string{
				"strict undefined undefined *, disallow rule *, allow robots_txt *",
				"rfc9309 disallow full_disallow -, disallow full_disallow -, allow robots_txt -"}},
		}},
		{"a misconfigured site", 503, []day{
			{file1, []*robots.Profile{rfc}, "conditional_allow success - - -",
				[]string{"rfc9309 allow no_rule *, disallow rule *, allow robots_txt *"}},
			{down, []*robots.Profile{rfc}, "undefined stale_copy server_error 1 0",
				[]string{"rfc9309 undefined undefined *, disallow rule *, allow robots_txt *"}},
			{down, []*robots.Profile{google}, "full_allow misconfigured_server server_error - -",
				[]string{"google allow full_allow -, allow full_allow -, allow full_allow -"}},
			{down, []*robots.Profile{rfc}, "undefined stale_copy server_error 1 0",
				[]string{"rfc9309 undefined undefined *, disallow rule *, allow robots_txt *"}},
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var now day
			site := func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/robots.txt":
					now.answer(w)
				case "/":
				default:
					w.WriteHeader(row.missing)
				}
			}
			c := newConfig(t, site, "h.example\n")
			c.State, c.Fetch.ProbeMisconfigured = filepath.Join(t.TempDir(), "state"), row.missing != 0
			var err error
			if c.Evaluate.Samples, err = registry.ParseSamples("urls", []byte("/\n/private\n/robots.txt\n")); err != nil {
				t.Fatal(err)
			}
			c.Evaluate.Agents = c.Evaluate.Agents[:1]
			since := func(at *time.Time) string {
				if at == nil {
					return "-"
				}
				return fmt.Sprint(int(at.Sub(firstDay) / (24 * time.Hour)))
			}
			for n, d := range row.days {
				now = d
				date := firstDay.AddDate(0, 0, n)
				c.Run, c.Fetch.Now, c.Evaluate.Profiles = fmt.Sprintf("day-%d", n), func() time.Time { return date }, d.profiles
				if _, err := Run(context.Background(), c, new(Progress)); err != nil {
					t.Fatal(err)
				}
				f := rowsOf[schema.Fetch](t, c, "fetches")[0]
				class := "-"
				if f.ErrorClass != nil {
					class = *f.ErrorClass
				}
				if got := strings.Join([]string{f.Outcome, f.Reason, class, since(f.UnreachableSince), since(f.StaleSince)},
					" "); got != d.row {
					t.Errorf("day %d: %s, want %s", n, got, d.row)
				}
				if (f.ContentDigest != nil) != (f.Reason == "success" || f.Reason == "stale_copy") {
					t.Errorf("day %d: digest %v beside %s", n, f.ContentDigest, f.Reason)
				}
				// Judged again under another profile and then under these, it is the same.
				strange, _ := robots.ProfileNamed("classic-1996")
				other, again := c, c
				other.Dir, other.State, other.Source = filepath.Join(t.TempDir(), "other"), "",
					source.Config{FromRun: filepath.Join(c.Dir, "_runs", c.Run)}
				other.Evaluate.Profiles = []*robots.Profile{strange}
				again.Dir, again.State, again.Source = filepath.Join(t.TempDir(), "again"), "",
					source.Config{FromRun: filepath.Join(other.Dir, "_runs", c.Run)}
				for _, config := range []Config{other, again} {
					if _, err := Run(context.Background(), config, new(Progress)); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(rowsOf[schema.Fetch](t, c, "fetches"), rowsOf[schema.Fetch](t, again, "fetches")); diff != "" {
					t.Errorf("day %d, re-evaluated (-first +again):\n%s", n, diff)
				}
				if diff := cmp.Diff(rowsOf[schema.Verdict](t, c, "verdicts"), rowsOf[schema.Verdict](t, again,
					"verdicts")); diff != "" {
					t.Errorf("day %d, re-evaluated (-first +again):\n%s", n, diff)
				}
				byProfile := make(map[string][]string)
				for _, v := range rowsOf[schema.Verdict](t, c, "verdicts") {
					group := "-"
					if v.GroupAgent != nil {
						group = *v.GroupAgent
					}
					byProfile[v.Profile] = append(byProfile[v.Profile], v.Verdict+" "+v.Reason+" "+group)
				}
				var got []string
				for _, p := range d.profiles {
					got = append(got, p.Name+" "+strings.Join(byProfile[p.Name], ", "))
				}
				if diff := cmp.Diff(d.verdicts, got); diff != "" {
					t.Errorf("day %d (-want +got):\n%s", n, diff)
				}
			}
		})
	}
}

// How long an answer is used without a request: SPEC 2, freshness.
func TestFreshAnswersAreNotAskedFor_NoRace(t *testing.T) {
	const day = 24 * time.Hour
	caching := func(value string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Cache-Control", value)
			file1(w)
		}
	}
	for _, row := range []struct {
		name     string
		answer   func(http.ResponseWriter)
		maxAge   time.Duration
		lengthen bool
		after    time.Duration
		cached   bool
	}{
		{"within a day", file1, day, true, day - 1, true},
		{"after a day", file1, day, true, day, false},
		{"always asks", file1, 0, true, 1, false},
		{"Cache-Control shortens", caching("max-age=3600"), day, true, time.Hour, false},
		{"and until then it serves", caching("max-age=3600"), day, true, time.Hour - 1, true},
		{"Cache-Control lengthens", caching("public, max-age=172800"), day, true, 2*day - 1, true},
		{"but not under rfc9309", caching("public, max-age=172800"), day, false, 2*day - 1, false},
		{"a 410 is an answer", gone, day, true, time.Hour, true},
		{"an outage is none", down, day, true, time.Second, false},
		{"nor what is one to some profile", func(w http.ResponseWriter) { w.WriteHeader(429) }, day, true, time.Second,
			false},
		{"a clock that went back", file1, day, true, -time.Hour, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &site{}
			c := newConfig(t, s.ServeHTTP, "h.example\n")
			c.State, c.MaxAge, c.Lengthen = filepath.Join(t.TempDir(), "state"), row.maxAge, row.lengthen
			s.set(row.answer)
			var before, after schema.Fetch
			for i, out := range []*schema.Fetch{&before, &after} {
				now := firstDay.Add(time.Duration(i) * row.after)
				c.Run, c.Fetch.Now = fmt.Sprintf("run-%d", i), func() time.Time { return now }
				result, err := Run(context.Background(), c, new(Progress))
				if err != nil {
					t.Fatal(err)
				}
				*out = rowsOf[schema.Fetch](t, c, "fetches")[0]
				counted := make(map[string]int64)
				for _, n := range result.Counts.List() {
					counted[n.Metric]++
					counted[n.Metric+" "+n.Key] += n.N
				}
				if cached := row.cached && i == 1; counted["source "+out.Source] != 1 || counted["source"] != 1 ||
					counted["total_us"] == 0 != cached {
					t.Errorf("run %d, of source %s, counts %v", i, out.Source, counted)
				}
			}
			want, source := 2, "network"
			if row.cached {
				want, source = 1, "cache"
			}
			if s.asked != want || after.Source != source {
				t.Errorf("%d requests, source %s; want %d, %s", s.asked, after.Source, want, source)
			}
			if row.cached {
				// Only the source distinguishes the rows.
				after.Source = "network"
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("a remembered answer (-network +cache):\n%s", diff)
				}
			}
		})
	}
}

// Another output folder may hold a run of the same ID. Its answers do not belong to
// this run.
func TestARunOfTheSameIDElsewhereIsAnother(t *testing.T) {
	s := &site{}
	c := newConfig(t, s.ServeHTTP, "h.example\n")
	c.State = filepath.Join(t.TempDir(), "state")
	s.set(file1)
	for range 2 {
		c.Dir = filepath.Join(t.TempDir(), "out")
		if _, err := Run(context.Background(), c, new(Progress)); err != nil {
			t.Fatal(err)
		}
	}
	if s.asked != 2 {
		t.Errorf("%d requests with --max-age 0, want 2", s.asked)
	}
}

func TestTheSchemeThatOnceAnsweredIsTheRow(t *testing.T) {
	s := &site{}
	c := newConfig(t, s.ServeHTTP, "h.example\n") // the server has no TLS
	c.State, c.Source.Schemes = filepath.Join(t.TempDir(), "state"), []string{"https", "http"}
	s.set(file1)
	google, _ := robots.ProfileNamed("rfc9309")
	c.Evaluate.Profiles = []*robots.Profile{google}
	for i, want := range []string{"success", "stale_copy"} {
		now := firstDay.AddDate(0, 0, i)
		c.Run, c.Fetch.Now = want, func() time.Time { return now }
		if i == 1 {
			c.Fetch.ConnectTo = closedPort(t)
		}
		if _, err := Run(context.Background(), c, new(Progress)); err != nil {
			t.Fatal(err)
		}
		f := rowsOf[schema.Fetch](t, c, "fetches")[0]
		if f.Origin != "http://h.example" || f.Reason != want || f.FallbackErrorClass == nil {
			t.Errorf("day %d: %s, %s, fallback %v", i, f.Origin, f.Reason, f.FallbackErrorClass)
		}
	}
}

func TestAStateFolderThatCannotBeUsedEndsTheRun(t *testing.T) {
	s := &site{}
	s.set(file1)
	c := newConfig(t, s.ServeHTTP, "h.example\n")
	c.State = writeFile(t, "state", []byte("not a folder"))
	if _, err := Run(context.Background(), c, new(Progress)); err == nil || !strings.Contains(err.Error(),
		"state folder") {
		t.Errorf("error %v", err)
	}
}

func closedPort(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return netip.MustParseAddrPort(l.Addr().String())
}

// A proxy that is gone must not give a table of unreachable hosts.
func TestAFailureOfThisMachineEndsTheRun(t *testing.T) {
	s := &site{}
	s.set(file1)
	c := newConfig(t, s.ServeHTTP, "h.example\n")
	c.Fetch.ConnectTo = netip.AddrPort{}
	c.Fetch.Proxy = &url.URL{Scheme: "http", Host: closedPort(t).String()}
	_, err := Run(context.Background(), c, new(Progress))
	var local *LocalError
	if !errors.As(err, &local) || !strings.Contains(err.Error(), "proxy") {
		t.Fatalf("error %v", err)
	}
	if _, err := os.Stat(c.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run that has asked nobody is left behind: %v", err)
	}
}
