package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// imagesOfPower is the number of losses of power that are tried of each piece of work, at
// most, beside those after its end.
const imagesOfPower = 30

// work is a command during which power is lost. In its arguments, DISK stands for the
// folder of which everything may be lost that is not synced, and INPUT for one that stays.
type work struct {
	name        string
	before      []string
	interrupted bool // the command was interrupted before, with one segment committed
	command     string
	again       []string // the commands that finish the work after the loss, or nil for the command
	runs        []string // those that the work makes
	others      []string // those that were there, and stay
	removed     []string // those that the work removes
	outcomes    []string // files beside the tables that are old, new or absent, but never in part
	folder      string   // like outcomes, made once
	anew        bool     // made again, hosts answer at another time
}

func bodiesRun(run string, more ...string) string {
	return strings.Join(append([]string{"run --bodies INPUT/bodies --tables", fewTables,
		"--out DISK/out --progress none --resume --run", run}, more...), " ")
}

const (
	fewTables = "fetches,groups,rules,agents,summary,examples,bodies"
	runA      = "run --bodies INPUT/earlier --keep-bodies --out DISK/out --progress none --as-of 2024-05 --run a"
	runB      = "run --bodies INPUT/bodies --keep-bodies --out DISK/out --progress none --as-of 2024-06 --run b"
	archives  = "run --warc INPUT/*.warc --tables " + fewTables + " --out DISK/out --progress none --resume --run r"
	asking    = "run --hosts INPUT/hosts.txt --schemes http --connect-to ADDR --tables " + fewTables +
		" --out DISK/out --progress none --resume --run r"
	setOf  = "publish --out DISK/out a b --creator A --licence CC0-1.0 --to DISK/set"
	follow = "series --out DISK/out --csv DISK/series.csv --parquet DISK/series.parquet --html DISK/series.html"
)

func works() []work {
	shard := func(i int) string { return bodiesRun("r", "--shards 3 --shard", fmt.Sprint(i)) }
	shards := []string{shard(0), shard(1), shard(2)}
	series := []string{"DISK/series.csv", "DISK/series.parquet", "DISK/series.html"}
	return []work{
		{name: "run", command: bodiesRun("r"), runs: []string{"r"}},
		{name: "run in a new folder of folders", command: strings.ReplaceAll(bodiesRun("r"), "DISK/out", "DISK/out/of/many"),
			runs: []string{"r"}},
		{name: "run beside others", before: []string{runA, runB}, command: bodiesRun("r"), runs: []string{"r"},
			others: []string{"a", "b"}},
		{name: "run over archives", command: archives, runs: []string{"r"}},
		{name: "resume", interrupted: true, command: archives, runs: []string{"r"}},
		{name: "run over hosts", command: asking + " --warc-out DISK/evidence.warc.gz", runs: []string{"r"}, anew: true},
		{name: "run begun anew", before: []string{bodiesRun("r")}, command: strings.Replace(bodiesRun("r"), "--resume",
			"--force-new", 1), again: []string{bodiesRun("r")}, runs: []string{"r"}},
		{name: "plan", command: "plan --bodies INPUT/bodies --tables " + fewTables + " --shards 3 --out DISK/out --run r",
			again: shards, runs: []string{"r"}},
		{name: "first shard", command: shard(0), again: shards, runs: []string{"r"}},
		{name: "second shard", before: shards[:1], command: shard(1), again: shards, runs: []string{"r"}},
		{name: "last shard", before: shards[:2], command: shard(2), again: shards, runs: []string{"r"}},
		{name: "diff", before: []string{runA, runB}, command: "diff --out DISK/out a b", others: []string{"a", "b"}},
		{name: "diff once more", before: []string{runA, runB, "diff --out DISK/out a b"},
			command: "diff --again --out DISK/out a b", others: []string{"a", "b"}},
		{name: "publish", before: []string{runA, runB, "diff --out DISK/out a b"}, command: setOf,
			others: []string{"a", "b"}, folder: "DISK/set"},
		{name: "series", before: []string{runA, follow, runB}, command: follow, others: []string{"a", "b"}, outcomes: series},
		{name: "first series", before: []string{runA, runB}, command: follow, others: []string{"a", "b"}, outcomes: series},
		{name: "report", before: []string{runA, runB, "report --out DISK/out a --html DISK/page.html"},
			command: "report --out DISK/out b --html DISK/page.html", others: []string{"a", "b"}, outcomes: []string{
				"DISK/page.html"}},
		{name: "prune", before: []string{runA, runB, "diff --out DISK/out a b", bodiesRun("c")},
			command: "prune --out DISK/out --keep 1", others: []string{"c"}, removed: []string{"a", "b"}},
	}
}

