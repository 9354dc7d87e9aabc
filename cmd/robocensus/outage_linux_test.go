package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"

	"github.com/robocensus/robocensus/sink/schema"
)

// network consists of two network namespaces with a link between them. In the far
// one all of 10.0.0.0/9 answers over HTTP, the rest of 10.0.0.0/8 drops packets,
// and a name server knows the addresses of h1.test and so on (it fails for f1.test,
// and nobody answers at the address of d1.test). The program runs in the near one.
type network struct {
	t        *testing.T
	far      string
	near     string
	server   http.Server
	names    *net.UDPConn
	noNames  atomic.Bool
	requests atomic.Int64
	asked    [1 << 17]atomic.Int32
	at       map[int64]func() // what to do at a request
	mu       sync.Mutex
}

var networks atomic.Int32

func newNetwork(t *testing.T) *network {
	if os.Geteuid() != 0 {
		t.Skip("needs a network namespace, for which one must be root")
	}
	id := fmt.Sprint(os.Getpid(), "-", networks.Add(1))
	n := &network{t: t, far: "far" + id, near: "near" + id, at: make(map[int64]func())}
	if text, err := exec.Command("ip", "netns", "add", n.far).CombinedOutput(); err != nil {
		t.Skipf("no network namespace can be had: %v\n%s", err, text)
	}
	t.Cleanup(func() { exec.Command("ip", "netns", "del", n.far).Run() })
	n.ip("netns", "add", n.near)
	t.Cleanup(func() { exec.Command("ip", "netns", "del", n.near).Run() })
	n.ip("-n", n.near, "link", "add", "line", "type", "veth", "peer", "name", "line", "netns", n.far)
	for ns, addr := range map[string]string{n.near: "10.255.0.2/24", n.far: "10.255.0.1/24"} {
		n.ip("-n", ns, "link", "set", "lo", "up")
		n.ip("-n", ns, "addr", "add", addr, "dev", "line")
		n.ip("-n", ns, "link", "set", "line", "up")
	}
	n.ip("-n", n.near, "route", "add", "default", "via", "10.255.0.1")
	n.ip("-n", n.far, "route", "add", "local", "10.0.0.0/9", "dev", "lo")
	n.within(n.far, func() {
		l, err := net.Listen("tcp", "0.0.0.0:80")
		if err != nil {
			t.Fatal(err)
		}
		if n.names, err = net.ListenUDP("udp4", &net.UDPAddr{Port: 53}); err != nil {
			t.Fatal(err)
		}
		// A burst of look-ups overflows a buffer of the usual size, and the
		// resolver repeats a question only after five seconds.
		n.enlarge(n.names)
		n.server.Handler = http.HandlerFunc(n.answer)
		n.server.SetKeepAlivesEnabled(false)
		var running sync.WaitGroup
		running.Go(func() { n.server.Serve(l) })
		running.Go(n.resolve)
		t.Cleanup(func() { n.server.Close(); n.names.Close(); running.Wait() })
	})
	n.within(n.near, func() { // learns the address of the far end's device, until which few packets are kept
		conn, err := net.Dial("tcp", "10.255.0.1:80")
		if err != nil {
			t.Error(err)
			return
		}
		conn.Close()
	})
	return n
}

func (n *network) enlarge(conn *net.UDPConn) {
	n.t.Helper()
	raw, err := conn.SyscallConn()
	if err != nil {
		n.t.Fatal(err)
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE,
			8<<20)
	}); err != nil || failed != nil {
		n.t.Fatal(err, failed)
	}
}

func (n *network) ip(args ...string) {
	n.t.Helper()
	if text, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		n.t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, text)
	}
}

// within runs f in a namespace; sockets that f opens stay there.
func (n *network) within(namespace string, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // stays locked, so that the thread ends with the goroutine
		ns, err := os.Open("/run/netns/" + namespace)
		if err == nil {
			defer ns.Close()
			err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET)
		}
		if err != nil {
			n.t.Error(err)
			return
		}
		f()
	}()
	<-done
}

// on calls f at the request of that number.
func (n *network) on(request int, f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at[int64(request)] = f
}

func (n *network) answer(w http.ResponseWriter, r *http.Request) {
	if i, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.Host, "h"), ".test")); err == nil {
		n.asked[i].Add(1)
	}
	n.mu.Lock()
	f := n.at[n.requests.Add(1)]
	n.mu.Unlock()
	if f != nil {
		go f()
	}
	io.WriteString(w, "User-agent: *\nDisallow: /private\n")
}

