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
	OwnURLs bool     // which URLs only some hosts have
	Columns []string // columns, as table.column, that are shown and counted
}

// Head reads the manifest of the run DIR/_runs/ID without its parts.
func Head(ctx context.Context, folder string) (*journal.Manifest, error) {
	dir, id := runAt(folder)
	in, err := store.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return journal.ReadManifestHead(in, id)
}

// MissedBy returns what a run cannot tell.
func MissedBy(m *journal.Manifest) Missed {
	source := journal.StoredIn(m.Inputs)
	asked := source == nil || source.Value == "" // by the run, or by one that it re-evaluates
	listed := slices.ContainsFunc(m.Choices(), func(c journal.Choice) bool {
		return slices.ContainsFunc(c.Inputs, func(in journal.Input) bool { return in.Role == "hosts" })
	})
	return Missed{OwnURLs: listed && asked && !m.NamesURLs(), Columns: journal.Shown(m.Without)}
}
