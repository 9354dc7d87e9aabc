package journal

import "slices"

// StoredSource is a kind of source of stored answers: what a run reads in place of asking
// hosts. What else follows from the kind, in any package, follows from its row in
// [StoredSources].
type StoredSource struct {
	Role string // of its inputs
	// Flags are the settings that name such a source; a run has one of those of all kinds.
	Flags []string
	// Value is that of fetches.source, "" for an earlier run, whose values and ranks stay.
	Value string
	// Answers is what a report calls the answers, and Target what messages call one of them.
	Answers, Target string
	// File is what an answer is stored in, "" for a record.
	File string
	// HasCaptures reports whether its answers are captures in archives: a host may have
	// any number of them, and shards do not divide the hosts.
	HasCaptures bool
	// Chooses is what its input is called, if that chooses the hosts as a list does: runs
	// of inputs with other names may have other hosts. It is "" otherwise.
	Chooses string
}

// FromArchive is the value of fetches.source for captures in archives.
const FromArchive = "warc"

// StoredSources is the table of kinds of stored answers.
var StoredSources = []StoredSource{
	{Role: "warc", Flags: []string{"warc", "warc-paths"}, Value: FromArchive, Answers: "answers stored in WARC files",
		Target: "capture", HasCaptures: true},
	{Role: "cdx", Flags: []string{"cdx"}, Value: FromArchive, Answers: "answers stored in WARC files", Target: "capture",
		HasCaptures: true},
	{Role: "bodies", Flags: []string{"bodies"}, Value: "body", Answers: "stored robots.txt files",
		Target: "stored answer", File: "file", Chooses: "folder of files"},
	{Role: "run", Flags: []string{"from-run"}, Answers: "answers stored in an earlier run", Target: "stored answer"},
}

// StoredIn returns the kind of the stored answers that a run with these inputs has read,
// nil if it asked hosts.
func StoredIn(inputs []Input) *StoredSource {
	for _, in := range inputs {
		if s := StoredAs(in.Role); s != nil {
			return s
		}
	}
	return nil
}

// StoredAs returns the kind of stored answers whose inputs have a role, nil for another
// role.
func StoredAs(role string) *StoredSource {
	if i := slices.IndexFunc(StoredSources, func(s StoredSource) bool { return s.Role == role }); i >= 0 {
		return &StoredSources[i]
	}
	return nil
}

// SourceFlags returns the settings that name a source of stored answers, of all kinds or
// of some.
func SourceFlags(of func(StoredSource) bool) (names []string) {
	for _, s := range StoredSources {
		if of == nil || of(s) {
			names = append(names, s.Flags...)
		}
	}
	return names
}
