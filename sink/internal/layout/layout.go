// Package layout defines the paths of a run's files.
//
// Its functions take a run, a table and the number of a segment, and return a path
// relative to the output folder. They are the only source of such paths: a path that
// a record names is opened only if this package gives the same one, so a forged
// record leads to no other file.
package layout

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/sink/store"
)

// Files of a run, in its folder.
const (
	PlanName         = "plan.json"
	ManifestName     = "manifest.json"
	RejectedName     = "rejected.csv"
	ChecksumsName    = "checksums.sha256" // of a published data set
	ExpectationsName = "expectations.csv"
	// ExpectationsRecordName is the record of ExpectationsName.
	ExpectationsRecordName = "expectations.json"
	// SpoolName is the folder of uncommitted shards, unless --spool names another.
	SpoolName = "spool"
	// RemovingName is the name to which removal first renames the manifest, or the
	// plan if there is no manifest.
	RemovingName = "removing.json"
)

// Runs holds the folders of all runs.
const Runs = "_runs"

// Changes is the table of comparisons of runs: changes/run=B/against=A/.
const (
	Changes       = "changes"
	AgainstPrefix = "against="
)

// WARCTable stands for the table in the record of a WARC file.
const WARCTable = "warc"

// Keys of the metadata of every part.
const (
	KeySchema        = "robocensus.schema_version"
	KeyRun           = "robocensus.run"
	KeyToolVersion   = "robocensus.tool_version"
	KeyProfile       = "robocensus.profile"
	KeyConfiguration = "robocensus.configuration_digest"
	KeyBins          = "robocensus.summary_bins" // only in summary
	KeyAgainst       = "robocensus.against"      // only in changes
	KeyNotes         = "robocensus.notes"        // only in changes, one per line
)

// OfRun holds the tables with one part for the whole run, written at completion.
// Until then each segment keeps its rows beside its record, where no view over the
// tables counts them twice.
var OfRun = map[string]bool{"summary": true, "label_counts": true, "examples": true}

// HasPart reports whether a segment has a part of a table. The table agents does not
// depend on targets, so only segment 0 has it.
func HasPart(table string, segment int) bool { return table != "agents" || segment == 0 }

// SegmentsPerVolume and MaxVolumes bound the numbers of segments, so that the
// names of parts sort as their numbers do.
const (
	SegmentsPerVolume = 100_000
	MaxVolumes        = 100_000

	digits = 10 // digits of their product
)

// number formats a segment's number for names of files.
func number(segment int) string { return fmt.Sprintf("%0*d", digits, segment) }

// Gap describes the segments that are missing between two consecutive records, or
// returns "". A multiple of [SegmentsPerVolume] may follow any segment, because it
// begins the next file of the input.
func Gap(before, segment int) string {
	if segment == before+1 || segment%SegmentsPerVolume == 0 {
		return ""
	}
	return fmt.Sprintf("segments %d to %d are missing", before+1, segment-1)
}

// RunFile returns the path of a file in a run's folder.
func RunFile(run string, names ...string) string {
	return path.Join(append([]string{Runs, run}, names...)...)
}

// TableFolder returns the folder with the parts of a run's table.
func TableFolder(table, run string) string { return path.Join(table, "run="+run) }

// An attempt names the files of one of several processes that try the same shard
// of a run: part-0000000003-9f86d081.parquet. A run without shards has no attempts.

// suffix returns the end of a name that tells attempts apart, "" for no attempt.
func suffix(attempt string) string {
	if attempt == "" {
		return ""
	}
	return "-" + attempt
}

// Attempt returns the attempt in the path of a part or of a segment's rows, or "".
func Attempt(name string) string {
	stem := strings.TrimPrefix(path.Base(name), "part-")
	if len(stem) <= digits || stem[digits] != '-' {
		return ""
	}
	attempt, _, _ := strings.Cut(stem[digits+1:], ".")
	return attempt
}

// PartName returns the file name of a segment's part.
func PartName(segment int, attempt string) string {
	return "part-" + number(segment) + suffix(attempt) + ".parquet"
}

// Part returns the path of a segment's part, or of a run's part as segment 0.
func Part(table, run string, segment int, attempt string) string {
	return path.Join(TableFolder(table, run), PartName(segment, attempt))
}

// SegmentPart returns the path of a segment's rows of a table. For the tables in
// [OfRun], they are beside the record.
func SegmentPart(table, run string, segment int, attempt string) string {
	if OfRun[table] {
		return path.Join(Records(run), number(segment)+suffix(attempt)+"."+table+".parquet")
	}
	return Part(table, run, segment, attempt)
}

