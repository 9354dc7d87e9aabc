package registry

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
)

// Sample is a URL to judge: a path, tried on every host, or an absolute URL,
// tried on its own origin only.
type Sample struct {
	URL    string // as given
	Line   int64
	Origin *fetch.Origin // nil for a path
}

// maxSample bounds one line of the list.
const maxSample = 64 << 10

// ParseSamples reads a list of samples (see [EachSample]), each once.
func ParseSamples(path string, text []byte) ([]Sample, error) {
	var out []Sample
	seen := make(map[string]bool)
	err := EachSample(path, bytes.NewReader(text), func(s Sample) error {
		if !seen[s.URL] {
			seen[s.URL] = true
			out = append(out, s)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// EachSample calls each with the samples of a list: one to a line, blank lines and lines
// that start with # skipped. A line that is neither a path nor an absolute URL, or has a tab
// or a CR within, is an error with its line. It returns an error of each unchanged.
func EachSample(path string, in io.Reader, each func(Sample) error) error {
	b := bufio.NewReader(in)
	b.Peek(1)                                                 // Scan returns its error
	head, _ := b.Peek(min(b.Buffered(), userfile.FormatHead)) // without waiting for more
	if err := userfile.FormatOfLines(head); err != nil {
		return &userfile.Error{Path: path, Err: err}
	}
	r := bufio.NewScanner(b)
	r.Buffer(nil, maxSample)
	line := int64(0)
	for r.Scan() {
		line++
		text := r.Text()
		if line == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		given := strings.TrimSpace(text)
		if given == "" || strings.HasPrefix(given, "#") {
			continue
		}
		if strings.Contains(given, "\t") {
			return &userfile.Error{Path: path, Line: line, Err: fmt.Errorf("%q has a tab, as lines of several columns "+
				"have; give a file with the URLs alone, such as that of: cut -f 1", fetch.Clip(given))}
		}
		if strings.Contains(given, "\r") {
			return &userfile.Error{Path: path, Line: line, Err: fmt.Errorf("%q has a CR within, which ends lines of old "+
				"Macs; convert it: tr '\\r' '\\n'", fetch.Clip(given))}
		}
		s := Sample{URL: given, Line: line}
		if !strings.HasPrefix(given, "/") {
			if !strings.Contains(given, "://") {
				return &userfile.Error{Path: path, Line: line,
					Err: fmt.Errorf("%q is neither a path that starts with / nor an absolute URL", fetch.Clip(given))}
			}
			o, _, err := fetch.Parse(given, "")
			if err != nil {
				return &userfile.Error{Path: path, Line: line, Err: err}
			}
			s.Origin = &o
		}
		if err := each(s); err != nil {
			return err
		}
	}
	err := r.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("is longer than %d bytes", maxSample)
	}
	if err != nil {
		return &userfile.Error{Path: path, Line: line + 1, Err: err}
	}
	return nil
}