func (n *network) resolve() {
	packet := make([]byte, 1500)
	for {
		size, from, err := n.names.ReadFromUDPAddrPort(packet)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		var m dnsmessage.Message
		if err != nil || n.noNames.Load() || m.Unpack(packet[:size]) != nil || len(m.Questions) != 1 {
			continue
		}
		q := m.Questions[0]
		m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
		i, err := strconv.Atoi(strings.TrimSuffix(q.Name.String()[1:], ".test."))
		switch kind := q.Name.String()[0]; {
		case err != nil:
			m.RCode = dnsmessage.RCodeNameError
		case kind == 'f':
			m.RCode = dnsmessage.RCodeServerFailure
		case q.Type == dnsmessage.TypeA:
			first := byte(i % 100)
			if kind == 'd' {
				first += 128
			}
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 60},
				Body:   &dnsmessage.AResource{A: [4]byte{10, first, byte(i / 100), byte(i/25600 + 1)}},
			}}
		}
		if reply, err := m.Pack(); err == nil {
			n.names.WriteToUDPAddrPort(reply, from)
		}
	}
}

// cut drops all packets from the far end, silently, and mend lets them pass again.
func (n *network) cut()  { n.ip("-n", n.far, "route", "add", "blackhole", "10.255.0.2/32") }
func (n *network) mend() { n.ip("-n", n.far, "route", "del", "blackhole", "10.255.0.2/32") }

// command returns the program in the near namespace.
func (n *network) command(args ...string) *exec.Cmd {
	c := exec.Command("ip", append([]string{"netns", "exec", n.near, os.Args[0]}, args...)...)
	c.Env = append(os.Environ(), "ROBOCENSUS_AS_COMMAND=1")
	return c
}

// census returns a run over hosts. Its timeout exceeds the five seconds after which
// the resolver repeats a question, because packets get lost here too.
func (n *network) census(dir string, hosts []string, more ...string) *exec.Cmd {
	list := filepath.Join(dir, "hosts.txt")
	if err := os.WriteFile(list, []byte(strings.Join(hosts, "\n")+"\n"), 0o666); err != nil {
		n.t.Fatal(err)
	}
	return n.command(append([]string{"run", "--hosts", list, "--out", filepath.Join(dir, "out"), "--run", "r",
		"--schemes", "http", "--allow-private",
		"--resolver", "10.255.0.1", "--tables", "fetches", "--timeout", "12s", "--retries", "1", "--progress", "log"},
		more...)...)
}

// ends runs a command that must exit with the code, and returns its output.
func (n *network) ends(c *exec.Cmd, code int) string {
	n.t.Helper()
	text, err := c.CombinedOutput()
	if c.ProcessState == nil || c.ProcessState.ExitCode() != code {
		n.t.Fatalf("%v, want exit code %d:\n%s", err, code, text)
	}
	return string(text)
}

func (n *network) rows(dir string) (rows []schema.Fetch) {
	n.t.Helper()
	parts, err := filepath.Glob(filepath.Join(dir, "out/fetches/run=r/*.parquet"))
	if err != nil {
		n.t.Fatal(err)
	}
	for _, part := range parts {
		more, err := parquet.ReadFile[schema.Fetch](part)
		if err != nil {
			n.t.Fatal(err)
		}
		rows = append(rows, more...)
	}
	return rows
}

func named(pattern string, n int) (hosts []string) {
	for i := range n {
		hosts = append(hosts, fmt.Sprintf(pattern, i))
	}
	return hosts
}

// scale returns the number of hosts: fewer with -short, more with ROBOCENSUS_HOSTS.
func scale(n int) int {
	if more, err := strconv.Atoi(os.Getenv("ROBOCENSUS_HOSTS")); err == nil {
		return more
	}
	if testing.Short() {
		return n / 5
	}
	return n
}

