package input

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/visible"
)

// RejectedMerge merges the rejected.csv of the shards of a run into the one that the run
// would have without shards. Shards of archives must be added in order.
type RejectedMerge struct {
	w        io.Writer
	most     int        // lines to list
	lines    []rejected // of the source
	samples  [][]string
	bytes    int // of lines
	unlisted int64
}

// mergeBytes bounds the memory of the lines that are merged.
const mergeBytes = 64 << 20

type rejected struct {
	line   int64 // line of the hosts list, otherwise beyond all lines
	record []string
}

// NewRejectedMerge returns a RejectedMerge that writes to w.
func NewRejectedMerge(w io.Writer) *RejectedMerge { return &RejectedMerge{w: w, most: maxRejected} }

// Add adds the rejected.csv of a shard.
func (m *RejectedMerge) Add(r io.Reader) error {
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
		if _, err := fmt.Sscanf(record[2], notListed, &n); err == nil && record[3] == "" {
			m.unlisted += n
			continue
		}
		if record[3] != "hosts" {
			line = math.MaxInt64 // a place in an archive; they follow the lines of the list
		}
		m.lines = append(m.lines, rejected{line, record})
		if m.bytes += sizeOf(record); len(m.lines) > 2*m.most || m.bytes > 2*mergeBytes {
			m.shorten()
		}
	}
}

// shorten drops the last lines, beyond the bounds.
func (m *RejectedMerge) shorten() {
	slices.SortStableFunc(m.lines, func(a, b rejected) int { return cmp.Compare(a.line, b.line) })
	kept, bytes := 0, 0
	for kept < min(len(m.lines), m.most) && bytes <= mergeBytes {
		bytes += sizeOf(m.lines[kept].record)
		kept++
	}
	m.unlisted += int64(len(m.lines) - kept)
	clear(m.lines[kept:])
	m.lines, m.bytes = m.lines[:kept], bytes
}

// sizeOf estimates the memory of a record.
func sizeOf(record []string) int {
	n := 120
	for _, field := range record {
		n += len(field)
	}
	return n
}

// Sample adds a rejected URL sample.
func (m *RejectedMerge) Sample(line int64, url, reason string) {
	m.samples = append(m.samples, rejectedRow(line, url, reason, "urls"))
}

// Finish writes the merged file.
func (m *RejectedMerge) Finish() error {
	m.shorten()
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
		w.Write(restOf(m.unlisted, int64(min(listed, m.most))))
	}
	w.Flush()
	return w.Error()
}

// rejectedRow returns a row of rejected.csv, which people open in spreadsheets and
// terminals.
func rejectedRow(line int64, text, reason, input string) []string {
	return []string{strconv.FormatInt(line, 10), visible.Cell(schema.TextString(text)),
		visible.Cell(schema.TextString(reason)), input}
}

var rejectedHeader = []string{"line", "text", "reason", "input"}

// notListed begins the reason of the last line of a rejected.csv that is too long.
const notListed = "not_listed: %d more"

// restOf is that line.
func restOf(unlisted, listed int64) []string {
	return []string{"0", "", fmt.Sprintf(notListed+"; the first %d are listed", unlisted, listed), ""}
}
