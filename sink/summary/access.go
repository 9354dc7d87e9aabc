package summary

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/store"
)

// What an agent may fetch of a site.
const (
	AccessOpen    = "open"
	AccessPartly  = "partly"
	AccessShutOut = "shut out"
	// Unread is a site whose policy is not known: an outage, a wall, or a choice that the
	// profile leaves open.
	AccessUnread = "unread"
)

// accessOfClass has the word for each class of policies.
var accessOfClass = map[string]string{"allow_all": AccessOpen, "partial": AccessPartly, "disallow_all": AccessShutOut}

// ErrNoPolicies reports a run that does not say what agents may fetch.
var ErrNoPolicies = errors.New("no access without the table policies")

// AccessTable is the access of a run under one profile: the table policies turned on its
// side, a row for each site, for those who list, draw or export few sites.
type AccessTable struct {
	Profile    string
	Agents     []string // in the order of the registry
	Categories []string // of the agents

	in    store.Store
	m     *journal.Manifest
	index map[string]int // of agents
}

// SiteAccess is a row: an origin, by its last capture where a run has several.
type SiteAccess struct {
	Seq    int64
	Host   string
	Rank   *int64
	Origin string   // "" in a data set with hashes for hosts
	Access []string // by agent
}

// accessPolicy has the columns of policies that are read.
type accessPolicy struct {
	Seq      int64  `parquet:"seq"`
	Host     string `parquet:"host"`
	Rank     *int64 `parquet:"rank" rowio:"maybe"`
	Origin   string `parquet:"origin" rowio:"maybe"`
	Agent    string `parquet:"agent"`
	Category string `parquet:"category" rowio:"maybe"`
	Profile  string `parquet:"profile"`
	Class    string `parquet:"class"`
}

// ReadAccess prepares to read the access of a run under a profile, "" for its first. It returns
// [ErrNoPolicies] if the run has not what it takes.
func ReadAccess(ctx context.Context, in store.Store, m *journal.Manifest, profile string) (*AccessTable, error) {
	if !slices.Contains(m.Tables, "policies") || len(m.Profiles) == 0 {
		return nil, fmt.Errorf("%w: run %s does not have it", ErrNoPolicies, m.Run)
	}
	t := &AccessTable{Profile: profile, in: in, m: m, index: make(map[string]int)}
	if profile == "" {
		t.Profile = m.Profiles[0]
	}
	// Every target has a row for each agent, so the first one names them all.
	err := rowio.First(ctx, in, m.PartsOf("policies"), rowio.Selection{}, func(rows []accessPolicy) {
		for _, p := range rows {
			if _, known := t.index[p.Agent]; !known && p.Profile == t.Profile {
				t.index[p.Agent] = len(t.Agents)
				t.Agents, t.Categories = append(t.Agents, p.Agent), append(t.Categories, p.Category)
			}
		}
	})
	return t, err
}

// Sites reads the sites in the order of the input. A site is valid until each returns,
// which may end the reading with [fs.SkipAll].
func (t *AccessTable) Sites(ctx context.Context, each func(*SiteAccess) error) error {
	counts, err := LastCaptures(ctx, t.in, t.m)
	if err != nil {
		return err
	}
	s := &SiteAccess{Access: make([]string, len(t.Agents))}
	err = rowio.Targets(ctx, t.in, t.m.PartsOf("policies"), rowio.Selection{}, func(seq int64, rows []accessPolicy) error {
		if rows = slices.DeleteFunc(rows, func(p accessPolicy) bool { return p.Profile != t.Profile }); len(rows) == 0 {
			return nil
		}
		for i := range s.Access {
			s.Access[i] = AccessUnread
		}
		for _, p := range rows {
			at, known := t.index[p.Agent]
			if !known {
				return fmt.Errorf("run %s: the first target has no policy for the agent %q, and target %d has", t.m.Run, p.Agent,
					seq)
			}
			if word := accessOfClass[p.Class]; word != "" {
				s.Access[at] = word
			}
		}
		s.Seq, s.Host, s.Rank, s.Origin = seq, rows[0].Host, rows[0].Rank, rows[0].Origin
		if !counts(seq) {
			return nil
		}
		return each(s)
	})
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// LastCaptures returns whether a target counts: of several captures of an origin the last
// one does, by time and then in the order of the input. Only archives have several.
func LastCaptures(ctx context.Context, in store.Store, m *journal.Manifest) (counts func(seq int64) bool, err error) {
	all := func(int64) bool { return true }
	if journal.StoredIn(m.Inputs) == nil || !slices.Contains(m.Tables, "fetches") {
		return all, nil
	}
	type capture struct {
		Seq    int64     `parquet:"seq"`
		Host   string    `parquet:"host"`
		Origin string    `parquet:"origin" rowio:"maybe"`
		Time   time.Time `parquet:"fetch_time"`
	}
	last, earlier := make(map[string]capture), make(map[int64]bool)
	err = rowio.Of(ctx, in, m.PartsOf("fetches"), rowio.Selection{}, func(batch []capture) error {
		for _, c := range batch {
			if c.Origin == "" {
				continue
			}
			other, twice := last[c.Origin]
			if twice && (other.Time.After(c.Time) || other.Time.Equal(c.Time) && other.Seq > c.Seq) {
				earlier[c.Seq] = true
				continue
			}
			if twice {
				earlier[other.Seq] = true
			}
			c.Origin = strings.Clone(c.Origin)
			last[c.Origin] = c
		}
		return nil
	})
	return func(seq int64) bool { return !earlier[seq] }, err
}