// expectAll expects every host to be answered, after at most one request each and
// extra more, by runs that said so.
func (n *network) expectAll(dir string, hosts, extra int, said string) {
	n.t.Helper()
	rows := n.rows(dir)
	failed, again, never := 0, 0, 0
	for i := range rows {
		if row := &rows[i]; row.ErrorClass != nil || row.Attempts != 1 {
			if failed++; failed < 5 {
				n.t.Errorf("%s: %s, %d attempts", row.Host, text(row.Error), row.Attempts)
			}
		}
	}
	for i := range hosts {
		asked := int(n.asked[i].Load())
		if asked == 0 {
			never++
		}
		again += max(asked-1, 0)
	}
	if len(rows) != hosts || failed > 0 || never > 0 || again > extra {
		n.t.Errorf("%d rows of %d hosts, %d with a failure, %d never asked; %d requests too many; said:\n%s", len(rows),
			hosts, failed, never, again, said)
	}
	n.t.Logf("%d rows, %d requests, %d more than hosts", len(rows), n.requests.Load(), again)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// faultLasts is how long a fault takes the network away. The program excuses all
// attempts of a time without proof of more than four seconds. That time begins for it
// when it reads the last answer: on a loaded machine, seconds after the fault began.
const faultLasts = 10 * time.Second

// A fault takes the network away, and gives it back.
type fault struct {
	name           string
	take, giveBack func(n *network)
}

func TestTheNetworkIsTakenAwayAndGivenBack(t *testing.T) {
	t.Parallel()
	takenAndGivenBack(t, fault{"packets are dropped", (*network).cut, (*network).mend})
}

func TestTheNetworkIsTakenAwayAndGivenBack_NoRace(t *testing.T) {
	t.Parallel()
	takenAndGivenBack(t,
		fault{"the link is down", func(n *network) { n.ip("-n", n.far, "link", "set", "line", "down") }, func(n *network) {
			n.ip("-n", n.far, "link", "set", "line", "up")
		}},
		fault{"no default route", func(n *network) { n.ip("-n", n.near, "route", "del", "default") }, func(n *network) {
			n.ip("-n", n.near, "route", "add", "default", "via", "10.255.0.1")
		}},
		fault{"the resolver hangs", func(n *network) { n.noNames.Store(true) }, func(n *network) { n.noNames.Store(false) }})
}

func takenAndGivenBack(t *testing.T, faults ...fault) {
	t.Helper()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t)
			hosts, dir := scale(4000), t.TempDir()
			n.on(hosts/2, func() {
				f.take(n)
				time.Sleep(faultLasts)
				f.giveBack(n)
			})
			said := n.ends(n.census(dir, named("h%d.test", hosts), "--concurrency", "200"), 0)
			// Hosts whose answer got lost are asked again.
			n.expectAll(dir, hosts, 200, said)
		})
	}
}

func TestTheNetworkIsLeftOff_NoRace(t *testing.T) {
	t.Parallel()
	for _, remember := range []bool{false, true} {
		t.Run(fmt.Sprintf("state %v", remember), func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t)
			hosts, dir := scale(4000), t.TempDir()
			n.on(hosts/2, n.cut)
			flags := []string{"--concurrency", "200"}
			if remember {
				flags = append(flags, "--state", filepath.Join(dir, "state"))
			}
			said := n.ends(n.census(dir, named("h%d.test", hosts), append(flags, "--outage-patience", "3s")...), 75)
			if !strings.Contains(said,
				"this machine is cut off from the network: for 3s (--outage-patience) nothing was reachable") {
				t.Errorf("said:\n%s", said)
			}
			n.mend()
			said += n.ends(n.census(dir, named("h%d.test", hosts), append(flags, "--resume")...), 0)
			// Some answers of requests in flight may have been on their way.
			n.expectAll(dir, hosts, 200, said)
		})
	}
}

