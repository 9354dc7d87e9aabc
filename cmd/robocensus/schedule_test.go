package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/cmd/internal/farm"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// weeks runs configs/schedule/weekly.sh in given weeks, against a farm.
type weeks struct {
	t        *testing.T
	dir      string
	server   *farm.Server
	addr     string
	hosts    string
	keep     string
	settings []string // environment variables
}

func newWeeks(t *testing.T, faults, hosts string) *weeks {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	for _, name := range []string{"diff", "report"} {
		if command(name, "--help").Run() != nil {
			t.Skipf("this program has no command %s", name)
		}
	}
	parsed, err := farm.ParseFaults(strings.NewReader(faults), "faults")
	if err != nil {
		t.Fatal(err)
	}
	server, err := farm.New(farm.Config{Faults: parsed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	addr, err := server.ListenHTTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &weeks{t: t, dir: filepath.Join(t.TempDir(), "data of the census"), server: server, addr: addr, keep: "2"}
	w.hosts = filepath.Join(t.TempDir(), "hosts.txt")
	bin := t.TempDir()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Symlink(self, filepath.Join(bin, "robocensus")), os.WriteFile(w.hosts, []byte(hosts),
		0o666)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.settings = []string{"ROBOCENSUS_AS_COMMAND=1", "PATH=" + bin + ":" + os.Getenv("PATH")}
	return w
}

func (w *weeks) command(week string, flags ...string) *exec.Cmd {
	args := append([]string{"../../configs/schedule/weekly.sh", w.dir, w.hosts,
		"--schemes", "http", "--connect-to", w.addr, "--retries", "0", "--timeout", "60s", "--grace", "1s", "--progress",
		"none"}, flags...)
	c := exec.Command("sh", args...)
	c.Env = append(append(os.Environ(), "WEEK="+week, "KEEP="+w.keep), w.settings...)
	return c
}

// run runs the script, which must exit with the code, and returns its output.
func (w *weeks) run(code int, week string, flags ...string) string {
	w.t.Helper()
	text, err := w.command(week, flags...).CombinedOutput()
	w.exited(code, week, err, text)
	return string(text)
}

func (w *weeks) exited(code int, week string, err error, text []byte) {
	w.t.Helper()
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		w.t.Fatal(err)
	}
	if got != code {
		w.t.Fatalf("%s: exit code %d, want %d:\n%s", week, got, code, text)
	}
}

// left returns the names that match a pattern below the folder.
func (w *weeks) left(pattern string) (names []string) {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.dir, pattern))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range found {
		name, err := filepath.Rel(w.dir, f)
		if err != nil {
			w.t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(name))
	}
	return names
}

func (w *weeks) expectLeft(pattern string, want ...string) {
	w.t.Helper()
	if got := w.left(pattern); !slices.Equal(got, want) {
		w.t.Errorf("%s: there are %q, want %q", pattern, got, want)
	}
}

func (w *weeks) fetches(week string) map[string]schema.Fetch {
	w.t.Helper()
	rows, err := parquet.ReadFile[schema.Fetch](filepath.Join(w.dir, "tables/fetches/run="+week+
		"/part-0000000000.parquet"))
	if err != nil {
		w.t.Fatal(err)
	}
	by := make(map[string]schema.Fetch)
	for _, row := range rows {
		by[row.Host] = row
	}
	return by
}

