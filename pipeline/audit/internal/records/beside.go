package records

import (
	"context"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// Beside is a table that may differ where the file of a host does not. Its rows of a target
// are a part of the target's row of fetches.
type Beside int

const (
	OfAnswers Beside = iota
	OfCoverage
	OfDocuments
	OfStatements // of these documents
	NumBeside
)

// Besides has the rows of these tables, encoded, by seq; nil for a table that is not compared.
type Besides [NumBeside]map[int64]string

// ReadBesides reads those tables of a segment that are compared.
func ReadBesides(ctx context.Context, in store.Store, parts map[string][]journal.Part, compared [NumBeside]bool,
	names *Names) (all Besides, err error) {
	if compared[OfAnswers] {
		all[OfAnswers], err = readAnswers(ctx, in, parts["answers"])
	}
	if compared[OfCoverage] && err == nil {
		all[OfCoverage], err = readCoverage(ctx, in, parts["coverage"], names)
	}
	if compared[OfDocuments] && err == nil {
		all[OfDocuments], err = readBeside(ctx, in, parts["documents"], documentColumns,
			func(d *schema.Document) int64 { return d.Seq }, encodeDocuments)
	}
	if compared[OfStatements] && err == nil {
		all[OfStatements], err = readBeside(ctx, in, parts["preferences"], statementColumns,
			func(p *schema.Preference) int64 { return p.Seq }, encodeStatements)
	}
	return all, err
}

// LookUpBesides looks the rows of one target up.
func LookUpBesides(ctx context.Context, r *lookup.Run, t *lookup.Target, compared [NumBeside]bool,
	names *Names) (of [NumBeside]string, err error) {
	if compared[OfAnswers] {
		of[OfAnswers], err = lookedUp(ctx, r, "answers", t, encodeAnswers)
	}
	if compared[OfCoverage] && err == nil {
		of[OfCoverage], err = lookedUp(ctx, r, "coverage", t,
			func(rows []schema.Coverage) string { return encodeCoverage(rows, names) })
	}
	if compared[OfDocuments] && err == nil {
		of[OfDocuments], err = lookedUp(ctx, r, "documents", t, encodeDocuments)
	}
	if compared[OfStatements] && err == nil {
		of[OfStatements], err = lookedUp(ctx, r, "preferences", t, encodeStatements)
	}
	return of, err
}

func lookedUp[R any](ctx context.Context, r *lookup.Run, table string, t *lookup.Target,
	encode func([]R) string) (string, error) {
	rows, err := lookup.Rows[R](ctx, r, table, t)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return encode(rows), nil
}

// of returns the rows of a target.
func (all *Besides) of(seq int64) (of [NumBeside]string) {
	for i := range all {
		of[i] = all[i][seq]
	}
	return of
}

// Alike reports whether two rows of fetches have the same rows of a table.
func (f *Fetched) Alike(other *Fetched, table Beside) bool {
	return f.beside[table] == other.beside[table]
}

// readBeside reads the parts of a table of a segment, target by target.
func readBeside[R any](ctx context.Context, in store.Store, parts []journal.Part, columns []string,
	seq func(*R) int64, encode func([]R) string) (map[int64]string, error) {
	out, known := make(map[int64]string), make(map[string]string) // the same rows of many targets once
	var of []R                                                    // of one target
	end := func() {
		if len(of) == 0 {
			return
		}
		text := encode(of)
		kept, ok := known[text]
		if !ok {
			kept, known[text] = text, text
		}
		out[seq(&of[0])], of = kept, of[:0]
	}
	err := rowio.Of(ctx, in, parts, rowio.Selection{Columns: columns}, func(batch []R) error {
		for i := range batch {
			if len(of) > 0 && seq(&of[0]) != seq(&batch[i]) {
				end()
			}
			of = append(of, batch[i])
		}
		return nil
	})
	end()
	return out, err
}