// Two weeks without a network: neither is done. When there is one again, the second
// week is.
func TestWeeksWithoutANetwork_NoRace(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	dir, bin := t.TempDir(), t.TempDir()
	self, err := filepath.Abs(os.Args[0])
	if err == nil {
		err = os.Symlink(self, filepath.Join(bin, "robocensus"))
	}
	list := filepath.Join(dir, "hosts.txt")
	if err == nil {
		err = os.WriteFile(list, []byte(strings.Join(named("h%d.test", 20), "\n")), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	week := func(name string) *exec.Cmd {
		c := exec.Command("ip", "netns", "exec", n.near, "sh", "../../configs/schedule/weekly.sh",
			filepath.Join(dir, "weekly"), list,
			"--schemes", "http", "--allow-private", "--resolver", "10.255.0.1", "--timeout", "9s", "--outage-patience", "2s",
			"--progress", "none")
		c.Env = append(os.Environ(), "ROBOCENSUS_AS_COMMAND=1", "PATH="+bin+":"+os.Getenv("PATH"), "WEEK="+name)
		return c
	}
	done := func() []string {
		reports, _ := filepath.Glob(filepath.Join(dir, "weekly/reports/*"))
		manifests, _ := filepath.Glob(filepath.Join(dir, "weekly/tables/_runs/*/manifest.json"))
		return append(reports, manifests...)
	}
	n.ip("-n", n.far, "link", "set", "line", "down")
	for _, name := range []string{"2020-W46", "2020-W47"} {
		n.ends(week(name), 69)
		if left := done(); len(left) > 0 {
			t.Fatalf("%s is done: %q", name, left)
		}
	}
	n.ip("-n", n.far, "link", "set", "line", "up")
	n.ends(week("2020-W47"), 0)
	if left := done(); len(left) != 2 {
		t.Errorf("with a network there are %q", left)
	}
	rows, err := parquet.ReadFile[schema.Fetch](
		filepath.Join(dir, "weekly/tables/fetches/run=2020-W47/part-0000000000.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if rows[i].Reason != "success" {
			t.Errorf("%s: %s, %s", rows[i].Host, rows[i].Reason, text(rows[i].Error))
		}
	}
	if len(rows) != 20 {
		t.Errorf("%d rows", len(rows))
	}
}

func TestNoNetwork(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.ip("-n", n.near, "link", "set", "line", "down")
	dir := t.TempDir()
	began := time.Now()
	said := n.ends(n.census(dir, named("h%d.test", 20), "--timeout", "3s", "--outage-patience", "2s"), 69)
	if took := time.Since(began); took > 20*time.Second ||
		!strings.Contains(said, "no host could be reached: for 2s no host answered") ||
		!strings.Contains(said, "--accept-unreachable") {
		t.Errorf("after %v it said:\n%s", took, said)
	}
	said = n.ends(n.command("check", "http://h1.test/", "--agent", "GPTBot", "--resolver", "10.255.0.1", "--timeout",
		"2s"), 69)
	if !strings.Contains(said, "no host could be reached") {
		t.Errorf("check said:\n%s", said)
	}
}

// A list with as many dead hosts as live ones finishes, in any order, without an
// outage.
func TestDeadHostsAmongLiveOnes_NoRace(t *testing.T) {
	t.Parallel()
	hosts := scale(500)
	live, lost, failing := named("h%d.test", hosts), named("d%d.test", hosts/2), named("f%d.test", hosts/2)
	dead := append(append([]string{}, lost...), failing...)
	var mixed []string
	for i := range hosts {
		mixed = append(mixed, live[i], dead[i])
	}
	for name, list := range map[string][]string{
		"dead first": append(append([]string{}, dead...), live...), "dead last": append(append([]string{}, live...),
			dead...), "mixed": mixed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t)
			dir := t.TempDir()
			said := n.ends(n.census(dir, list, "--concurrency", fmt.Sprint(hosts/2), "--retries", "0"), 0)
			var classes = make(map[string]int)
			for _, row := range n.rows(dir) {
				class := ""
				if row.ErrorClass != nil {
					class = *row.ErrorClass
				}
				classes[class]++
			}
			if classes[""] != hosts || classes["connect_timeout"] != len(lost) || classes["dns_failure"] != len(failing) {
				t.Errorf("%v", classes)
			}
			// Before the first answer, a probe draws eight hosts at random: once in
			// 256 times all are dead. The next probe draws 64.
			for _, outages := range regexp.MustCompile(`outages=(\d+)`).FindAllStringSubmatch(said, -1) {
				if name != "dead first" || outages[1] != "1" {
					t.Fatalf("a false alarm:\n%s", said)
				}
			}
		})
	}
}

// A process that was stopped for four seconds repeats the requests that timed out
// meanwhile.
func TestAProcessThatWasStopped(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	hosts, dir := scale(4000), t.TempDir()
	c := n.census(dir, named("h%d.test", hosts), "--concurrency", "200", "--timeout", "9s")
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	n.on(hosts/2, func() {
		c.Process.Signal(syscall.SIGSTOP)
		time.Sleep(4 * time.Second)
		c.Process.Signal(syscall.SIGCONT)
	})
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	n.expectAll(dir, hosts, 200, said.String())
}