// Five weeks with a host that fails and comes back, an interruption, and a second
// start of the script.
func TestWeeks_NoRace(t *testing.T) {
	t.Parallel()
	w := newWeeks(t, `
good.example: {body: "User-agent: *\nDisallow: /private\n"}
flaky.example: {times: 1, body: "User-agent: *\nDisallow: /\n", then: [{reset: start}, {reset: start}, {body: "User-agent: *\nDisallow: /\n"}]}
late.example: {times: 3, status: 404, then: [{hang: start}, {status: 404}]}
`, "good.example\nflaky.example\nlate.example\n")

	w.run(0, "2020-W52")
	w.expectLeft("reports/*", "reports/2020-W52.html")
	if said := w.run(0, "2020-W52"); !strings.HasPrefix(said, "2020-W52 is done: ") {
		t.Errorf("a week that is done: %s", said)
	}
	if n := w.server.Report(0).Requests; n != 3 {
		t.Errorf("%d requests in the first week, want 3", n)
	}

	w.run(0, "2020-W53")
	w.run(0, "2021-W01")
	w.expectLeft("tables/_runs/*", "tables/_runs/2020-W53", "tables/_runs/2021-W01")
	w.expectLeft("tables/changes/*/*", "tables/changes/run=2021-W01/against=2020-W53")
	since := w.fetches("2020-W53")["flaky.example"].UnreachableSince
	again := w.fetches("2021-W01")["flaky.example"].UnreachableSince
	if since == nil || again == nil || !since.Equal(*again) {
		t.Errorf("flaky.example is unreachable since %v, and a week later since %v", since, again)
	}

	// Stopped as systemd and Kubernetes do it, by a signal to the shell only: the
	// command ends in order, and the week can be resumed.
	c := w.command("2021-W02")
	var said strings.Builder
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(60 * time.Second); w.server.Report(0).Requests < 12; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the farm was not asked within a minute")
		}
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.exited(75, "2021-W02", c.Wait(), []byte(said.String()))
	if !strings.Contains(said.String(), "robocensus: interrupted") {
		t.Errorf("the command did not end in order:\n%s", said.String())
	}
	w.expectLeft("reports/2021-W02*")
	w.run(0, "2021-W02")
	if row := w.fetches("2021-W02")["flaky.example"]; row.UnreachableSince != nil || row.Reason != "success" {
		t.Errorf("flaky.example, which is back: %s, unreachable since %v", row.Reason, row.UnreachableSince)
	}

	w.run(0, "2021-W03")
	w.expectLeft("tables/_runs/*", "tables/_runs/2021-W02", "tables/_runs/2021-W03")
	w.expectLeft("tables/*/run=2020-W52")
	w.expectLeft("tables/changes/*/*", "tables/changes/run=2021-W03/against=2021-W02")
	w.expectLeft("reports/*", "reports/2020-W52.html", "reports/2020-W53.html", "reports/2021-W01.html",
		"reports/2021-W02.html", "reports/2021-W03.html")
	for _, run := range []string{"2021-W02", "2021-W03"} {
		if text, err := command("verify", "--out", filepath.Join(w.dir, "tables"), run).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
	if len(w.left("state/*")) == 0 {
		t.Error("no memory is left")
	}
}

