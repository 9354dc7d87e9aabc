package source

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/robocensus/robocensus/sink"
)

// Merge merges the rejected.csv of the shards of a run into the one that the run
// would have without shards. Shards of archives must be added in order.
type Merge struct {
	w        io.Writer
	most     int        // lines to list
	lines    []rejected // of the source
	samples  [][]string
	unlisted int64
}

type rejected struct {
	line   int64 // of the hosts list, 0 otherwise
	record []string
}

// NewMerge returns a Merge that writes to w.
func NewMerge(w io.Writer) *Merge { return &Merge{w: w, most: maxRejected} }

// Add adds the rejected.csv of a shard.
func (m *Merge) Add(r io.Reader) error {
	in := csv.NewReader(bufio.NewReader(r))
	if _, err := in.Read(); err != nil {
		return err
	}
	for {
		record, err := in.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		line, err := strconv.ParseInt(record[0], 10, 64)
		if err != nil {
			return err
		}
		var n int64
		switch _, err := fmt.Sscanf(record[2], notListed, &n); {
		case err == nil && record[3] == "":
			m.unlisted += n
		case len(m.lines) >= 2*m.most:
			m.unlisted++
		case record[3] == "hosts":
			m.lines = append(m.lines, rejected{line, record})
		default: // the line is a place in an archive
			m.lines = append(m.lines, rejected{0, record})
		}
	}
}

// Sample adds a rejected URL sample.
func (m *Merge) Sample(line int64, url, reason string) {
	m.samples = append(m.samples, []string{strconv.FormatInt(line, 10), sink.TextString(url), reason, "urls"})
}

// Finish writes the merged file.
func (m *Merge) Finish() error {
	slices.SortStableFunc(m.lines, func(a, b rejected) int { return cmp.Compare(a.line, b.line) })
	w := csv.NewWriter(m.w)
	w.Write(rejectedHeader)
	listed := 0
	list := func(record []string) {
		if listed++; listed > m.most {
			m.unlisted++
			return
		}
		w.Write(record)
	}
	for _, l := range m.lines {
		list(l.record)
	}
	for _, record := range m.samples {
		list(record)
	}
	if m.unlisted > 0 {
		w.Write(restOf(m.unlisted, int64(m.most)))
	}
	w.Flush()
	return w.Error()
}

var rejectedHeader = []string{"line", "text", "reason", "input"}

// notListed begins the reason of the last line of a rejected.csv that is too long.
const notListed = "not_listed: %d more"

// restOf is that line.
func restOf(unlisted, listed int64) []string {
	return []string{"0", "", fmt.Sprintf(notListed+"; the first %d are listed", unlisted, listed), ""}
}
