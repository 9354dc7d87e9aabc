package export

import (
	"cmp"
	"math"
	"slices"

	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// answers is the table of what identities met.
const answers = "answers"

// pageMet is a row of pages_met: columns of answers, and what they mean beside those of the
// other identities.
type pageMet struct {
	Seq       int64   `parquet:"seq"`
	Host      string  `parquet:"host"`
	Rank      *int64  `parquet:"rank"`
	Stratum   string  `parquet:"stratum" rowio:"maybe"`
	CDN       *string `parquet:"cdn" rowio:"maybe"`
	Origin    string  `parquet:"origin"`
	Path      string  `parquet:"path" rowio:"maybe"`
	Identity  string  `parquet:"identity"`
	IsControl bool    `parquet:"is_control"`
	Agent     *string `parquet:"agent"`
	Category  *string `parquet:"category"`
	Paper     *string `parquet:"paper" rowio:"maybe"`
	Verdict   *string `parquet:"verdict" rowio:"maybe"`
	Treatment string  `parquet:"treatment"`
	Remark    *string `parquet:"remark" rowio:"maybe"`
	Status    *int32  `parquet:"status"`
	Challenge *string `parquet:"challenge"`
	Price     *string `parquet:"price" rowio:"maybe"`
	Away      bool    `parquet:"away" rowio:"maybe"`
	Compared  bool    `parquet:"compared" rowio:"maybe"`
	Once      bool    `parquet:"once" rowio:"maybe"`
}

func pagesMet(e *exporter, each func(*pageMet) error) error {
	for _, p := range e.parts {
		networks, err := ofTargets(e, p, func(t *target) *string { return t.CDN })
		if err != nil {
			return err
		}
		var rows []pageMet // of a target
		flush := func() error {
			served, once := false, false
			for i := range rows {
				r := &rows[i]
				served = served || r.IsControl && r.Treatment == string(consent.PageServed)
				once = once || r.IsControl && schema.OrZero(r.Remark) == consent.WhyOnce
			}
			for i := range rows {
				r := &rows[i]
				r.Compared, r.Once = served && r.Treatment != string(consent.PageNotAsked), once
				if err := each(r); err != nil {
					return err
				}
			}
			rows = rows[:0]
			return nil
		}
		err = rowio.Of(e.ctx, e.in, []journal.Part{p}, rowio.Selection{}, func(batch []pageMet) error {
			for _, r := range batch {
				if !schema.IsPage(r.Path) {
					continue
				}
				if len(rows) > 0 && rows[0].Seq != r.Seq {
					if err := flush(); err != nil {
						return err
					}
				}
				r.Stratum, r.Away = summary.StratumOf(r.Rank), consent.Treatment(r.Treatment).TurnsAway()
				if network, known := networks[r.Seq]; known {
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

// practice is a row of paper_and_practice.
type practice struct {
	Identity       string   `parquet:"identity"`
	Agent          *string  `parquet:"agent"`
	Category       *string  `parquet:"category"`
	Paper          *string  `parquet:"paper"`
	Dimension      string   `parquet:"dimension"`
	Value          *string  `parquet:"value"`
	Hosts          int64    `parquet:"hosts"`
	Served         int64    `parquet:"served"`
	ServedOther    int64    `parquet:"served_other"`
	Payment        int64    `parquet:"payment"`
	RateLimited    int64    `parquet:"rate_limited"`
	Challenge      int64    `parquet:"challenge"`
	Refused        int64    `parquet:"refused"`
	RedirectedAway int64    `parquet:"redirected_away"`
	ServerError    int64    `parquet:"server_error"`
	NoAnswer       int64    `parquet:"no_answer"`
	ControlAway    int64    `parquet:"control_away"`
	Percent        *float64 `parquet:"percent"`
	Beyond         *float64 `parquet:"beyond"`
	Low            *float64 `parquet:"low"`
	High           *float64 `parquet:"high"`
}

// practiceKey says which hosts a row of paper_and_practice counts.
type practiceKey struct{ identity, agent, category, paper, dimension, value string }

func paperAndPractice(e *exporter, each func(*practice) error) error {
	sums := make(map[practiceKey]*summary.Practice)
	err := pagesMet(e, func(r *pageMet) error {
		if !r.Compared || r.IsControl {
			return nil
		}
		key := practiceKey{identity: r.Identity, agent: schema.OrZero(r.Agent), category: schema.OrZero(r.Category),
			paper: schema.OrZero(r.Paper), dimension: "all"}
		network := cmp.Or(schema.OrZero(r.CDN), "none")
		for _, of := range [][2]string{{"all"}, {"stratum", r.Stratum}, {"cdn", network}} {
			key.dimension, key.value = of[0], of[1]
			if sums[key] == nil {
				sums[key] = new(summary.Practice)
			}
			sums[key].Add(summary.PracticeKey(r.Identity, false, key.paper, r.Treatment, true, r.Once), 1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return inOrder(sums, func(a, b practiceKey) int {
		return cmp.Or(cmp.Compare(a.identity, b.identity), cmp.Compare(a.agent, b.agent), cmp.Compare(a.category, b.category),
			cmp.Compare(a.paper, b.paper), cmp.Compare(a.dimension, b.dimension), cmp.Compare(a.value, b.value))
	}, func(k practiceKey, p *summary.Practice) error {
		of := func(t consent.Treatment) int64 { return p.By[string(t)] }
		before, after := float64(p.Both+p.Once)/float64(p.Compared()), float64(p.TurnedAway())/float64(p.Compared())
		_, low, high := summary.PairedShares(p.Both, p.Away, p.Once, p.Neither, summary.Normal95)
		return each(&practice{k.identity, schema.NonZero(k.agent), schema.NonZero(k.category), schema.NonZero(k.paper),
			k.dimension, schema.NonZero(k.value), p.Compared(),
			of(consent.PageServed), of(consent.PageServedOther), of(consent.PagePayment), of(consent.PageRateLimited),
			of(consent.PageChallenged), of(consent.PageRefused), of(consent.PageRedirectedAway), of(consent.PageServerError),
			of(consent.PageNoAnswer), p.Both + p.Once,
			tenths(100 * after), tenths(100 * (after - before)), tenths(100 * low), tenths(100 * high)})
	})
}

// away is a row of turned_away.
type away struct {
	Identity        string   `parquet:"identity"`
	IsControl       bool     `parquet:"is_control"`
	Agent           *string  `parquet:"agent"`
	Category        *string  `parquet:"category"`
	LetIn           int64    `parquet:"let_in"`
	TurnedAway      int64    `parquet:"turned_away"`
	Challenged      int64    `parquet:"challenged"`
	ServedOtherwise int64    `parquet:"served_otherwise"`
	Percent         *float64 `parquet:"percent"`
	Beyond          *float64 `parquet:"beyond"`
}

func (r *away) share() float64 { return float64(r.TurnedAway) / float64(r.LetIn) }

// answered selects the columns of answers of which a row of turned_away is made.
var answered = rowio.Selection{Columns: []string{"identity", "is_control", "agent", "category", "path", "same",
	"policy", "treatment", "class"}}

func turnedAway(e *exporter, each func(*away) error) error {
	type key struct {
		control  bool
		identity string
	}
	sums := make(map[key]*away)
	err := rowio.Of(e.ctx, e.in, e.parts, answered, func(batch []schema.Answer) error {
		for i := range batch {
			a := &batch[i]
			if schema.IsPage(a.Path) || a.Class != "allow_all" && a.Class != "partial" {
				continue
			}
			k := key{a.IsControl, a.Identity}
			r := sums[k]
			if r == nil {
				r = &away{Identity: a.Identity, IsControl: a.IsControl, Agent: a.Agent, Category: a.Category}
				sums[k] = r
			}
			r.add(a)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var control *away // the first of them that was let in
	return inOrder(sums, func(a, b key) int {
		if a.control != b.control {
			return map[bool]int{true: -1, false: 1}[a.control]
		}
		return cmp.Compare(a.identity, b.identity)
	}, func(_ key, r *away) error {
		if r.LetIn > 0 {
			r.Percent = tenths(100 * float64(r.TurnedAway) / float64(r.LetIn))
		}
		switch {
		case r.LetIn == 0:
		case !r.IsControl && control != nil:
			r.Beyond = tenths(100 * (r.share() - control.share()))
		case r.IsControl && control == nil:
			control = r
		}
		return each(r)
	})
}

// add counts a host that lets the agent in on paper.
func (r *away) add(a *schema.Answer) {
	of := summary.TreatmentOf(a.Treatment)
	if of == summary.Incomparable {
		return
	}
	r.LetIn++
	if of.IsTurnedAway() {
		r.TurnedAway++
	}
	if of == summary.Challenged {
		r.Challenged++
	}
	if of == summary.Served && a.Same != nil && !*a.Same && a.Policy != "equal" {
		r.ServedOtherwise++
	}
}

// inOrder gives what a map has in an order.
func inOrder[K comparable, V any](of map[K]V, compare func(a, b K) int, each func(K, V) error) error {
	keys := make([]K, 0, len(of))
	for k := range of {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compare)
	for _, k := range keys {
		if err := each(k, of[k]); err != nil {
			return err
		}
	}
	return nil
}

// tenths rounds as the view does.
func tenths(percent float64) *float64 { return new(math.Round(10*percent) / 10) }
