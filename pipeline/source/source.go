package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/pipeline/source/earlier"
	"github.com/robocensus/robocensus/pipeline/source/hosts"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/source/last"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// Config names one source: hosts to ask (Hosts or Named) or stored captures (WARC,
// Bodies or FromRun). Beside stored captures, Hosts is a filter.
type Config struct {
	Hosts   string        // path of the hosts list, - for standard input
	Named   []string      // the hosts themselves, instead of a list
	WARC    []string      // patterns of WARC files, - for standard input
	Paths   string        // list of WARC files, instead of WARC
	CDX     []string      // patterns of indexes of captures in archives, instead of WARC; - for standard input
	Base    string        // URL or folder of the relative paths in the list or the index
	Remote  remote.Limits // of reading archives at URLs
	Bodies  string        // folder or tar of robots.txt files; beside FromRun, those of its answers
	FromRun string        // DIR/_runs/ID of an earlier run
	Ranks   string        // list of ranked hosts, for WARC and bodies
	Label   []string      // columns of Hosts and Ranks that are labels, * for all of them; of an earlier run, its labels
	Labels  string        // list of hosts or registered domains with their labels
	Carried []string      // labels of the earlier run that are taken over; no list is asked for them
	Column  string        // what the header of the hosts list calls their column, "" for a name that is known
	Force   bool          // read a hosts list most of whose lines name no host

	Schemes []string     // schemes to try for a host without one, in order
	Limit   int64        // most targets, 0 for all
	Sample  float64      // share of the registered domains to take, 0 or 1 for all; see [target.InSample]
	Shard   target.Shard // the share to read, by default all

	// Of a run that was planned:
	Planned  string             // path of the list of the shard, instead of Hosts
	Archives []journal.Input    // all archives, instead of WARC
	Repeated []journal.Repeated // archives that the input names again

	Planning bool // for a plan, which holds no queries of URLs
	Bare     bool // names without a dot are hosts

	// LastCapture takes the last capture of each host in the archives, and follows its
	// redirects to captures of the archives.
	LastCapture  bool
	fetch.Limits // of stored captures

	// Further looks for what else hosts answered in archives that another program wrote; see
	// [Source.Complete].
	Further bool
}

// Source is a source that can be read.
type Source struct {
	Volumes []*Volume
	Total   int64 // lines of the list or bytes of archives, 0 if unknown
	// Complete adds to the capture of a robots.txt what else its host answered, with
	// [Config.Further]. It is set before Start.
	Complete func(context.Context, *fetch.Capture, client.Find) error

	config    Config
	servers   *remote.Servers // of archives
	mu        sync.Mutex      // of inputs
	inputs    []journal.Input
	ranks     hosts.Ranks
	labels    hosts.Labels
	filter    *hosts.Filter // nil for every host
	rejects   *input.Account
	progress  func(bytes int64) // counts the bytes of archives read
	sum       hash.Hash         // digest of a pipe, which can be read only once
	emitted   atomic.Int64      // targets yielded
	from      *earlier.Run      // the earlier run, nil for none
	elsewhere atomic.Int64      // targets or rows of other shards
	passed    atomic.Bool       // an archive was passed over
	last      *last.Captures    // nil unless only the last captures of archives are wanted
	indexes   []index           // of captures
	places    *places           // their captures, nil without one
	originals *originals        // of revisit records among them, and further answers
	indexOnce sync.Once         // of originals, of archives
	indexErr  error
	foreign   bool               // there are archives of other programs, in which further answers are looked for
	paced     bool               // some of them are in archives that are read at the pace
	repeated  []journal.Repeated // archives that are named again
}

