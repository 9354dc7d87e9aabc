package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// Plan is the configuration of a run. It is written once, when the run starts.
type Plan struct {
	SchemaVersion int `json:"schema_version"`
	// digest of all tables' columns; "" of an older program
	Columns             string     `json:"columns_sha256,omitempty"`
	SummaryBins         int        `json:"summary_bins"` // version of the bins of distributions in summary
	Tool                string     `json:"tool"`
	ToolVersion         string     `json:"tool_version"`
	Run                 string     `json:"run"`
	Started             time.Time  `json:"started"`
	Configuration       Values     `json:"configuration"`
	Adjustable          Values     `json:"pace"`                 // settings that do not affect the tables
	ConfigurationDigest string     `json:"configuration_digest"` // SHA-256 of configuration as JSON
	Inputs              []Input    `json:"inputs"`
	Repeated            []Repeated `json:"repeated_archives,omitempty"`
	Tables              []string   `json:"tables"`
	Profiles            []string   `json:"profiles"`
	// ProfileFields are the fields of each profile, by their names in a configuration
	// file: built-in profiles change with the version of the program.
	ProfileFields map[string]map[string]any `json:"profile_fields,omitempty"`
	// AsOf is the date that the user gave the run, or the date of the run that this
	// one re-evaluates; nil for neither (see [Manifest.Date]).
	AsOf *time.Time `json:"as_of,omitempty"`
	// Earlier says how the run that this one re-evaluates chose its hosts, and the
	// run that that one re-evaluated, if any; nil for a run of its own answers.
	Earlier []Choice `json:"earlier,omitempty"`

	PublicSuffixes string `json:"public_suffixes,omitempty"` // version of the list by which shards divide the hosts
	Shards         int    `json:"shards"`                    // processes that share the work, 1 for a run without shards
	// FromShards is the number of shards of hosts of the earlier run that this one
	// re-evaluates, volume by volume; 0 for none.
	FromShards int `json:"from_shards,omitempty"`
	// Growing says that segments grow with their number, so that a long list has few; false
	// of an older program, and for what is joined when a shard is committed.
	Growing bool   `json:"growing_segments,omitempty"`
	Lists   []List `json:"lists,omitempty"` // of the shards of a planned run
}

// Input is an input file. The digest and rows of standard input are known only when
// the run is complete.
type Input struct {
	Role   string `json:"role"` // hosts, warc, bodies, run, ranks, agents, urls, configuration
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"`
	// An archive has no SHA256, because it is not read for a digest. Bytes is its
	// size; EndsSHA256 is that of the size (8 bytes, big endian) and its first and
	// last 64 KiB. For a folder, it covers the names, sizes and times of its files.
	Bytes      int64  `json:"bytes,omitempty"`
	EndsSHA256 string `json:"ends_sha256,omitempty"`
	// IdentifiedWhenRead marks an archive at an https URL, of which there may be a
	// hundred thousand: it is not asked for before it is read. Each record of its
	// segments has its size and tag, and the manifest those that the process which
	// completed the run has read.
	IdentifiedWhenRead bool   `json:"identified_when_read,omitempty"`
	Tag                string `json:"entity_tag,omitempty"`
	Rows               int64  `json:"rows,omitempty"`
}

// Repeated is an archive that an earlier path names, too. It is read once.
type Repeated struct {
	Line  int64  `json:"line,omitempty"` // of the list of archives
	Path  string `json:"path"`
	First string `json:"first"` // the path of the input
}

// NamedHosts is the path of an input whose hosts are arguments of the command.
const NamedHosts = "the hosts given"

// Choice says how a run chose its hosts.
type Choice struct {
	Inputs []Input `json:"inputs"` // lists of hosts and ranks, and stored answers that choose the hosts
	Limit  string  `json:"limit"`
	Sample string  `json:"sample"`
}

// Choices returns the choice of the run, then those of Earlier.
func (p *Plan) Choices() []Choice {
	own := Choice{Inputs: []Input{}, Limit: p.Configuration.Text("limit"), Sample: p.Configuration.Text("sample")}
	for _, in := range p.Inputs {
		if s := StoredAs(in.Role); in.Role == "hosts" || in.Role == "ranks" || s != nil && s.Chooses != "" {
			own.Inputs = append(own.Inputs, in)
		}
	}
	return append([]Choice{own}, p.Earlier...)
}

