package records

import (
	"context"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/rowio"
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

// besides has the tables by their numbers.
var besides = [NumBeside]beside{
	OfAnswers: besideOf("answers", []string{"seq", "path", "identity", "is_control", "user_agent", "agent", "treatment",
		"policy", "content_digest", "remark"}, encodeAnswers),
	OfCoverage: besideOf("coverage", []string{"seq", "agent", "profile", "class", "listed", "sampled", "allowed",
		"undefined", "rule_line"}, encodeCoverage),
	OfDocuments: besideOf("documents", []string{"seq", "document", "url", "outcome", "content_digest", "remark"},
		encodeDocuments),
	OfStatements: besideOf("preferences", []string{"seq", "scope", "mechanism", "document", "group_agent", "use",
		"preference", "path", "line"}, encodeStatements),
}

// beside reads the rows of the targets of a segment, and those of one target.
type beside struct {
	read   func(context.Context, store.Store, map[string][]journal.Part, *Names) (map[int64]string, error)
	lookUp func(context.Context, *lookup.Run, *lookup.Target, *Names) (string, error)
}

// ReadBesides reads those tables of a segment that are compared.
func ReadBesides(ctx context.Context, in store.Store, parts map[string][]journal.Part, compared [NumBeside]bool,
	names *Names) (all Besides, err error) {
	for i := range besides {
		if compared[i] && err == nil {
			all[i], err = besides[i].read(ctx, in, parts, names)
		}
	}
	return all, err
}

// LookUpBesides looks the rows of one target up.
func LookUpBesides(ctx context.Context, r *lookup.Run, t *lookup.Target, compared [NumBeside]bool,
	names *Names) (of [NumBeside]string, err error) {
	for i := range besides {
		if compared[i] && err == nil {
			of[i], err = besides[i].lookUp(ctx, r, t, names)
		}
	}
	return of, err
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

// besideOf returns a table of rows of type R, of which encode encodes those of a target.
func besideOf[R any](table string, columns []string, encode func([]R, *Names) string) beside {
	read := func(ctx context.Context, in store.Store, parts map[string][]journal.Part,
		names *Names) (map[int64]string, error) {
		out, known := make(map[int64]string), make(map[string]string) // the same rows of many targets once
		err := rowio.Targets(ctx, in, parts[table], rowio.Selection{Columns: columns}, func(seq int64, rows []R) error {
			text := encode(rows, names)
			kept, ok := known[text]
			if !ok {
				kept, known[text] = text, text
			}
			out[seq] = kept
			return nil
		})
		return out, err
	}
	return beside{read, func(ctx context.Context, r *lookup.Run, t *lookup.Target, names *Names) (string, error) {
		rows, err := lookup.Rows[R](ctx, r, table, t)
		if err != nil || len(rows) == 0 {
			return "", err
		}
		return encode(rows, names), nil
	}}
}