// Open finds the inputs of a source, identifies them, and reads the ranks. An input
// that is missing or unreadable is a [userfile.Error].
func Open(ctx context.Context, c Config) (s *Source, err error) {
	s = &Source{config: c, sum: sha256.New(), servers: remote.NewServers(c.Remote)}
	if k := c.kind(); k != nil {
		err = k.open(s, ctx)
	} else {
		list := &Volume{Most: journal.MaxVolumes * journal.SegmentsPerVolume, source: s,
			input: journal.Input{Path: remote.Name(c.Hosts)}, read: s.readHosts}
		s.Volumes = []*Volume{list}
	}
	if err == nil {
		err = s.openLists(ctx)
	}
	if err == nil {
		err = s.openRanks(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Source) openRanks(ctx context.Context) (err error) {
	list := s.config.Ranks
	if list == "" {
		return nil
	}
	if s.ranks, err = hosts.ReadRanks(ctx, list); err == nil && s.ranks.Len() == 0 {
		err = &userfile.Error{Path: remote.Name(list),
			Err: errors.New("has no ranked host; give lines such as 1,example.com")}
	}
	return err
}

// openLists inspects the lists of hosts and of ranks.
func (s *Source) openLists(ctx context.Context) error {
	for _, list := range []struct{ role, path string }{{"hosts", cmp.Or(s.config.Planned, s.config.Hosts)},
		{"ranks", s.config.Ranks}, {"labels", s.config.Labels}} {
		if list.role == "labels" && s.config.Planned != "" {
			continue // the list of the shard has them
		}
		switch list.path {
		case "":
		case "-":
			s.inputs = append(s.inputs, journal.Input{Role: list.role, Path: list.path})
		default:
			in, err := hosts.Inspect(ctx, list.path)
			if err != nil {
				return err
			}
			in.Role = list.role
			s.inputs = append(s.inputs, in)
			if !s.config.IsStored() && list.role == "hosts" {
				s.Total = in.Rows
				if s.config.Planned == "" {
					s.Total /= int64(max(1, s.config.Shard.Count))
				}
				if share := s.config.Sample; share > 0 {
					s.Total = int64(float64(s.Total) * share)
				}
			}
		}
	}
	if named := s.config.Named; len(named) > 0 {
		sum := sha256.Sum256([]byte(strings.Join(named, "\n")))
		s.Total = int64(len(named))
		s.inputs = append(s.inputs, journal.Input{Role: "hosts", Path: journal.NamedHosts,
			SHA256: hex.EncodeToString(sum[:]), Rows: s.Total})
	}
	return nil
}

// From returns the manifest of the earlier run whose captures the source reads, or nil.
func (s *Source) From() *journal.Manifest {
	if s.from == nil {
		return nil
	}
	return s.from.Manifest
}

// Repeated returns the archives that the input names again; they are read once.
func (s *Source) Repeated() []journal.Repeated { return s.repeated }

// Inputs returns the files of the source with their digests. A pipe has its digest, and
// an archive at an https URL its size, only after it was read.
func (s *Source) Inputs() []journal.Input {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.inputs)
}

// Name gives the inputs the paths that the plan of the run has for them: another process
// may have begun the run with other spellings, and the tables have the names of archives.
func (s *Source) Name(plan *journal.Plan) {
	names := plan.Names(s.inputs)
	for _, v := range s.Volumes {
		if v.at < len(names) && v.input.Path == s.inputs[v.at].Path {
			v.input.Path = names[v.at]
		}
	}
	for i, name := range names {
		s.inputs[i].Path = name
	}
}

// Start prepares the reading of volumes and reads the filter. Reading then records in
// rejects what is not a target, and calls progress with the bytes of archives read.
func (s *Source) Start(ctx context.Context, rejects *input.Account, progress func(bytes int64)) (err error) {
	s.rejects, s.progress = rejects, progress
	if err := s.rejectRepeated(); err != nil {
		return err
	}
	if !s.config.Shard.IsFirst() { // of several shards
		rejects = nil
	}
	err = s.readLists(ctx, rejects)
	if k := s.config.kind(); err == nil && k != nil && k.start != nil {
		err = k.start(s, ctx)
	}
	return err
}

// readLists reads the filter and the labels. It records in rejects, unless that is nil, the lines
// that are none.
func (s *Source) readLists(ctx context.Context, rejects *input.Account) (err error) {
	line := func(role string, line int64, text, reason string) error {
		if rejects == nil {
			return nil
		}
		return rejects.Label(line, text, reason, role)
	}
	if s.config.IsStored() && s.config.Hosts != "" {
		reject := func(int64, string, string) error { return nil }
		if rejects != nil {
			reject = rejects.Host
		}
		if s.filter, err = hosts.ReadFilter(ctx, *s.config.List(), s.sum, reject); err != nil {
			return err
		}
		s.digest()
		if s.filter.Len() == 0 {
			return s.empty(s.config.Hosts, holdsNoHost)
		}
		if s.config.Ranks == "" {
			s.ranks = s.filter.Ranks
		}
	}
	if rejects != nil {
		role := "ranks"
		if s.config.Ranks == "" {
			role = "hosts"
		}
		if err := s.ranks.Remark(rejects, role); err != nil {
			return err
		}
	}
	return s.readLabels(ctx, line)
}

// CheckLists returns the error that each shard of stored answers would have of the filter or the
// labels. check is called with the number of values of labels that count apart.
func (s *Source) CheckLists(ctx context.Context, check func(values int) error) error {
	if err := s.readLists(ctx, nil); err != nil {
		return err
	}
	return check(s.labels.Values())
}

// Close frees the disk that the source takes. s may be nil, and closed already.
func (s *Source) Close() error {
	if s == nil {
		return nil
	}
	for _, v := range s.Volumes {
		if v.leave != nil {
			v.leave()
		}
	}
	if s.from != nil {
		s.from.Close()
	}
	s.servers.Close()
	return errors.Join(s.last.Close(), s.places.close(), s.originals.close())
}

// reject records an entry of the stored answers that is not a target: its line (0 if it
// has none), its text, and the reason. Of several shards only the first records it.
func (s *Source) reject(line int64, text, reason string) error {
	if !s.config.Shard.IsFirst() {
		return nil
	}
	return s.rejects.Line(line, text, reason, s.config.kind().role)
}

// AtOnce returns the number of volumes that may be read at the same time, 0 for any: no
// reader of a server's archives waits for another one to finish, which may wait for it.
func (s *Source) AtOnce() int {
	if s.paced || slices.ContainsFunc(s.Volumes, func(v *Volume) bool {
		return v.archive != nil &&
			s.isPaced(v.location)
	}) {
		return max(1, s.config.Remote.AtOnce)
	}
	return 0
}

// isPaced reports whether an archive is read at the pace.
func (s *Source) isPaced(at string) bool {
	return remote.IsURL(at) && (!remote.IsBucket(at) || s.config.Remote.Stores)
}

// Targets returns the number of targets that the volumes have yielded.
func (s *Source) Targets() int64 { return s.emitted.Load() }

// Enough reports whether the limit is reached. Volumes then yield nothing.
func (s *Source) Enough() bool { return s.config.Limit > 0 && s.emitted.Load() >= s.config.Limit }

// Unmatched returns the hosts and origins of the filter that no stored answer is of. It
// returns nil without a filter, and where not all answers were read: by a shard, with a
// limit, or if an archive is damaged or was passed over.
func (s *Source) Unmatched() *int64 {
	if s.filter == nil || s.config.Shard.IsPart() || s.Enough() || s.passed.Load() ||
		s.rejects.Skipped()[input.Damaged] > 0 {
		return nil
	}
	n := s.filter.Unmet()
	return &n
}

// List returns the list of the hosts to ask.
func (c *Config) List() *hosts.List {
	return &hosts.List{
		Path: c.Hosts, Planned: c.Planned, Named: c.Named, Schemes: c.Schemes, Shard: c.Shard, Sample: c.Sample,
		Column: c.Column, Bare: c.Bare, Force: c.Force, Labels: c.Planned != "" && c.listsLabels(),
	}
}

// readHosts emits the hosts to ask.
func (s *Source) readHosts(ctx context.Context, emit func(target.Target) error) error {
	defer s.digest()
	elsewhere, notSampled, err := s.config.List().Targets(ctx, s.sum, s.rejects, emit)
	s.elsewhere.Add(elsewhere)
	s.rejects.Skip(input.Skipped{input.NotSampled: notSampled})
	return err
}

// Others returns random hosts from the part of the list that can be read in a short
// time. By asking them, a run finds out whether its first hosts are dead or this
// machine is cut off.
func (s *Source) Others(ctx context.Context) []fetch.Origin {
	if s.config.IsStored() {
		return nil
	}
	return s.config.List().Random(ctx, s.config.Limit)
}

// digest sets the digest of an input that could be read only once.
func (s *Source) digest() {
	for i := range s.inputs {
		if in := &s.inputs[i]; (in.Role == "hosts" || in.Role == "cdx") && in.SHA256 == "" {
			in.SHA256 = hex.EncodeToString(s.sum.Sum(nil))
		}
	}
}

// name names the source for an error.
func (c *Config) name() string {
	switch k := c.kind(); {
	case k != nil:
		return k.given(c)
	case len(c.Named) > 0:
		return journal.NamedHosts
	}
	return c.Hosts
}
