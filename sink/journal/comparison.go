package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/store"
)

// Comparison is the record of a comparison of a run with an earlier one or, if
// Against is empty, of a check of the run's expectations. It is in the later run's
// folder and is written after the files that it names. While another comparison
// replaces these files, there is no record.
type Comparison struct {
	Run      string `json:"run"`
	Manifest string `json:"manifest_sha256"` // digest in the run's manifest
	Against  string `json:"against,omitempty"`
	// AgainstManifest is the digest in the manifest of Against, "" of an older program.
	AgainstManifest string   `json:"against_manifest_sha256,omitempty"`
	Notes           []string `json:"notes,omitempty"` // what was not compared
	Hosts           int64    `json:"hosts,omitempty"` // origins in both runs
	// of these, without a state before or after to compare
	Unread int64 `json:"hosts_unread,omitempty"`
	// runs before Against that some states before are from, latest first
	Earlier      []EarlierRun  `json:"earlier,omitempty"`
	Part         *Part         `json:"part,omitempty"`              // the part of the table changes
	Expectations *store.Digest `json:"expectations_file,omitempty"` // expectations.csv: broken expectations
	// ExpectationsOf is the digest of the expectations that were checked.
	ExpectationsOf string `json:"expectations_sha256,omitempty"`
	// Result is what was found, as diff --format json prints it; nil of an older program,
	// of a data set, and if it is too large to keep.
	Result json.RawMessage `json:"result,omitempty"`
}

// MostResult bounds Comparison.Result, so that the record can be read.
const MostResult = maxSealed / 4

// EarlierRun says how many hosts are compared with a run instead of the first of two,
// which could not read them.
type EarlierRun struct {
	Run   string `json:"run"`
	Hosts int64  `json:"hosts"`
	// Without are agents that both compared runs judge, and this one did not: their
	// policies on these hosts are not compared.
	Without []string `json:"without_agents,omitempty"`
}

// EarlierHosts returns the number of hosts whose state before is not from the first run.
func (c *Comparison) EarlierHosts() (n int64) {
	for _, r := range c.Earlier {
		n += r.Hosts
	}
	return n
}

// Folder returns the folder of the files that the record names.
func (c *Comparison) Folder() string { return layout.ComparisonFolder(c.Run, c.Against) }

// PartPath returns the path of the only part.
func (c *Comparison) PartPath() string { return path.Join(c.Folder(), layout.PartName(0, "")) }

func readComparison(s store.Store, run, against string) (*Comparison, error) {
	name := layout.ComparisonRecord(run, against)
	c := new(Comparison)
	if _, err := readSealed(s, name, maxSealed, c); err != nil {
		return nil, err
	}
	if c.Run != run || c.Against != against || (c.Part == nil) != (against == "") || c.Part == nil &&
		c.Expectations == nil {
		return nil, fmt.Errorf("%s is %w: it is the record of run %q against %q", s.Path(name), ErrDamaged, c.Run, c.Against)
	}
	if c.Part != nil {
		if err := checkPart(*c.Part, []string{layout.Changes}, c.PartPath()); err != nil {
			return nil, fmt.Errorf("%s is %w", s.Path(name), err)
		}
	}
	for _, e := range c.Earlier {
		if CheckRunID(e.Run) != nil {
			return nil, fmt.Errorf("%s is %w: it names the run %q", s.Path(name), ErrDamaged, e.Run)
		}
	}
	return c, nil
}

// Holds reports whether the record is of the two runs as they are: a run that was made
// again has another manifest. A run that is gone has not been made again.
func (c *Comparison) Holds(s store.Store) (bool, error) {
	for _, of := range [2]struct{ run, manifest string }{{c.Run, c.Manifest}, {c.Against, c.AgainstManifest}} {
		if of.manifest == "" {
			continue
		}
		m, err := readHead(s, of.run)
		switch {
		case err == nil && m.digest != of.manifest:
			return false, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return false, err
		}
	}
	return true, nil
}

// ReadComparison reads the record of the comparison of a run with the run against or, if
// against is "", of the check of its expectations. It returns [fs.ErrNotExist] if there is
// no record.
func ReadComparison(s store.Store, run, against string) (*Comparison, error) {
	if err := CheckRunID(run); err != nil {
		return nil, err
	}
	if err := CheckRunID(against); err != nil && against != "" {
		return nil, err
	}
	return readComparison(s, run, against)
}

// ComparisonFile returns the record of a comparison whose part has been copied to s, with
// the manifest of its run. It names no expectations.
func ComparisonFile(s store.Store, c *Comparison) ([]byte, error) {
	m, err := ReadComplete(s, c.Run)
	if err != nil {
		return nil, err
	}
	record := *c
	record.Manifest, record.AgainstManifest, record.Expectations, record.ExpectationsOf = m.digest, "", nil, ""
	record.Result = nil // it names hosts, and the promises
	return record.Seal()
}

// Seal returns the file of the record.
func (c *Comparison) Seal() ([]byte, error) {
	content, _, err := seal(c)
	if err != nil {
		return nil, fmt.Errorf("record of the comparison: %w", err)
	}
	return content, nil
}

// PutComparison writes the record of [ComparisonFile].
func PutComparison(s store.Store, c *Comparison) error {
	content, err := ComparisonFile(s, c)
	if err != nil {
		return err
	}
	name := layout.ComparisonRecord(c.Run, c.Against)
	if err := s.MakeFolder(path.Dir(name)); err != nil {
		return err
	}
	return s.Replace(name, path.Dir(name), content)
}

// ComparedWith returns the earlier runs with which a run was compared.
func ComparedWith(s store.Store, run string) (ids []string, err error) {
	files, err := s.List(layout.ComparisonRecords(run))
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".json"); ok && CheckRunID(id) == nil {
			ids = append(ids, id)
		}
	}
	return ids, err
}
