package export

import (
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

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
	m, _ := summary.MoveOf(c)
	r.Closed, r.ShutOut = r.Closed || m.Closes, r.ShutOut || m.ShutOut
	r.Opened, r.LetIn = r.Opened || m.Opens, r.LetIn || m.LetsIn
	r.Undecided = r.Undecided && m.Undecided
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
	return [2]string{begun.Profile, begun.Use}, begun, c.Kind == "preference" && c.Document == nil
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

// identityChange is a row of identity_changes: columns of changes, and what they mean.
type identityChange struct {
	Kind       string  `parquet:"kind"`
	Host       string  `parquet:"host"`
	Origin     string  `parquet:"origin"`
	Rank       *int64  `parquet:"rank"`
	Identity   *string `parquet:"identity"`
	Agent      *string `parquet:"agent"`
	Category   *string `parquet:"category"`
	Before     *string `parquet:"before"`
	After      *string `parquet:"after"`
	TurnedAway bool    `parquet:"turned_away" rowio:"maybe"`
	LetIn      bool    `parquet:"let_in" rowio:"maybe"`
	Otherwise  bool    `parquet:"otherwise" rowio:"maybe"`
	Undecided  bool    `parquet:"undecided" rowio:"maybe"`
}

func (r *identityChange) judge() (kind string) {
	turn := summary.TurnOf(schema.OrZero(r.Before), schema.OrZero(r.After))
	r.TurnedAway, r.LetIn = turn == summary.NewlyAway, turn == summary.NewlyLetIn
	r.Otherwise, r.Undecided = turn == summary.Otherwise, turn == summary.TurnUndecided
	return r.Kind
}

// documentChange is a row of document_changes.
type documentChange struct {
	Kind      string  `parquet:"kind"`
	Host      string  `parquet:"host"`
	Origin    string  `parquet:"origin"`
	Rank      *int64  `parquet:"rank"`
	Document  *string `parquet:"document" rowio:"maybe"`
	Before    *string `parquet:"before"`
	After     *string `parquet:"after"`
	Came      bool    `parquet:"came" rowio:"maybe"`
	Gone      bool    `parquet:"gone" rowio:"maybe"`
	Reworded  bool    `parquet:"reworded" rowio:"maybe"`
	Otherwise bool    `parquet:"otherwise" rowio:"maybe"`
}

func (r *documentChange) judge() (kind string) {
	const present = "present"
	before, after := schema.OrZero(r.Before), schema.OrZero(r.After)
	r.Came, r.Reworded = after == present, after == "other_text"
	r.Gone = before == present && !r.Came && !r.Reworded
	r.Otherwise = before != present && after != present
	return r.Kind
}

// statementChange is a row of statement_changes.
type statementChange struct {
	Kind      string  `parquet:"kind"`
	Host      string  `parquet:"host"`
	Origin    string  `parquet:"origin"`
	Rank      *int64  `parquet:"rank"`
	Document  *string `parquet:"document" rowio:"maybe"`
	Use       *string `parquet:"use"`
	Before    *string `parquet:"before"`
	After     *string `parquet:"after"`
	Refuses   bool    `parquet:"refuses" rowio:"maybe"`
	Permits   bool    `parquet:"permits" rowio:"maybe"`
	Prices    bool    `parquet:"prices" rowio:"maybe"`
	Depends   bool    `parquet:"depends" rowio:"maybe"`
	Ends      bool    `parquet:"ends" rowio:"maybe"`
	Undecided bool    `parquet:"undecided" rowio:"maybe"`
}

func (r *statementChange) judge() (kind string) {
	if r.Document == nil { // a statement of robots.txt
		return ""
	}
	after := schema.OrZero(r.After)
	r.Refuses, r.Permits, r.Prices = after == "disallow", after == "allow", after == "priced"
	r.Depends, r.Undecided, r.Ends = after == "partial", after == "undecided", r.After == nil
	return r.Kind
}
