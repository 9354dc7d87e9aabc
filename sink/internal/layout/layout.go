// Package layout names the files of a run: where each lies by its run, table and
// segment, and what a name says of a file. A path that a record gives is opened
// only if it is the one that stands here.
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
	ExpectationsName = "expectations.csv"
	// RemovingName is what the manifest, or else the plan, is called once the
	// removal of the run has begun.
	RemovingName = "removing.json"
)

// Runs holds the folders of all runs.
const Runs = "_runs"

// Changes is the table of comparisons of runs: changes/run=B/against=A/.
const Changes = "changes"

// Keys of the metadata of every part.
const (
	KeySchema        = "robocensus.schema_version"
	KeyRun           = "robocensus.run"
	KeyToolVersion   = "robocensus.tool_version"
	KeyProfile       = "robocensus.profile"
	KeyConfiguration = "robocensus.configuration_digest"
	KeyBins          = "robocensus.summary_bins" // of summary only
	KeyAgainst       = "robocensus.against"      // of changes only, as are notes
	KeyNotes         = "robocensus.notes"        // a line each
)

// OfRun are the tables that have one part for the whole run, written when it
// is complete. Until then each segment keeps its rows beside its record, where
// no view over the tables counts them a second time.
var OfRun = map[string]bool{"summary": true, "examples": true}

// HasPart tells which segments have a part of a table. What does not depend on
// targets stands with segment 0, which every complete run has.
func HasPart(table string, segment int) bool { return table != "agents" || segment == 0 }

// SegmentsPerVolume and MaxVolumes bound the numbers of segments, so that the
// names of parts sort as their numbers do.
const (
	SegmentsPerVolume = 100_000
	MaxVolumes        = 100_000

	digits = 10 // of their product
)

// number is a segment's number as it stands in the names of files.
func number(segment int) string { return fmt.Sprintf("%0*d", digits, segment) }

// Gap describes the segments that are missing between two records, "" for none: a
// file that is read beside others begins at a multiple of [SegmentsPerVolume].
func Gap(before, segment int) string {
	if segment == before+1 || segment%SegmentsPerVolume == 0 {
		return ""
	}
	return fmt.Sprintf("segments %d to %d are missing", before+1, segment-1)
}

// RunFile is a file of a run's own folder.
func RunFile(run string, names ...string) string {
	return path.Join(append([]string{Runs, run}, names...)...)
}

// TableFolder holds the parts of a run's table.
func TableFolder(table, run string) string { return path.Join(table, "run="+run) }

// PartName is what the part of a segment is called, in the folder of its table.
func PartName(segment int) string { return "part-" + number(segment) + ".parquet" }

// Part is where the part of a segment, or of a run, lies.
func Part(table, run string, segment int) string {
	return path.Join(TableFolder(table, run), PartName(segment))
}

// SegmentPart is where a segment's rows of a table lie: in its part, or of a
// table of the run beside the record.
func SegmentPart(table, run string, segment int) string {
	if OfRun[table] {
		return path.Join(Records(run), number(segment)+"."+table+".parquet")
	}
	return Part(table, run, segment)
}

// Records is the folder of the records of segments.
func Records(run string) string { return RunFile(run, "segments") }

// Record is where the record of a segment lies.
func Record(run string, segment int) string {
	return path.Join(Records(run), number(segment)+".json")
}

// RecordNumber is the segment that a file is the record of by its name.
func RecordNumber(name string) (int, bool) {
	number, ok := strings.CutSuffix(name, ".json")
	if !ok {
		return 0, false
	}
	return AnswersNumber(number)
}

// AnswersFolder holds the answers of segments under way.
func AnswersFolder(run string) string { return RunFile(run, "answers") }

// Answers is where the answers of a segment lie.
func Answers(run string, segment int) string { return path.Join(AnswersFolder(run), number(segment)) }

// AnswersNumber is the segment whose answers a file holds by its name.
func AnswersNumber(name string) (int, bool) {
	n, err := strconv.ParseUint(name, 10, 63)
	return int(n), err == nil && len(name) == digits
}

// IsLeftover tells the names that a writer of parts leaves behind, by which it
// can be told only from the records whether they are parts that count.
func IsLeftover(name string) bool {
	return strings.HasPrefix(name, "part-") && (strings.HasSuffix(name, ".parquet") || store.IsTemporary(name))
}

// ComparisonRecord is where the record of a comparison lies.
func ComparisonRecord(run, against string) string {
	if against == "" {
		return RunFile(run, "expectations.json")
	}
	return RunFile(run, "against", against+".json")
}

// ComparisonFolder is where the files of a comparison lie.
func ComparisonFolder(run, against string) string {
	if against == "" {
		return RunFile(run)
	}
	return path.Join(TableFolder(Changes, run), "against="+against)
}
