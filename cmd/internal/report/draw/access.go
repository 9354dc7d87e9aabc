package draw

import "github.com/robocensus/robocensus/sink/access"

// drawnAccess is how a table of words draws those of package access. "" is none.
var drawnAccess = map[string]struct{ class, text string }{
	access.Open: {"open", "·"}, access.Partly: {"partly", "/"}, access.ShutOut: {"closed", "×"},
	access.Unread: {"unknown", "?"}, "": {"none", ""},
}

// AccessCell returns the cell for a word of package access, with what it is about.
func AccessCell(word, of string) HeatCell {
	d := drawnAccess[word]
	if word == "" {
		return HeatCell{Class: d.class, Tip: of + ": not in this run"}
	}
	return HeatCell{Text: d.text, Class: d.class, Tip: of + ": " + word}
}

// AccessLegend names the colours of these words.
func AccessLegend() (out []Legend) {
	for _, word := range []string{access.Open, access.Partly, access.ShutOut, access.Unread} {
		d := drawnAccess[word]
		out = append(out, Legend{Class: d.class, Name: word + " (" + d.text + ")"})
	}
	return out
}
