package robots

import "iter"

// SplitLines returns the lines of a file, each with what ends it: LF, CR or CRLF, and nothing
// behind the last one. So SplitLines counts them, and every line of this package: also for
// dialects that end lines elsewhere. A byte order mark is part of the first line.
func SplitLines(body []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(line, end []byte) bool) {
		lf, cr := -1, -1 // kept until a line passes them, so that a missing byte is looked for once
		for start := 0; start < len(body); {
			if lf < start {
				lf = next(body, start, '\n')
			}
			if cr < start {
				cr = next(body, start, '\r')
			}
			at := min(lf, cr)
			after := min(at+1, len(body))
			if at == cr && after < len(body) && body[after] == '\n' {
				after++
			}
			if !yield(body[start:at], body[at:after]) {
				return
			}
			start = after
		}
	}
}
