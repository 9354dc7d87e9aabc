package main

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/robocensus/robocensus/cmd/internal/farm"
	"github.com/robocensus/robocensus/sink/rowio"
)

func TestMain(m *testing.M) {
	os.Setenv("GORACE", raceSettings)
	rowio.Overwrite = true // so that no command keeps a row of a table beyond its batch
	// A shell makes its background jobs ignore SIGINT, and their children inherit
	// that unless they handle it.
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	if os.Getenv("ROBOCENSUS_AS_COMMAND") != "" { // see command
		os.Unsetenv(memoryLimit) // of the tests
		debug.SetMemoryLimit(math.MaxInt64)
		main()
	}
	testscript.Main(roomy{m}, map[string]func(){"robocensus": main})
}

// roomy sets a limit of memory for the process of the tests, so that no command in it sets its
// own. Many tests run at a time, and within the limit of one command they would spend half of
// their CPU on collecting garbage.
type roomy struct{ *testing.M }

func (m roomy) Run() int {
	os.Setenv(memoryLimit, "1536MiB")
	debug.SetMemoryLimit(1536 << 20)
	return m.M.Run()
}

const memoryLimit = "GOMEMLIMIT"

// Under the race detector each command would sleep for a second before it ends.
const raceSettings = "atexit_sleep_ms=0"

// command returns the program as a separate process, which a test may kill.
func command(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), "ROBOCENSUS_AS_COMMAND=1")
	return c
}

// concurrent names the scripts that run under the race detector: of each path
// through goroutines, one.
var concurrent = []string{"archives", "diff", "interrupt", "memory", "resume", "run"}

// Scripts run the command as a user does: see testdata/script.
func TestScripts(t *testing.T) {
	t.Parallel()
	scripts(t, func(name string) bool { return slices.Contains(concurrent, name) })
}

func TestScripts_NoRace(t *testing.T) {
	t.Parallel()
	scripts(t, func(name string) bool { return !slices.Contains(concurrent, name) })
}

func scripts(t *testing.T, wanted func(name string) bool) {
	t.Helper()
	files, err := filepath.Glob("testdata/script/*.txtar")
	must(t, err)
	files = slices.DeleteFunc(files, func(file string) bool {
		return !wanted(strings.TrimSuffix(filepath.Base(file), ".txtar"))
	})
	testscript.Run(t, testscript.Params{
		Files: files,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", raceSettings)
			e.Setenv("GOGC", os.Getenv("GOGC")) // as for the commands that other tests start
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"farm":  startFarm,
			"asked": awaitRequests,
			"exits": exits,
			"warc":  writeWARC,
			"spoil": spoil,
		},
	})
}

// farm HOSTS [FAULTS] serves the folder HOSTS at $ADDR until the script ends.
func startFarm(ts *testscript.TestScript, neg bool, args []string) {
	hosts, err := farm.LoadFS(os.DirFS(ts.MkAbs(args[0])))
	ts.Check(err)
	config := farm.Config{Hosts: hosts}
	if len(args) > 1 {
		f, err := os.Open(ts.MkAbs(args[1]))
		ts.Check(err)
		defer f.Close()
		config.Faults, err = farm.ParseFaults(f, args[1])
		ts.Check(err)
	}
	server, err := farm.New(config)
	ts.Check(err)
	ts.Defer(func() { server.Close() })
	addr, err := server.ListenHTTP("127.0.0.1:0")
	ts.Check(err)
	ts.Setenv("ADDR", addr)
	servers.Store(ts, server)
}

// warc HOSTS FILE REPEAT OTHER writes REPEAT captures of each file in the folder
// HOSTS, of which OTHER per cent are not answers of 200.
func writeWARC(ts *testscript.TestScript, neg bool, args []string) {
	hosts, err := farm.LoadFS(os.DirFS(ts.MkAbs(args[0])))
	ts.Check(err)
	repeat, err := strconv.Atoi(args[2])
	ts.Check(err)
	other, err := strconv.Atoi(args[3])
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	archive := farm.Archive{Hosts: hosts, Repeat: repeat, Other: other}
	_, err = archive.Write(context.Background(), f, args[1])
	ts.Check(err)
	ts.Check(f.Close())
}

// spoil FILE changes the bytes in the middle of a file.
func spoil(ts *testscript.TestScript, neg bool, args []string) {
	text := []byte(ts.ReadFile(args[0]))
	for i := range text[len(text)/2:][:40] {
		text[len(text)/2+i] ^= 0x5a
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o666))
}

var servers sync.Map // the *farm.Server of each *testscript.TestScript

// asked N waits until the farm has got N requests.
func awaitRequests(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	server, _ := servers.Load(ts)
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if server.(*farm.Server).Report(0).Requests >= n {
			return
		}
	}
	ts.Fatalf("the farm was not asked %d times", n)
}

// exits CODE COMMAND … runs a command that must exit with CODE.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}
