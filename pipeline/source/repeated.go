package source

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// given is an archive as the user names it.
type given struct {
	path string
	line int64  // in the list of archives, 0 for one of --warc
	name string // under which it is shown and stored, once it is known to be no other
}

// once returns the archives that are not an earlier one by another path, link or
// spelling: the rows of an archive that is read twice would count twice. It keeps the
// others for rejected.csv.
func (s *Source) once(all []given) (kept []given, err error) {
	names := make(map[string]string)                // by their real name
	named := make(map[string]int)                   // how many have a name
	files := make(map[int64]map[string]os.FileInfo) // by their size, for hard links
	for _, a := range all {
		if s.config.Planning && remote.Name(a.path) != a.path {
			return nil, &userfile.Error{Path: cmp.Or(remote.Name(s.config.Paths), "--warc"), Line: a.line,
				Err: errors.New("names a URL with a query, which may be a signature, and so a plan does not hold it; run " +
					"without a plan")}
		}
		at, name := s.config.locate(a.path), remote.Name(a.path)
		first, twice := names[realName(at)]
		if !twice && a.path != "-" && !remote.IsURL(at) {
			if info, err := os.Stat(at); err == nil { // otherwise identifying it reports that
				if files[info.Size()] == nil {
					files[info.Size()] = make(map[string]os.FileInfo)
				}
				for other, of := range files[info.Size()] {
					if os.SameFile(info, of) {
						first, twice = other, true
					}
				}
				if !twice {
					files[info.Size()][name] = info
				}
			}
		}
		if twice {
			s.repeated = append(s.repeated, journal.Repeated{Line: a.line, Path: name, First: first})
			continue
		}
		if named[name]++; name != a.path && named[name] > 1 { // another query
			name = fmt.Sprintf("%s#%d", name, named[name])
		}
		names[realName(at)], a.name = name, name
		kept = append(kept, a)
	}
	return kept, nil
}

// rejectRepeated lists the archives that the input names again.
func (s *Source) rejectRepeated() error {
	if !s.config.Shard.IsFirst() {
		return nil
	}
	for _, r := range s.repeated {
		input := "warc"
		if r.Line > 0 {
			input = "warc-paths"
		}
		if err := s.rejects.Line(r.Line, r.Path, "duplicate: the same archive as "+r.First, input); err != nil {
			return err
		}
	}
	return nil
}

// realName returns the absolute path of a file without links, or the one spelling of a
// URL.
func realName(path string) string {
	if remote.IsURL(path) {
		return remote.Canonical(path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if name, err := filepath.EvalSymlinks(path); err == nil {
		return name
	}
	return path // a pipe behind /dev/fd, or a file that opening will report
}
