package check

import (
	"bytes"
	"fmt"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/visible"
)

// fileLines are the lines of a file, which are found once: a hundred thousand of them may be
// shown.
type fileLines struct {
	body  []byte
	found [][]byte
}

// text returns line n, from 1, as it is shown.
func (l *fileLines) text(n int32) string {
	if l.found == nil {
		for line := range robots.SplitLines(l.body) {
			l.found = append(l.found, line)
		}
	}
	var line []byte
	if int(n) <= len(l.found) {
		line = l.found[n-1]
	}
	return fmt.Sprintf("line %d: %s", n, Shortened(visible.Text(schema.Text(bytes.TrimSpace(line)))))
}
