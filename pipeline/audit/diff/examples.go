package diff

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
)

// Example is one change of a host, standing for all of its changes that are
// alike.
type Example struct {
	schema.Change
	More  int64 `parquet:"more" json:"more"`   // further rows of the host that are alike
	Hosts int64 `parquet:"hosts" json:"hosts"` // hosts that changed in the same way, with this one

	way uint64 // its hash, 0 if hosts do not share the change
}

func (e Example) MarshalJSON() ([]byte, error) {
	return schema.JSON(e,
		"host, origin, rank, kind, severity, agent, category, profile, url, before, after, line_before, "+
			"line_after, before_run, use, identity, document, template, more, hosts")
}

// MaxExamples bounds each list of examples.
const MaxExamples = 10

// An exampleSet holds an example for each sort of change on one host.
type exampleSet map[exampleKey]*Example

// exampleKey is the same for changes that are alike.
type exampleKey struct{ severity, kind, use, document, before, after string }

func (s exampleSet) add(row *schema.Change) {
	key := exampleKey{severity: row.Severity, kind: row.Kind, use: schema.OrZero(row.Use),
		document: schema.OrZero(row.Document)}
	switch row.Kind {
	case "policy_class", "verdict", "preference", "answer", "page", "document", "coverage":
		key.before, key.after = schema.OrZero(row.Before), schema.OrZero(row.After)
	case "rules":
		key.after = schema.OrZero(row.After)
	}
	if e := s[key]; e != nil {
		e.More++
		return
	}
	s[key] = &Example{Change: *row}
}

// worst returns the weightiest example: of equal ones, the first by kind, and then the
// one with most changes that are alike. It returns nil for an empty set.
func (s exampleSet) worst() *Example {
	if len(s) == 0 {
		return nil
	}
	return slices.MinFunc(slices.Collect(maps.Values(s)), func(a, b *Example) int {
		return cmp.Or(byWeight(a, b), cmp.Compare(slices.Index(change.Kinds, a.Kind), slices.Index(change.Kinds, b.Kind)),
			cmp.Compare(b.More, a.More),
			strings.Compare(schema.OrZero(a.Before)+" "+schema.OrZero(a.After), schema.OrZero(b.Before)+
				" "+schema.OrZero(b.After)))
	})
}

// byWeight orders examples, the most severe first, and of equal ones those first in which what was
// said about the training of models is reversed.
func byWeight(a, b *Example) int {
	weight := func(e *Example) int {
		at := 2 * slices.Index(change.Severities, e.Severity)
		if !e.reversesTraining() {
			at++
		}
		return at
	}
	return cmp.Compare(weight(a), weight(b))
}

// reversesTraining reports whether the training of models was permitted and is no longer, or was
// not and is.
func (e *Example) reversesTraining() bool {
	if e.Kind != "preference" || schema.OrZero(e.Use) != usage.AITrain.String() || e.Before == nil || e.After == nil {
		return false
	}
	permits := usage.Allows.String()
	isFirm := func(s string) bool { return s == permits || s == usage.Refuses.String() || s == usage.Priced.String() }
	return isFirm(*e.Before) && isFirm(*e.After) && (*e.Before == permits) != (*e.After == permits)
}
