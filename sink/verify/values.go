package verify

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// values holds the enumerated columns of tables with their values. Another value, but for
// the empty text, is of a file that somebody else wrote, and could stand for anything.
var values = func() map[string]map[string][]string {
	kinds := []string{robots.Allow.String(), robots.Disallow.String()}
	outcomes := texts(robots.Outcomes[:])
	classes := summary.ClassNames[:]
	errors := texts(robots.ErrorClasses[:])
	return map[string]map[string][]string{
		"fetches": {
			"scheme": {"https", "http", "ftp"}, "source": {"network", "cache", "warc", "body"}, "outcome": outcomes,
			"reason": texts(robots.AnswerReasons[:]), "error_class": errors, "fallback_error_class": errors,
		},
		"groups":   {"class": append([]string{summary.ClassEmpty}, classes...)},
		"rules":    {"kind": kinds},
		"lines":    {"class": named[robots.RemarkClass](int(robots.NumRemarkClasses))},
		"policies": {"outcome": outcomes, "match": named[robots.Match](int(robots.OwnGroup) + 1), "class": classes, "versus_star": summary.RelationNames[:], "versus_first": summary.VersusFirstNames[:]},
		"verdicts": {"verdict": summary.ValueNames[:], "reason": named[robots.Reason](int(robots.ReasonRobotsTxt) + 1), "rule_kind": kinds},
	}
}()

func texts[T ~string](values []T) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

// named returns the names of the first n values of a type.
func named[T interface {
	~uint8
	String() string
}](n int) (out []string) {
	for i := range n {
		out = append(out, T(i).String())
	}
	return out
}

// CheckFetch returns an error for a row of fetches with a value that its columns do not
// have.
func CheckFetch(row *sink.Fetch) error {
	for _, c := range []struct {
		column string
		value  *string
	}{
		{"scheme", &row.Scheme}, {"source", &row.Source}, {"outcome", &row.Outcome}, {"reason", &row.Reason},
		{"error_class", row.ErrorClass}, {"fallback_error_class", row.FallbackErrorClass},
	} {
		if c.value != nil && *c.value != "" && !slices.Contains(values["fetches"][c.column], *c.value) {
			return fmt.Errorf("seq %d: %w", row.Seq, unknownValue(c.column, *c.value))
		}
	}
	return nil
}

func unknownValue(column, value string) error {
	return fmt.Errorf("column %s has %.40q, which is none of its values", column, value)
}

// enumerated returns the enumerated columns of a table, to read as dictionaries.
func enumerated(table string) (columns []string) {
	for column := range values[table] {
		columns = append(columns, column)
	}
	return columns
}

// valuesOf returns an error for the first value of a batch that its column does not have.
func valuesOf(table string, batch arrow.RecordBatch) error {
	for k, f := range batch.Schema().Fields() {
		known, ok := values[table][f.Name]
		if !ok {
			continue
		}
		all := batch.Column(k).(*array.Dictionary).Dictionary().(*array.String)
		for i := range all.Len() {
			if all.Value(i) != "" && !slices.Contains(known, all.Value(i)) {
				return unknownValue(f.Name, all.Value(i))
			}
		}
	}
	return nil
}