func TestWeeksThatFail_NoRace(t *testing.T) {
	t.Parallel()
	w := newWeeks(t, "", "a.example\n")
	t.Run("bad input", func(t *testing.T) {
		w.t = t
		w.run(65, "2020-W01", "--agents", "missing.yaml")
		w.expectLeft("tables/_runs/*")
	})
	w.t = t
	w.run(0, "2020-W01")
	t.Run("another list in the same week", func(t *testing.T) {
		w.t = t
		if err := os.Remove(filepath.Join(w.dir, "reports/2020-W01.html")); err != nil {
			t.Fatal(err)
		}
		w.run(64, "2020-W01", "--limit", "7")
		w.expectLeft("reports/*")
	})
	w.t = t
	w.run(0, "2020-W02")
	t.Run("damaged tables", func(t *testing.T) {
		w.t = t
		w.keep = "1"
		if err := os.Remove(filepath.Join(w.dir, "reports/2020-W02.html")); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(w.dir, "tables/rules/run=2020-W02/part-0000000000.parquet")
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		content[len(content)/2] ^= 1
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if said := w.run(65, "2020-W02"); !strings.Contains(said, "rules/run=2020-W02/part-0000000000.parquet: digest: ") {
			t.Errorf("said:\n%s", said)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if said := w.run(64, "2020-W02"); !strings.Contains(said, "cannot be resumed: a committed part is missing") {
			t.Errorf("said:\n%s", said)
		}
		w.expectLeft("tables/_runs/*", "tables/_runs/2020-W01", "tables/_runs/2020-W02")
	})
	t.Run("no week, and no number of runs", func(t *testing.T) {
		w.t = t
		for _, week := range []string{"2020-W60", "2020-W54", "2021-W53", "2020-W00", "2020-W1", "2020W10", "W10",
			"2020-W10x", "2020-10", "../2020-W10", "2020-W10\n"} {
			if said := w.run(64, week); !strings.HasPrefix(said, "weekly.sh: WEEK "+week+" is no week: ") {
				t.Errorf("%s: %s", week, said)
			}
		}
		for _, keep := range []string{"0", "-1", "x", "2x", "1.5", " 2", "99999999999999999999"} {
			w.keep = keep
			if said := w.run(64, "2020-W03"); !strings.HasPrefix(said, "weekly.sh: KEEP "+keep+": ") {
				t.Errorf("%s: %s", keep, said)
			}
		}
		w.keep = "2"
		w.settings = append(w.settings, "EXPECT="+filepath.Join(t.TempDir(), "missing.yaml"))
		if said := w.run(65, "2020-W03"); !strings.Contains(said, "missing.yaml cannot be read") {
			t.Errorf("said:\n%s", said)
		}
		w.settings = w.settings[:len(w.settings)-1]
		w.expectLeft("tables/_runs/*", "tables/_runs/2020-W01", "tables/_runs/2020-W02")
	})
	t.Run("usage", func(t *testing.T) {
		w.t = t
		text, err := exec.Command("sh", "../../configs/schedule/weekly.sh", w.dir).CombinedOutput()
		w.exited(64, "no list", err, text)
		if diff := cmp.Diff("usage: weekly.sh DIR HOSTS [flags of robocensus run]\n", string(text)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWeeksOfBrokenExpectations_NoRace(t *testing.T) {
	t.Parallel()
	w := newWeeks(t, `shop.example: {times: 1, status: 404, then: {body: "User-agent: *\nDisallow: /\n"}}`,
		"shop.example\n")
	expectations := filepath.Join(t.TempDir(), "expectations.yaml")
	text := "- {name: shops are open, agents: [Googlebot], urls: [/], verdict: allow}\n"
	if err := os.WriteFile(expectations, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	w.settings = append(w.settings, "EXPECT="+expectations)
	w.run(0, "2020-W01")
	said := w.run(1, "2020-W02")
	list := filepath.Join(w.dir, "tables/changes/run=2020-W02/against=2020-W01/expectations.csv")
	alert := "2020-W02: a promise is broken, or cannot be checked; all that is otherwise: " + list +
		"\nExpectations\nname "
	if !strings.HasPrefix(said, alert) ||
		!strings.Contains(said, "shop.example  Googlebot  /    disallowed by rule     2\n") {
		t.Errorf("said:\n%s", said)
	}
	for _, once := range []string{"\nExpectations\n", "\nBroken: ", "shop.example  Googlebot  /    disallowed by rule"} {
		if n := strings.Count(said, once); n != 1 {
			t.Errorf("it says %q %d times:\n%s", once, n, said)
		}
	}
	if _, err := os.Stat(list); err != nil {
		t.Error(err)
	}
	written, err := os.ReadFile(filepath.Join(w.dir, "reports/2020-W02.broken.txt"))
	if err != nil || !strings.HasPrefix(said, string(written)) || strings.Contains(string(written), "allow_all") ||
		strings.Contains(string(written), "partial") {
		t.Errorf("%v; written:\n%s", err, written)
	}
	// The week is done, and a second start says and exits with the same.
	w.expectLeft("reports/*", "reports/2020-W01.html", "reports/2020-W02.broken.txt", "reports/2020-W02.html")
	if again := w.run(1, "2020-W02"); !strings.HasPrefix(again, alert) || !strings.HasSuffix(again, "2020-W02 is done: "+
		filepath.Join(w.dir, "reports/2020-W02.html")+"\n") {
		t.Errorf("the second start says:\n%s", again)
	}
	w.run(0, "2020-W01")
}

// A week that was missed is made up before a later one is complete, and compared with the
// one before it in time. Later it would stand before runs that are older.
func TestAWeekThatWasMissed_NoRace(t *testing.T) {
	t.Parallel()
	w := newWeeks(t, "", "a.example\n")
	w.keep = "9"
	w.run(0, "2020-W09")
	// Runs that are no weeks do not count.
	tables := filepath.Join(w.dir, "tables")
	for _, run := range []string{"2020-W99", "2021-W53"} {
		if err := command("run", "--bodies", "../../testdata/demo/hosts", "--limit", "1", "--out", tables, "--run", run,
			"--as-of", "2020-01", "--progress", "none").Run(); err != nil {
			t.Fatal(err)
		}
	}
	w.run(0, "2020-W11")
	w.expectLeft("tables/changes/*/*", "tables/changes/run=2020-W11/against=2020-W09")
	if said := w.run(64, "2020-W10"); !strings.HasPrefix(said,
		"weekly.sh: WEEK 2020-W10 is earlier than the last complete run, 2020-W11: ") {
		t.Errorf("said:\n%s", said)
	}
	if said := w.run(0, "2020-W09"); !strings.HasPrefix(said, "2020-W09 is done: ") {
		t.Errorf("said:\n%s", said)
	}
	w.run(0, "2020-W12")
	for week, monday := range map[string]string{"2020-W09": "2020-02-24", "2020-W11": "2020-03-09",
		"2020-W12": "2020-03-16"} {
		m, err := journal.ReadManifest(sinktest.Open(t, tables), week)
		if err != nil {
			t.Fatal(err)
		}
		if date := m.Date.Format(time.DateOnly); date != monday {
			t.Errorf("%s has the date %s, want %s", week, date, monday)
		}
	}
	// A week that has not begun.
	if said := w.run(64, "2099-W01"); !strings.Contains(said, "is in the future") {
		t.Errorf("said:\n%s", said)
	}
	w.expectLeft("tables/_runs/2099*")
}
