package fetch

import (
	"strings"
	"testing"
)

// What could end a header and begin another, or what the client itself sets, is refused.
func TestIdentitiesAreValidated(t *testing.T) {
	for _, row := range []struct {
		identity Identity
		want     string // of the error, "" for none
	}{
		{Identity{Name: "gptbot", UserAgent: "GPTBot/1.3"}, ""},
		{Identity{Name: "gptbot", UserAgent: "GPTBot/1.3", Headers: []Header{{"From", "a@b.example"},
			{"Accept-Language", "en"}}}, ""},
		{Identity{UserAgent: "x"}, "needs a name"},
		{Identity{Name: "a b", UserAgent: "x"}, "letters, digits"},
		{Identity{Name: strings.Repeat("a", 65), UserAgent: "x"}, "at most 64"},
		{Identity{Name: "a"}, "no user agent"},
		{Identity{Name: "a", UserAgent: "x\r\nHost: y"}, "byte 0xd"},
		{Identity{Name: "a", UserAgent: "é"}, "byte 0xc3"},
		{Identity{Name: "a", UserAgent: "x", Agent: "Ö Bot"}, ""},
		{Identity{Name: "a", UserAgent: "x", Agent: "A\x00"}, "control character"},
		{Identity{Name: "a", UserAgent: "x", Agent: "\xff"}, "not UTF-8"},
		{Identity{Name: "a", UserAgent: "x", Agent: strings.Repeat("a", 257)}, "more than 256 bytes"},
		{Identity{Name: "a", UserAgent: "x", Headers: []Header{{"host", "y"}}}, "Host cannot be set"},
		{Identity{Name: "a", UserAgent: "x", Headers: []Header{{"Accept-Encoding", "gzip"}}}, "cannot be set"},
		{Identity{Name: "a", UserAgent: "x", Headers: []Header{{"proxy-authorization", "y"}}}, "cannot be set"},
		{Identity{Name: "a", UserAgent: "x", Headers: []Header{{"Range", "bytes=0-1"}}}, "cannot be set"},
		{Identity{Name: "a", UserAgent: "x", Headers: []Header{{"A b", "y"}}}, "not the name of a header"},
		{Identity{Name: "a", UserAgent: "x", Headers: []Header{{"A", "y\nB: z"}}}, "byte 0xa"},
		{Identity{Name: "a", UserAgent: "x", Headers: []Header{{"A", "y"}, {"a", "z"}}}, "stands twice"},
		{Identity{Name: "a", UserAgent: "x", Headers: []Header{{"A", strings.Repeat("y", MaxHeaderValue+1)}}}, "longer than"},
	} {
		err := row.identity.Validate()
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v, want %q", row.identity, err, row.want)
		}
	}
}
