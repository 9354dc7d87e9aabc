//go:build linux || darwin

package memory

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// child runs one of the tests below in a child process, which finds the folder
// and a number in its environment.
func child(t *testing.T, test, dir string, n int) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.v")
	c.Env = append(os.Environ(), "MEMORY_DIR="+dir, fmt.Sprint("MEMORY_N=", n))
	c.Stderr = os.Stderr
	return c
}

func childOf(t *testing.T) (dir string, n int) {
	t.Helper()
	dir = os.Getenv("MEMORY_DIR")
	if dir == "" {
		t.Skip("runs only as a child process")
	}
	n, err := strconv.Atoi(os.Getenv("MEMORY_N"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, n
}

// bodyOf returns the body of host i in a round. Bodies have many sizes, and
// some are shared.
func bodyOf(i, round int) []byte {
	if i%5 == 0 {
		return []byte("shared")
	}
	return bytes.Repeat(fmt.Appendf(nil, "host %d round %d\n", i, round), i%100*10)
}

// TestKeepForEver keeps answers until it is killed, and prints each one after
// keep has returned.
func TestKeepForEver(t *testing.T) {
	dir, round := childOf(t)
	m := openMemory(t, dir)
	var out sync.Mutex
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := g; ; i += 8 {
				o := host(i % 1000) // so that answers are replaced, too
				c := whole(o, day.Add(time.Duration(i)), "")
				c.Body = bodyOf(i, round)
				if err := m.keep(fmt.Sprint("round ", round), c); err != nil {
					t.Error(err)
					return
				}
				out.Lock()
				fmt.Printf("kept %d\n", i)
				out.Unlock()
			}
		})
	}
	all.Wait()
}

func TestKeptAnswersSurviveAKill(t *testing.T) {
	dir := t.TempDir()
	for round := range 6 {
		c := child(t, "TestKeepForEver", dir, round)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		until := rand.IntN(3000)
		kept := map[int]int{} // by origin
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); {
			number, ok := strings.CutPrefix(lines.Text(), "kept ")
			if !ok {
				continue
			}
			i, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			kept[i%1000] = max(kept[i%1000], i)
			if n++; n == until+1 {
				if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "in use by another run") {
					t.Errorf("opened while in use by another process: %v", err)
				}
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.Wait(); err == nil || len(kept) == 0 {
			t.Fatalf("the child ended before it was killed, with %d kept: %v", len(kept), err)
		}
		m := openMemory(t, dir)
		for n, i := range kept {
			p := recall(t, m, host(n))
			if p.Last == nil || p.LastBody == nil || p.Run != fmt.Sprint("round ", round) {
				t.Errorf("round %d: host %d was kept and is %+v", round, n, p)
				continue
			}
			// A call in flight may have replaced it.
			for later := int(p.Last.Start.Sub(day)); i < later; {
				i += 1000
			}
			body, err := m.body(*p.LastBody)
			if err != nil || !bytes.Equal(body, bodyOf(i, round)) || !p.Last.Start.Equal(day.Add(time.Duration(i))) {
				t.Errorf("round %d: host %d: kept %d, body %.40q, %v, of %v", round, n, i, body, err, p.Last.Start)
			}
		}
		// Let the next round begin with a sweep.
		m.superseded.Store(minSuperseded + m.bodies.Load())
		if err := m.storeCounts(); err != nil {
			t.Fatal(err)
		}
		closeMemory(t, m)
	}
}

func TestOnlyOneProcessOpensIt(t *testing.T) {
	dir := t.TempDir()
	m := openMemory(t, dir)
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), dir+" is in use by another run") {
		t.Errorf("opened twice: %v", err)
	}
	closeMemory(t, m)
	closeMemory(t, openMemory(t, dir))

	file := dir + "/answers/file"
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err == nil || !strings.Contains(err.Error(), "open the state folder "+file) ||
		strings.Contains(err.Error(), "in use") {
		t.Errorf("opened a file: %v", err)
	}
}

// TestFillTheDisk keeps answers until that fails, under a system limit on the
// size of a file.
func TestFillTheDisk(t *testing.T) {
	dir, size := childOf(t)
	m := openMemory(t, dir)
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(size), Max: uint64(size)}); err != nil {
		t.Fatal(err)
	}
	noise := rand.NewChaCha8([32]byte{})
	var all sync.WaitGroup
	var mu sync.Mutex
	for g := range 50 {
		all.Go(func() {
			for i := g; ; i += 50 {
				c := whole(host(i), day, "")
				c.Body = make([]byte, 20_000)
				mu.Lock()
				noise.Read(c.Body)
				mu.Unlock()
				if err := m.keep("r", c); err != nil {
					if !strings.Contains(err.Error(), dir) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	all.Wait() // every keep returns
	_, readErr := m.recall(host(0))
	fmt.Println("error", m.err)
	fmt.Println("error", readErr)
	fmt.Println("error", m.Close())
	os.Exit(0) // pebble's goroutines are left behind
}

func TestAFullDiskIsAnError(t *testing.T) {
	for _, size := range []int{100_000, 600_000, 5_000_000} {
		dir := t.TempDir()
		out, err := child(t, "TestFillTheDisk", dir, size).Output()
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		for line := range strings.Lines(string(out)) {
			if text, ok := strings.CutPrefix(line, "error "); ok && strings.Contains(text, dir) &&
				strings.Contains(text, "file too large") {
				told++
			}
		}
		if told != 3 {
			t.Errorf("limit %d: %s", size, out)
		}
		// Earlier writes are readable, and there may be room again.
		m := openMemory(t, dir)
		keepIn(t, m, whole(host(0), day, "a"))
		closeMemory(t, m)
	}
}
