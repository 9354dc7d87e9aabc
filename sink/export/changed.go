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

// Columns of the views of single changes; of identity_changes also the kind.
var (
	ofIdentities = []string{"host", "origin", "rank", "identity", "agent", "category", "before", "after"}
	ofDocuments  = []string{"host", "origin", "rank", "document", "before", "after"}
	ofStatements = []string{"host", "origin", "rank", "document", "use", "before", "after"}
)
