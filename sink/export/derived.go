package export

import (
	"maps"
	"reflect"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// A derived view has rows of its own, made of those of a table. Configs/changes.sql and
// configs/series.sql say the same in SQL; of the columns of theirs, run and against are left out.
type derived struct {
	table string
	row   reflect.Type
	rows  func(e *exporter, each func(row unsafe.Pointer) error) error
}

// derivedViews are those that can be made host by host, so that memory does not grow with the run.
var derivedViews = map[string]*derived{
	"policy_changes":     derivedFrom(layout.Changes, grouped(policyKeyOf, (*policyChange).add)),
	"preference_changes": derivedFrom(layout.Changes, grouped(preferenceKeyOf, (*preferenceChange).add)),
	"answer_changes":     derivedFrom(layout.Changes, answerChanges),
	"pages_met":          derivedFrom("answers", pagesMet),
}

// Derived returns the names of views whose rows are not those of a table, and that can be exported.
func Derived() []string { return append(slices.Sorted(maps.Keys(derivedViews)), latest) }

func derivedFrom[R any](table string, rows func(*exporter, func(*R) error) error) *derived {
	return &derived{table, reflect.TypeFor[R](), func(e *exporter, each func(unsafe.Pointer) error) error {
		return rows(e, func(row *R) error { return each(unsafe.Pointer(row)) })
	}}
}

func (e *exporter) ofDerived(d *derived) error {
	columns := arrow.NewSchema(fieldsOf(d.row), nil)
	if err := e.check(columns, &view{}); err != nil {
		return err
	}
	if err := e.begin(columns, &view{}); err != nil {
		return err
	}
	b := &batchBuilder{rows: array.NewRecordBuilder(memory.DefaultAllocator, columns), each: e.write}
	defer b.rows.Release()
	for i := range d.row.NumField() {
		b.columns = append(b.columns, cells{d.row.Field(i).Offset, b.adder(b.rows.Field(i), d.row.Field(i).Type)})
	}
	if err := d.rows(e, b.add); err != nil {
		return err
	}
	return b.flush()
}

// grouped makes a row of the changes of a host that have the same key, in their order. The
// changes of a host stand together.
func grouped[K comparable, R any](
	key func(*schema.Change) (K, R, bool), add func(*R, *schema.Change),
) func(*exporter, func(*R) error) error {
	return func(e *exporter, each func(*R) error) error {
		var origin [2]string
		var rows []*R
		index := make(map[K]*R)
		flush := func() error {
			for _, row := range rows {
				if err := each(row); err != nil {
					return err
				}
			}
			rows = rows[:0]
			clear(index)
			return nil
		}
		err := rowio.Of(e.ctx, e.in, e.parts, rowio.Selection{}, func(batch []schema.Change) error {
			for i := range batch {
				c := &batch[i]
				if at := [2]string{c.Host, c.Origin}; at != origin {
					if err := flush(); err != nil {
						return err
					}
					origin = at
				}
				k, begun, ok := key(c)
				if !ok {
					continue
				}
				row := index[k]
				if row == nil {
					row = &begun
					index[k], rows = row, append(rows, row)
				}
				add(row, c)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return flush()
	}
}

// policyChange is a row of policy_changes.
type policyChange struct {
	Host      string  `parquet:"host"`
	Origin    string  `parquet:"origin"`
	Rank      *int64  `parquet:"rank"`
	Agent     string  `parquet:"agent"`
	Category  string  `parquet:"category"`
	Profile   string  `parquet:"profile"`
	Closed    bool    `parquet:"closed"`
	ShutOut   bool    `parquet:"shut_out"`
	Opened    bool    `parquet:"opened"`
	LetIn     bool    `parquet:"let_in"`
	Undecided bool    `parquet:"undecided"`
	Template  *string `parquet:"template"`
}

func policyKeyOf(c *schema.Change) (key [2]string, begun policyChange, ok bool) {
	if c.Kind != "policy_class" && c.Kind != "rules" || c.Category == nil || c.Agent == nil {
		return key, begun, false
	}
	begun = policyChange{Host: c.Host, Origin: c.Origin, Rank: c.Rank, Agent: *c.Agent, Category: *c.Category,
		Profile: schema.OrZero(c.Profile), Undecided: true}
	return [2]string{begun.Agent, begun.Profile}, begun, true
}

func (r *policyChange) add(c *schema.Change) {
	before, after := schema.OrZero(c.Before), schema.OrZero(c.After)
	isClass := c.Kind == "policy_class"
	r.Closed = r.Closed || before == "allow_all" || slices.Contains([]string{"closes", "both", "disallow_all"}, after)
	r.ShutOut = r.ShutOut || isClass && after == "disallow_all"
	r.Opened = r.Opened || before == "disallow_all" || slices.Contains([]string{"opens", "both", "allow_all"}, after)
	r.LetIn = r.LetIn || isClass && before == "disallow_all"
	r.Undecided = r.Undecided && after == "undecided"
	if r.Template == nil {
		r.Template = c.Template
	}
}

// preferenceChange is a row of preference_changes.
type preferenceChange struct {
	Host      string `parquet:"host"`
	Origin    string `parquet:"origin"`
	Rank      *int64 `parquet:"rank"`
	Profile   string `parquet:"profile"`
	Use       string `parquet:"use"`
	Agents    int64  `parquet:"agents"`
	Refuses   bool   `parquet:"refuses"`
	Permits   bool   `parquet:"permits"`
	Depends   bool   `parquet:"depends"`
	Ends      bool   `parquet:"ends"`
	Undecided bool   `parquet:"undecided"`
	Template  bool   `parquet:"template"`
}

func preferenceKeyOf(c *schema.Change) (key [2]string, begun preferenceChange, ok bool) {
	begun = preferenceChange{Host: c.Host, Origin: c.Origin, Rank: c.Rank, Profile: schema.OrZero(c.Profile),
		Use: schema.OrZero(c.Use), Template: true}
	return [2]string{begun.Profile, begun.Use}, begun, c.Kind == "preference"
}

func (r *preferenceChange) add(c *schema.Change) {
	r.Agents++
	if c.After == nil {
		r.Ends = true
	} else {
		r.Refuses = r.Refuses || *c.After == "disallow"
		r.Permits = r.Permits || *c.After == "allow"
		r.Depends = r.Depends || *c.After == "partial"
		r.Undecided = r.Undecided || *c.After == "undecided"
	}
	r.Template = r.Template && c.Template != nil
}

// answerChange is a row of answer_changes.
type answerChange struct {
	Host       string  `parquet:"host"`
	Origin     string  `parquet:"origin"`
	Rank       *int64  `parquet:"rank"`
	Identity   *string `parquet:"identity"`
	Agent      *string `parquet:"agent"`
	Category   *string `parquet:"category"`
	Before     *string `parquet:"before"`
	After      *string `parquet:"after"`
	TurnedAway bool    `parquet:"turned_away"`
	LetIn      bool    `parquet:"let_in"`
	Otherwise  bool    `parquet:"otherwise"`
	Undecided  bool    `parquet:"undecided"`
}

func answerChanges(e *exporter, each func(*answerChange) error) error {
	isAway := func(state string) bool {
		return slices.Contains([]string{"challenged", "rate_limited", "payment", "refused"}, state)
	}
	isOpen := func(state string) bool { return slices.Contains([]string{"failing", "unreached", "undecided"}, state) }
	return rowio.Of(e.ctx, e.in, e.parts, rowio.Selection{}, func(batch []schema.Change) error {
		for i := range batch {
			c := &batch[i]
			if c.Kind != "answer" {
				continue
			}
			before, after := schema.OrZero(c.Before), schema.OrZero(c.After)
			certain := !isOpen(before) && !isOpen(after)
			err := each(&answerChange{c.Host, c.Origin, c.Rank, c.Identity, c.Agent, c.Category, c.Before, c.After,
				certain && isAway(after) && !isAway(before), certain && isAway(before) && !isAway(after),
				certain && isAway(before) == isAway(after), !certain})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// pageMet is a row of pages_met.
type pageMet struct {
	Seq       int64   `parquet:"seq"`
	Host      string  `parquet:"host"`
	Rank      *int64  `parquet:"rank"`
	Stratum   string  `parquet:"stratum"`
	CDN       *string `parquet:"cdn"`
	Origin    string  `parquet:"origin"`
	Path      string  `parquet:"path"`
	Identity  string  `parquet:"identity"`
	IsControl bool    `parquet:"is_control"`
	Agent     *string `parquet:"agent"`
	Category  *string `parquet:"category"`
	Paper     *string `parquet:"paper"`
	Verdict   *string `parquet:"verdict"`
	Treatment string  `parquet:"treatment"`
	Remark    *string `parquet:"remark"`
	Status    *int32  `parquet:"status"`
	Challenge *string `parquet:"challenge"`
	Price     *string `parquet:"price"`
	Away      bool    `parquet:"away"`
	Compared  bool    `parquet:"compared"`
	Once      bool    `parquet:"once"`
}

func pagesMet(e *exporter, each func(*pageMet) error) error {
	for _, p := range e.parts {
		networks, err := ofTargets(e, p, func(t *target) *string { return t.CDN })
		if err != nil {
			return err
		}
		var rows []*pageMet // of a target
		flush := func() error {
			served, once := false, false
			for _, r := range rows {
				served = served || r.IsControl && r.Treatment == "served"
				once = once || r.IsControl && schema.OrZero(r.Remark) == "once"
			}
			for _, r := range rows {
				r.Compared, r.Once = served && r.Treatment != "not_asked", once
				if err := each(r); err != nil {
					return err
				}
			}
			rows = rows[:0]
			return nil
		}
		err = rowio.Of(e.ctx, e.in, []journal.Part{p}, rowio.Selection{}, func(batch []schema.Answer) error {
			for i := range batch {
				a := &batch[i]
				if !a.IsPage() {
					continue
				}
				if len(rows) > 0 && rows[0].Seq != a.Seq {
					if err := flush(); err != nil {
						return err
					}
				}
				r := &pageMet{Seq: a.Seq, Host: a.Host, Rank: a.Rank, Stratum: summary.StratumOf(a.Rank), Origin: a.Origin,
					Path: a.Path, Identity: a.Identity, IsControl: a.IsControl, Agent: a.Agent, Category: a.Category,
					Paper: a.Paper, Verdict: a.Verdict, Treatment: a.Treatment, Remark: a.Remark, Status: a.Status,
					Challenge: a.Challenge, Price: a.Price,
					Away: !slices.Contains([]string{"served", "served_other", "not_asked"}, a.Treatment)}
				if network, known := networks[a.Seq]; known {
					r.CDN = &network
				}
				rows = append(rows, r)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := flush(); err != nil {
			return err
		}
	}
	return nil
}
