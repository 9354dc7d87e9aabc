package main

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// heal calls verify and does what it says until it finds the run whole.
func (o *outage) heal(at, run string, committed, ended bool) {
	for range 3 {
		code, said := called("verify", "--out", o.out(), run)
		switch {
		case code == 0:
			return
		case ended && o.again != nil && o.again[0] == o.command && len(o.again) == 1:
			o.Errorf("%s: the command has ended with 0, and verify: exit code %d\n%s", at, code, said)
			return
		case code == 1 && strings.Contains(said, "it can be resumed"):
		case code == int(exitProblems) && saysHow(said):
		case code == 64 && strings.Contains(said, "no run") && !committed:
		default:
			o.Errorf("%s: a segment is committed: %t; verify: exit code %d\n%s", at, committed, code, said)
			return
		}
		again := o.again
		if strings.Contains(said, "remove it again by --force-new") {
			again = []string{o.command}
		}
		for _, command := range again {
			if code, said := called(o.args(command)...); code != 0 {
				o.Errorf("%s: robocensus %s: exit code %d\n%s", at, command, code, said)
				return
			}
		}
	}
	o.Errorf("%s: what verify says does not help", at)
}

// remedies are what verify may advise about a problem after a loss of power: the commands of
// the work do it.
var remedies = []string{
	"starting any shard again removes it", "the command that made the run, with --resume, removes it",
	"the command that made the run removes it", "compare again", "remove it again by --force-new",
}

// saysHow reports whether verify says of each problem what removes it.
func saysHow(said string) bool {
	for line := range strings.Lines(said) {
		isProblem := strings.Contains(line, ": ") && !strings.HasPrefix(line, "run ") &&
			!strings.HasPrefix(line, "note: ") && !strings.HasPrefix(line, "not read: ")
		if isProblem && !slices.ContainsFunc(remedies, func(way string) bool { return strings.Contains(line, way) }) {
			return false
		}
	}
	return true
}

// publishAgain finds the data set whole, or publishes it.
func (o *outage) publishAgain(at string, ended bool, found map[string]string) {
	name := filepath.Base(o.folder)
	if _, err := os.Stat(o.path(o.folder)); err == nil {
		part := func(files map[string]string) map[string]string {
			files = maps.Clone(files)
			maps.DeleteFunc(files, func(path, _ string) bool { return !strings.HasPrefix(path, name+"/") })
			return files
		}
		if diff := cmp.Diff(part(o.want), part(found)); diff != "" {
			o.Errorf("%s: the data set is not whole (-want +got):\n%.2000s", at, diff)
		}
		// The next publication removes what is left beside, and refuses the folder.
		if code, said := called(o.args(o.command)...); code != 64 || !strings.Contains(said, "give a new one") {
			o.Errorf("%s: publish once more: exit code %d\n%s", at, code, said)
		}
		return
	}
	if ended {
		o.Errorf("%s: the command has ended with 0, and there is no data set", at)
	}
	o.call(o.command)
}

// differs finds what differs whenever a run is made: in views the time of its end, and in
// names of files the attempt at a shard.
var differs = regexp.MustCompile(`TIMESTAMPTZ '[^']*'|-[a-z2-7]{8}\.`)

// comparable leaves out what differs whenever a run is made: the times in its files and,
// if hosts are asked again, their answers' times.
func (o *outage) comparable(files map[string]string) map[string]string {
	out := make(map[string]string)
	for name, text := range files {
		if base := path.Base(name); base == "lock" || strings.HasSuffix(base, ".json.tmp") ||
			strings.HasSuffix(base, ".sql.tmp") {
			continue // of a process that died: nobody holds the lock, and the others are small
		}
		switch {
		case o.anew, strings.Contains(name, "_runs/") && strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, "set/"):
			text = ""
		case strings.HasSuffix(name, ".sql"):
			text = differs.ReplaceAllString(text, "")
		}
		out[differs.ReplaceAllString(name, ".")] = text
	}
	return out
}