// Power is lost while the program works, and the file system has forgotten what was not
// synced: names, contents or both, in part. Whatever was committed is there; verify finds
// the run whole or says what to do; that done, everything is as if nothing had happened.
// What a command has done when it ends with 0 outlasts the loss.
func TestLostPower_NoRace(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("no strace, which records what the program writes (apt install strace)")
	}
	if text, err := exec.Command("strace", "--seccomp-bpf", "-f", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace a process here: %s", text)
	}
	all := works()
	if testing.Short() {
		all = all[3:4]
	}
	for _, w := range all {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			(&outage{T: t, work: w, input: powerInput(t), dir: t.TempDir()}).try()
		})
	}
}

// powerInput makes stored files, an earlier state of them, three archives and a list of hosts.
func powerInput(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(name), 0o777))
		must(t, os.WriteFile(name, []byte(text), 0o666))
	}
	var hosts strings.Builder
	for i := range 9 {
		text := fmt.Sprintf("User-agent: *\nDisallow: /a%d\nSitemap: https://h%d.example/s.xml\n", i, i)
		write(fmt.Sprintf("bodies/h%d.example", i), text)
		write(fmt.Sprintf("earlier/h%d.example", i), text+"Disallow: /b\n")
		fmt.Fprintf(&hosts, "h%d.test\n", i)
		answer := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + text
		record := fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://h%d.example/robots.txt\r\n"+
			"WARC-Date: 2024-05-14T08:00:00Z\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-%012d>\r\n"+
			"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, i, len(answer),
			answer)
		if i < 3 {
			write(fmt.Sprintf("%d.warc", i), record)
		}
	}
	write("hosts.txt", hosts.String())
	return dir
}

// outage tries losses of power during a piece of work.
type outage struct {
	*testing.T
	work
	input, dir, addr string

	log   []byte
	start *disk             // before the work
	old   map[string]string // its files
	ended int               // the last line of the log that changes the disk
	done  map[string]string // the files when the work has ended
	want  map[string]string // the files once again is done
}

// call runs a command, which ends with 0.
func (o *outage) call(command string) {
	o.Helper()
	if code, said := called(o.args(command)...); code != 0 {
		o.Fatalf("robocensus %s: exit code %d\n%s", command, code, said)
	}
}

func (o *outage) args(command string) []string {
	args := strings.Fields(strings.ReplaceAll(command, "ADDR", o.addr))
	for i := range args {
		args[i] = o.path(args[i])
	}
	return args
}

func (o *outage) path(name string) string {
	return strings.NewReplacer("DISK", filepath.Join(o.dir, "disk"), "INPUT", o.input).Replace(name)
}

func (o *outage) out() string {
	_, rest, _ := strings.Cut(o.command, "--out ")
	dir, _, _ := strings.Cut(rest, " ")
	return o.path(dir)
}

func (o *outage) try() {
	if strings.Contains(o.command, "ADDR") {
		_, o.addr = stopWeb(o.T)
	}
	if o.again == nil && o.folder == "" {
		o.again = []string{o.command}
	}
	root := o.path("DISK")
	must(o, os.Mkdir(root, 0o777))
	for _, command := range o.before {
		o.call(command)
	}
	o.start, o.old = readDisk(o.T, root), filesOf(o.T, root)
	o.log = trace(o.T, o.args(o.command)...)
	if o.interrupted {
		o.interrupt(root)
	}
	o.done = filesOf(o.T, root)
	for _, command := range o.again {
		o.call(command)
	}
	o.want = filesOf(o.T, root)
	tried := o.choose(root)
	images := 0
	o.play(root, func(d *replay, line int) bool {
		for _, kind := range losses {
			if tried[moment{line, kind}] {
				images++
				o.lose(d, line, kind)
			}
		}
		return !o.Failed()
	})
	o.Logf("%d losses of power", images)
}

// interrupt makes the state before the work that of a run with a committed segment.
func (o *outage) interrupt(root string) {
	o.play(root, func(d *replay, line int) bool {
		m := d.image(d.lose("everything", 0))
		if !slices.ContainsFunc(slices.Collect(maps.Keys(m.files)), isRecord) {
			return true
		}
		d.image(d.lose("by lot", 0)).write(o.T, root)
		return false
	})
	o.start, o.old = readDisk(o.T, root), filesOf(o.T, root)
	o.log = trace(o.T, o.args(o.command)...)
}

func isRecord(path string) bool {
	return strings.Contains(path, "/segments/") && strings.HasSuffix(path, ".json")
}