// Limit returns the largest number of hosts that the run could take: the least --limit of
// the run and of those that it re-evaluates. 0 means no limit.
func (p *Plan) Limit() (least int64) {
	for _, c := range p.Choices() {
		if n, _ := strconv.ParseInt(c.Limit, 10, 64); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// Sample returns the share of registered domains that the run took, above 0 and at most
// 1: the least --sample of the run and of those that it re-evaluates, which is a part of
// the others.
func (p *Plan) Sample() float64 {
	least := 1.0
	for _, c := range p.Choices() {
		if share, err := strconv.ParseFloat(c.Sample, 64); err == nil && share > 0 {
			least = min(least, share)
		}
	}
	return least
}

// HasCaptures reports whether an input is an archive, or an index of captures in archives.
func (in Input) HasCaptures() bool {
	s := StoredAs(in.Role)
	return s != nil && s.HasCaptures
}

// CanBeReadAgain reports whether resuming can read the inputs from their beginning.
// Standard input, like any input that is not a regular file, has no digest.
func (p *Plan) CanBeReadAgain() bool {
	return !slices.ContainsFunc(p.Inputs, func(in Input) bool {
		return in.SHA256 == "" && in.EndsSHA256 == "" &&
			!in.IdentifiedWhenRead
	})
}

// ShardOf returns the shard of a host, of count shards: the first eight bytes (big
// endian) of the SHA-256 of its registered domain, modulo count. Without a registered
// domain ("") the host stands for itself.
func ShardOf(host, domain string, count int) int {
	if domain == "" {
		domain = host
	}
	sum := sha256.Sum256([]byte(domain))
	return int(binary.BigEndian.Uint64(sum[:8]) % uint64(count))
}

// ShardsOfHosts returns the number of shards that divide the hosts by [ShardOf], or 0:
// shards of archives divide the archives, in order.
func (p *Plan) ShardsOfHosts() int {
	switch {
	case p.Shards == 1:
		return p.FromShards
	case slices.ContainsFunc(p.Inputs, Input.HasCaptures):
		return 0
	}
	return p.Shards
}

// ShardOfSegment returns the shard of hosts that a segment belongs to.
func (p *Plan) ShardOfSegment(segment int) int {
	if p.Shards == 1 {
		return segment / SegmentsPerVolume
	}
	return segment
}

// List is the list of hosts of a shard, as a plan names it.
type List struct {
	Path string `json:"path"` // relative to the output folder, with slashes
	Rows int64  `json:"rows"`
	store.Digest
}

// CheckRunID returns an error if an ID is not portable as a folder name and as a
// hive partition value.
func CheckRunID(id string) error {
	if id == "" || len(id) > 100 || strings.HasPrefix(id, ".") || strings.HasPrefix(id, "-") {
		return fmt.Errorf("run ID %q: use 1 to 100 letters, digits, '-', '_' and '.', not starting with '.' or '-'", id)
	}
	for _, c := range id {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
		default:
			return fmt.Errorf("run ID %q: use letters, digits, '-', '_' and '.' only", id)
		}
	}
	return nil
}

// checkTables returns an error if a name is not that of a table.
func checkTables(names []string) error {
	for _, name := range names {
		if !slices.Contains(schema.TableNames, name) {
			return fmt.Errorf("no table %q: the tables are %s", name, strings.Join(schema.TableNames, ", "))
		}
	}
	return nil
}

// Prepare checks a plan and sets its versions and digests.
func (p *Plan) Prepare() error {
	if err := CheckRunID(p.Run); err != nil {
		return err
	}
	if err := checkTables(p.Tables); err != nil {
		return err
	}
	configuration, err := json.Marshal(p.Configuration)
	if err != nil {
		return fmt.Errorf("configuration as JSON: %w", err)
	}
	digest := sha256.Sum256(configuration)
	p.SchemaVersion, p.SummaryBins, p.Tool, p.Shards = schema.SchemaVersion, schema.BinsVersion, "robocensus",
		max(p.Shards, 1)
	if p.Shards > 1 {
		p.PublicSuffixes = publicsuffix.List.String()
	}
	p.ConfigurationDigest = hex.EncodeToString(digest[:])
	p.Columns = schema.ColumnsDigest()
	return nil
}

// ErrNotResumable reports that a run cannot be resumed with the given plan. The error
// that wraps it says why.
var ErrNotResumable = errors.New("cannot be resumed")

// ErrRemoving reports a run whose removal was interrupted.
var ErrRemoving = fmt.Errorf("%w: its removal was interrupted; remove it again", ErrNotResumable)

// ReadPlan reads the plan of a run and returns its digest. It returns
// [fs.ErrNotExist] if there is no such run.
func ReadPlan(s store.Store, run string) (p Plan, digest string, err error) {
	if err := CheckRunID(run); err != nil {
		return p, "", err
	}
	removing, err := store.Exists(s, layout.RunFile(run, layout.RemovingName))
	if err != nil {
		return p, "", err
	}
	if removing {
		return p, "", fmt.Errorf("%s: %w by --force-new", s.Path(layout.RunFile(run)), ErrRemoving)
	}
	name := layout.RunFile(run, layout.PlanName)
	if digest, err = readSealed(s, name, maxSealed, &p); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("read the plan: %w", err)
		}
		return p, "", err
	}
	if p.Run != run {
		return p, "", fmt.Errorf("%s is %w: it is the plan of run %q", s.Path(name), ErrDamaged, p.Run)
	}
	if err := checkTables(p.Tables); err != nil && p.SchemaVersion == schema.SchemaVersion {
		return p, "", fmt.Errorf("%s is %w: %w", s.Path(name), ErrDamaged, err)
	}
	for i, list := range p.Lists {
		if want := layout.List(run, i, layout.Attempt(list.Path)); list.Path != want || len(p.Lists) != p.Shards {
			return p, "", fmt.Errorf("%s is %w: it names %q as the list of shard %d", s.Path(name), ErrDamaged, list.Path, i)
		}
	}
	return p, digest, nil
}

// PutPlan writes the plan of a run, unless there is one, and returns its digest. After
// [store.ErrInDoubt] it may exist.
func PutPlan(s store.Store, p *Plan) (won bool, digest string, err error) {
	content, digest, err := seal(p)
	if err != nil {
		return false, "", fmt.Errorf("plan of the run: %w", err)
	}
	if len(content) > maxSealed {
		return false, "", fmt.Errorf("the plan of the run has %d bytes, more than %d: plan fewer shards or archives",
			len(content), maxSealed)
	}
	if content, err = compressed(content); err == nil {
		won, err = s.Put(layout.RunFile(p.Run, layout.PlanName), content)
	}
	if err != nil {
		err = fmt.Errorf("write the plan: %w", err)
	}
	return won, digest, err
}
