package draw

import "github.com/robocensus/robocensus/sink/summary"

// drawnAccess is how a table of words draws those of access in package summary. "" is none.
var drawnAccess = map[string]struct{ class, text string }{
	summary.AccessOpen: {"open", "·"}, summary.AccessPartly: {"partly", "/"}, summary.AccessShutOut: {"closed", "×"},
	summary.AccessUnread: {"unknown", "?"}, "": {"none", ""},
}

// AccessCell returns the cell for a word of access in package summary, with what it is about.
func AccessCell(word, of string) HeatCell {
	d := drawnAccess[word]
	if word == "" {
		return HeatCell{Class: d.class, Tip: of + ": not in this run"}
	}
	return HeatCell{Text: d.text, Class: d.class, Tip: of + ": " + word}
}

// AccessLegend names the colours of these words.
func AccessLegend() (out []Legend) {
	for _, word := range []string{summary.AccessOpen, summary.AccessPartly, summary.AccessShutOut, summary.AccessUnread} {
		d := drawnAccess[word]
		out = append(out, Legend{Class: d.class, Name: word + " (" + d.text + ")"})
	}
	return out
}
