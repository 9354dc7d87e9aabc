package hosts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/pipeline/target"
)

// grouperInto returns a grouper that appends its targets and counts why it rejects rows.
func grouperInto(targets *[]target.Target, reasons map[string]int) *grouper {
	return &grouper{
		schemes: []string{"http"},
		reject:  func(_ int64, _, reason string) error { reasons[reason]++; return nil },
		emit:    func(t target.Target) error { *targets = append(*targets, t); return nil },
	}
}

// An origin's URLs beyond the bound go to rejected.csv with the reason; the next
// origin has its own bound.
func TestOwnURLsAreBoundedInBytes(t *testing.T) {
	const long = 60 << 10
	const fit = target.MaxPathBytes / (long + 32)
	var targets []target.Target
	reasons := map[string]int{}
	s := grouperInto(&targets, reasons)
	for _, host := range []string{"a.example", "b.example"} {
		for i := range fit + 10 {
			if host == "b.example" && i == 5 {
				break
			}
			prefix := fmt.Sprintf("/%d/", i)
			must(t, s.take(row{line: 1, host: host, url: prefix + strings.Repeat("x", long-len(prefix))}))
		}
	}
	must(t, s.flush())
	if len(targets) != 2 || len(targets[0].Paths) != fit || len(targets[1].Paths) != 5 ||
		reasons["too_many_urls: more than 32 MiB of one origin"] != 10 {
		t.Errorf("%d targets, %d and %d URLs, rejected: %v", len(targets), len(targets[0].Paths), len(targets[1].Paths),
			reasons)
	}
}

func TestOwnURLsAreBoundedInNumber(t *testing.T) {
	var targets []target.Target
	reasons := map[string]int{}
	s := grouperInto(&targets, reasons)
	for i := range maxOwnURLs + 2 {
		must(t, s.take(row{line: 1, host: "a.example", url: fmt.Sprintf("/%d", i)}))
	}
	must(t, s.flush())
	if len(targets) != 1 || len(targets[0].Paths) != maxOwnURLs ||
		reasons["too_many_urls: more than 100000 of one origin"] != 2 {
		t.Errorf("%d targets, rejected: %v", len(targets), reasons)
	}
}

// The input of a target is the field that names it, not the whole line.
func TestInputsOfTargets(t *testing.T) {
	var targets []target.Target
	g := grouperInto(&targets, make(map[string]int))
	const list = "rank,host,url\n1,A.example,/x\n2,,https://b.example/y\n"
	must(t, readLines("list", strings.NewReader(list), form{}, g.take))
	must(t, g.flush())
	if len(targets) != 2 || targets[0].Input != "A.example" || targets[1].Input != "https://b.example/y" {
		t.Errorf("%+v", targets)
	}
}
