package publish

import "testing"

// A name of a file, an agent or a run acts neither in Markdown nor on a terminal.
func TestCellsOfTheSheet(t *testing.T) {
	for text, want := range map[string]string{
		"a.csv": "`a.csv`", "a`|<b>": "`a'/‹b›`", "\x1b]0;x\a": "`\\u001b]0;x\\u0007`", "a\r\nb": "`a\\u000d\\u000ab`",
		"a\u202eb": "`a\\u202eb`",
	} {
		if got := cell(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
