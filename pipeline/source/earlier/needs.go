package earlier

import (
	"context"
	"slices"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// TablesNeeded returns the tables of a run that are needed to re-evaluate it; its bodies
// may be given.
func TablesNeeded(areGiven bool) []string {
	if areGiven {
		return []string{"fetches"}
	}
	return []string{"fetches", "bodies"}
}

// Missed says what a run that is re-evaluated cannot tell, and that decides nothing else.
type Missed struct {
	OwnURLs   bool     // which URLs only some hosts have
	Answers   bool     // what identities were answered
	Documents int64    // rows of documents, whose bodies no run keeps
	Evidence  string   // the archives that have their bodies, "" for none
	Pages     bool     // which pages the hosts list
	Columns   []string // columns, as table.column, that are shown and counted
}

// Head reads the manifest of the run DIR/_runs/ID without its parts.
func Head(ctx context.Context, folder string) (*journal.Manifest, error) {
	return readBy(ctx, folder, journal.ReadManifestHead)
}

func readBy(ctx context.Context, folder string,
	read func(store.Store, string) (*journal.Manifest, error)) (*journal.Manifest, error) {
	dir, id := runAt(folder)
	in, err := store.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return read(in, id)
}

// MissedBy returns what the run DIR/_runs/ID cannot tell.
func MissedBy(ctx context.Context, folder string) (Missed, error) {
	m, err := readBy(ctx, folder, journal.ReadManifest)
	if err != nil {
		return Missed{}, err
	}
	source := journal.StoredIn(m.Inputs)
	asked := source == nil || source.Value == "" // by the run, or by one that it re-evaluates
	listed := slices.ContainsFunc(m.Choices(), func(c journal.Choice) bool {
		return slices.ContainsFunc(c.Inputs, func(in journal.Input) bool { return in.Role == "hosts" })
	})
	missed := Missed{
		OwnURLs: listed && asked && !m.NamesURLs(), Columns: journal.Shown(m.Without),
		Answers: !m.HasAnswers() && m.RowsOf("answers") > 0,
		Pages:   !m.HasURLs() && m.RowsOf("sitemap_files") > 0, Documents: m.RowsOf("documents"),
	}
	switch {
	case m.KeepsWARC():
		missed.Evidence = "its --warc-out"
	case source != nil && source.Role == "warc":
		missed.Evidence = "the archives that it has read"
	}
	return missed, nil
}
