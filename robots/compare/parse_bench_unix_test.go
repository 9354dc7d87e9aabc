//go:build unix

package compare

import (
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/robocensus/robocensus/robots"
)

// Folders of checkouts: of github.com/google/robotstxt, which takes the package absl_strings
// of pkg-config (libabsl-dev in Debian), and of github.com/nzrsky/robotstxt, its successor in
// C++20 that calls itself the fastest.
var (
	googleDir = flag.String("google", "", "checkout of google/robotstxt, to time its parser")
	nzrskyDir = flag.String("nzrsky", "", "checkout of nzrsky/robotstxt, to time its parser")
)

// turns is how often each parser has a turn of a second.
const turns = 5

// BenchmarkParsers parses the real bodies once with everything kept, in ours and in the
// parsers of C++ that are at hand, in turns. It reports the fastest pass of each by CPU, in
// MB/s, and ours as a multiple of each other.
//
//	go test -run '^$' -bench Parsers . -google DIR -nzrsky DIR
func BenchmarkParsers(b *testing.B) {
	var bodies [][]byte
	var size int64
	files := corpus(b)
	for _, host := range slices.Sorted(maps.Keys(files)) {
		bodies = append(bodies, files[host])
		size += int64(len(files[host]))
	}
	parsers := []struct {
		name string
		pass func() int64 // the fastest of about a second, in nanoseconds
	}{
		{"google", func() int64 { return timed(bodies, "google") }},
		{"rfc9309", func() int64 { return timed(bodies, "rfc9309") }},
	}
	file := filepath.Join(b.TempDir(), "bodies")
	var all []byte
	for _, body := range bodies {
		all = append(binary.LittleEndian.AppendUint32(all, uint32(len(body))), body...)
	}
	if err := os.WriteFile(file, all, 0o600); err != nil {
		b.Fatal(err)
	}
	for _, other := range []struct {
		name, dir string
		flags     []string
	}{
		{"google-c++", *googleDir, []string{"-std=c++17", "$(pkg-config --libs absl_strings)"}},
		{"nzrsky-c++", *nzrskyDir, []string{"-std=c++20", "-DNZRSKY"}},
	} {
		if other.dir == "" {
			b.Logf("%s is not timed: its flag names no checkout", other.name)
			continue
		}
		program := compiled(b, other.dir, other.flags)
		parsers = append(parsers, struct {
			name string
			pass func() int64
		}{other.name, func() int64 { return theirs(b, program, file, size) }})
	}
	best := make([]int64, len(parsers))
	for b.Loop() {
		for turn := range turns {
			for i, p := range parsers {
				if took := p.pass(); turn == 0 || took < best[i] {
					best[i] = took
				}
			}
		}
	}
	for i, p := range parsers {
		b.ReportMetric(float64(size)*1e3/float64(best[i]), p.name+"-MB/s")
		if i > 1 {
			b.ReportMetric(float64(best[i])/float64(best[0]), "google-by-"+p.name)
		}
	}
	b.ReportMetric(float64(best[1])/float64(best[0]), "rfc9309-time-by-google")
	b.ReportMetric(0, "ns/op")
}

// compiled compiles the driver with a parser.
func compiled(b *testing.B, dir string, flags []string) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), "parse")
	line := fmt.Sprintf(`g++ -O3 -I"$1" -o "$2" testdata/parse.cc "$1/robots.cc" %s`, strings.Join(flags, " "))
	if out, err := exec.Command("sh", "-c", line, "sh", dir, program).CombinedOutput(); err != nil {
		b.Fatalf("compile %s: %v\n%s", dir, err, out)
	}
	return program
}

// theirs runs a compiled parser for a second.
func theirs(b *testing.B, program, file string, size int64) (best int64) {
	b.Helper()
	out, err := exec.Command(program, file, "1").Output()
	if err != nil {
		b.Fatal(err)
	}
	var bytes, records int64
	if _, err := fmt.Sscan(string(out), &bytes, &records, &best); err != nil || bytes != size || records == 0 {
		b.Fatalf("%q, want %d bytes and some records", out, size)
	}
	return best
}

// timed parses the bodies for a second.
func timed(bodies [][]byte, profile string) (best int64) {
	p, ok := robots.ProfileNamed(profile)
	if !ok {
		panic("no profile " + profile)
	}
	f := robots.File{KeepComments: true}
	best = math.MaxInt64
	runtime.GC() // of the turn before
	for end := spent() + 1e9; spent() < end; {
		start := spent()
		for _, body := range bodies {
			f.Parse(body, p)
		}
		best = min(best, spent()-start)
	}
	return best
}

// spent returns the CPU time of this process in nanoseconds.
func spent() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
