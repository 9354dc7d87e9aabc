package fetch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Partial returns why the body of a 206 with this Content-Range is not the
// whole file, or nil if it is as good. full reports whether the body reaches
// the limit, and beyond whether the file may be longer.
func Partial(contentRange string, full bool) (beyond bool, err error) {
	// RFC 9110 section 14.4: bytes FIRST-LAST/LENGTH, with * for an unknown
	// length.
	unit, rest, _ := strings.Cut(trimSpace(contentRange), " ")
	span, length, ok := strings.Cut(trimSpace(rest), "/")
	first, last, isSpan := strings.Cut(span, "-")
	from, err1 := strconv.ParseUint(trimSpace(first), 10, 63)
	to, err2 := strconv.ParseUint(trimSpace(last), 10, 63)
	switch {
	case contentRange == "":
		return false, errors.New("a 206 without Content-Range")
	case !strings.EqualFold(unit, "bytes") || !ok || !isSpan || err1 != nil || err2 != nil:
		return false, fmt.Errorf("a 206 with an impossible Content-Range %q", Clip(contentRange))
	case from != 0:
		return false, fmt.Errorf("a 206 that begins at byte %d", from)
	}
	size, err := strconv.ParseUint(trimSpace(length), 10, 63)
	if beyond = err != nil || to+1 != size; beyond && !full {
		return true, fmt.Errorf("a 206 that ends at byte %d of %q", to, Clip(length))
	}
	return beyond, nil
}

// trimSpace removes optional white space (RFC 9110 section 5.6.3).
func trimSpace(s string) string { return strings.Trim(s, " \t") }