// Piece returns the path of a table's rows of a piece of a segment, beside the record,
// until the pieces are joined.
func Piece(table, run string, segment, piece int) string {
	return path.Join(Records(run), number(segment)+"-"+strconv.Itoa(piece)+"."+table+".parquet")
}

// PieceWARC returns the path of the WARC file of a piece.
func PieceWARC(run string, segment, piece int) string {
	return path.Join(WARCFolder(run), number(segment)+"-"+strconv.Itoa(piece)+".warc.gz")
}

// ShardRejected returns the path of the rejected lines of a shard.
func ShardRejected(run string, shard int, attempt string) string {
	return path.Join(Records(run), number(shard)+suffix(attempt)+".rejected.csv")
}

// Lists returns the folder of the lists of a planned run's shards.
func Lists(run string) string { return RunFile(run, "lists") }

// List returns the path of the list of a shard.
func List(run string, shard int, attempt string) string {
	return path.Join(Lists(run), number(shard)+suffix(attempt)+".csv.zst")
}

// Spool returns the folder of the unfinished shards of a run.
func Spool(run string) string { return RunFile(run, "spool") }

// Beats returns the folder of the signs of life of a run's shards.
func Beats(run string) string { return RunFile(run, "heartbeats") }

// Beat returns the path of a shard's sign of life.
func Beat(run string, shard int) string { return path.Join(Beats(run), number(shard)+".json") }

// WARCFolder returns the folder of the WARC files of a run's segments, or shards.
func WARCFolder(run string) string { return RunFile(run, "warc") }

// WARC returns the path of the WARC file of a segment.
func WARC(run string, segment int, attempt string) string {
	return path.Join(WARCFolder(run), number(segment)+suffix(attempt)+".warc.gz")
}

// Records returns the folder of the segments' records.
func Records(run string) string { return RunFile(run, "segments") }

// Record returns the path of a segment's record.
func Record(run string, segment int) string {
	return path.Join(Records(run), number(segment)+".json")
}

// RecordNumber returns the segment of a record by its file name.
func RecordNumber(name string) (int, bool) {
	number, ok := strings.CutSuffix(name, ".json")
	if !ok {
		return 0, false
	}
	return SegmentNumber(number)
}

// CapturesFolder returns the folder of the captures of uncommitted segments.
func CapturesFolder(run string) string { return RunFile(run, "captures") }

// Captures returns the path of a segment's captures.
func Captures(run string, segment int) string { return path.Join(CapturesFolder(run), number(segment)) }

// SegmentNumber returns the segment of a file of captures by its file name.
func SegmentNumber(name string) (int, bool) {
	n, err := strconv.ParseUint(name, 10, 63)
	return int(n), err == nil && len(name) == digits
}

// IsLeftover reports whether name may be a part, or a temporary file of one, that an
// interrupted writer left behind. Only the records show whether a part counts.
func IsLeftover(name string) bool {
	return strings.HasPrefix(name, "part-") && (strings.HasSuffix(name, ".parquet") || store.IsTemporary(name))
}

// A Leftover is a folder of a run in which an interrupted writer leaves files that the
// next start of the run removes, unless a record names them.
type Leftover struct {
	Folder string
	MayBe  func(name string) bool // whether a name may be one
}

// Leftovers returns the folders of a run where files may be left.
func Leftovers(run string, tables []string) (left []Leftover) {
	for _, table := range tables {
		left = append(left, Leftover{TableFolder(table, run), IsLeftover})
	}
	return append(left,
		Leftover{Records(run), func(name string) bool {
			return store.IsTemporary(name) || strings.HasSuffix(name, ".parquet") || strings.HasSuffix(name, ".rejected.csv")
		}},
		Leftover{WARCFolder(run), func(string) bool { return true }},
		Leftover{RunFile(run), store.IsTemporary})
}

// LeftFolders returns the folders that a run has only until it is complete.
func LeftFolders(run string) []string {
	return []string{CapturesFolder(run), Beats(run), Lists(run), Spool(run)}
}

// ComparisonRecord returns the path of a comparison's record.
func ComparisonRecord(run, against string) string {
	if against == "" {
		return RunFile(run, ExpectationsRecordName)
	}
	return path.Join(ComparisonRecords(run), against+".json")
}

// ComparisonRecords returns the folder of the records of comparisons of a run with
// earlier ones.
func ComparisonRecords(run string) string { return RunFile(run, "against") }

// ComparisonFolder returns the folder of a comparison's files.
func ComparisonFolder(run, against string) string {
	if against == "" {
		return RunFile(run)
	}
	return path.Join(TableFolder(Changes, run), AgainstPrefix+against)
}
