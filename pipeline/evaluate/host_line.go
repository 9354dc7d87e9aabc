package evaluate

import (
	"slices"

	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// HostLine says in short what a target answered, for whoever waits for it while the run
// is under way. Its values are those of the tables, under the first profile.
type HostLine struct {
	Seq        int64    `json:"seq"`
	Host       string   `json:"host"`
	Origin     string   `json:"origin"`
	Rank       *int64   `json:"rank"`
	Outcome    string   `json:"outcome"`
	Reason     string   `json:"reason"`
	Status     *int32   `json:"status"`
	ErrorClass *string  `json:"error_class"`
	Challenge  *string  `json:"challenge"` // vendor of the wall that answered: the host is unread
	Bytes      *int64   `json:"bytes"`
	Groups     *int32   `json:"groups"` // null where no file was read, as are the rules
	Rules      *int32   `json:"rules"`
	Closed     []string `json:"closed"` // agents that are shut out; none is an empty list
}

// HostLine returns the line of a target whose capture has its body.
func (e *Evaluator) HostLine(t *target.Target) *HostLine {
	facts := t.Capture.Facts()
	for k := range e.readings {
		if k == e.columns[0].face || slices.Contains(e.columns[0].of, k) {
			e.receive(k, t.Capture, facts, func(r *reading) questions { return questions{judging: r.answer.AsksRules()} })
		}
	}
	row := e.fetchRow(t, &facts)
	l := &HostLine{
		Seq: row.Seq, Host: row.Host, Origin: row.Origin, Rank: row.Rank, Outcome: row.Outcome, Reason: row.Reason,
		Status:     row.Status,
		ErrorClass: row.ErrorClass, Challenge: row.Challenge, Bytes: row.BodyBytes, Closed: []string{},
	}
	if row.HasFile() {
		l.Groups, l.Rules = &row.Groups, &row.Rules
	}
	for i := range e.config.Agents {
		var p schema.Policy
		if _, class := e.policy(&p, &row, 0, i); class == int(robots.DisallowAll) {
			l.Closed = append(l.Closed, p.Agent)
		}
	}
	return l
}