// play does what the log says, and calls do after each change of the disk.
func (o *outage) play(root string, do func(d *replay, line int) bool) {
	o.Helper()
	r := &replay{disk: o.start.copy(), dir: root, fds: make(map[string]*opened), ends: make(map[string]func())}
	must(o, r.lines(o.log, func(line int) bool { return do(r, line) }))
}

type moment struct {
	line int
	kind string
}

// choose draws moments that leave different images. All at the end are among them.
func (o *outage) choose(root string) map[moment]bool {
	var all, last []moment
	seen := make(map[uint64]bool)
	var end *disk
	o.play(root, func(d *replay, line int) bool {
		o.ended, end, last = line, d.disk, nil
		for _, kind := range losses {
			last = append(last, moment{line, kind})
			if sum := d.image(d.loseAt(kind, line)).sum(); !seen[sum] {
				seen[sum] = true
				all = append(all, moment{line, kind})
			}
		}
		return true
	})
	if end == nil {
		o.Fatal("the log has no change of the disk")
	}
	// What the log does not show, or we do not understand, differs here.
	if diff := cmp.Diff(o.done, end.image(end.lose("nothing", 0)).texts()); diff != "" {
		o.Fatalf("the log leads to other files (-disk +log):\n%.2000s", diff)
	}
	most := imagesOfPower
	if testing.Short() {
		most = 8
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	tried := make(map[moment]bool)
	for _, m := range append(last, all[:min(most, len(all))]...) {
		tried[m] = true
	}
	return tried
}

// lose loses power, and does what a user does then.
func (o *outage) lose(d *replay, line int, kind string) {
	o.Helper()
	root := o.path("DISK")
	d.image(d.loseAt(kind, line)).write(o.T, root)
	durable := d.image(d.lose("everything", 0)).texts()
	at := fmt.Sprintf("after line %d of %d (%s), %s lost", line, o.ended, d.kind, kind)
	if o.Failed() {
		return
	}
	o.check(at, line == o.ended, durable)
	if o.Failed() {
		o.Logf("%s: %s", o.name, at)
	}
}

// check finds the runs whole, or does what verify says, and compares what is there then.
func (o *outage) check(at string, ended bool, durable map[string]string) {
	root, out := o.path("DISK"), o.out()
	found := filesOf(o.T, root)
	for _, outcome := range o.outcomes {
		name, _ := filepath.Rel(root, o.path(outcome))
		if text, ok := found[name]; ended && text != o.want[name] || ok && text != o.old[name] && text != o.want[name] {
			o.Errorf("%s: %s has neither the old contents nor the new: %.100q", at, name, text)
		}
	}
	for _, run := range o.others {
		if code, said := called("verify", "--out", out, run); code != 0 && (ended || code != int(exitProblems) ||
			!saysHow(said)) {
			o.Errorf("%s: run %s: verify: exit code %d\n%s", at, run, code, said)
		}
	}
	for _, run := range o.removed {
		code, said := called("verify", "--out", out, run)
		if code != 0 && (ended || !strings.Contains(said, "prune")) && !strings.Contains(said, "no run") {
			o.Errorf("%s: run %s, which is removed: verify: exit code %d\n%s", at, run, code, said)
		}
	}
	committed := 0
	for name, text := range durable {
		if isRecord(name) && strings.Contains(name, "/r/") && (o.old[name] != text || !strings.Contains(o.command,
			"--force-new")) {
			committed++
		}
	}
	for _, run := range o.runs {
		o.heal(at, run, committed > 0, ended)
	}
	if o.folder != "" {
		o.publishAgain(at, ended, found)
	} else if !o.Failed() {
		for _, command := range o.again { // not said to be done, so it is started again
			if code, said := called(o.args(command)...); code != 0 {
				o.Errorf("%s: robocensus %s: exit code %d\n%s", at, command, code, said)
			}
		}
	}
	if o.Failed() {
		return
	}
	for _, run := range append(slices.Clone(o.runs), o.others...) {
		if code, said := called("verify", "--out", out, run); code != 0 || strings.Contains(said, "note:") {
			o.Errorf("%s: in the end, run %s: verify: exit code %d\n%s", at, run, code, said)
		}
	}
	if diff := cmp.Diff(o.comparable(o.want), o.comparable(filesOf(o.T, root))); diff != "" {
		o.Errorf("%s: in the end (-undisturbed +after the loss):\n%.2000s", at, diff)
	}
	for name, text := range durable {
		if isRecord(name) && o.want[name] == text && o.want[name] != filesOf(o.T, root)[name] {
			o.Errorf("%s: %s was committed, and is another", at, name)
		}
	}
}
