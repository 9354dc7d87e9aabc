package robots

// A Policy is the part of a file that applies to one agent: [Judge.Policy] returns it.
type Policy struct {
	// GroupAgent is the token whose group the agent follows, "*", or empty for
	// no group. If the profile compares substrings, it is the agent's first
	// token.
	GroupAgent string
	// Match says how the agent got that group.
	Match Match
	// GroupLine is the first user-agent line of the first group that the agent
	// follows; 0 for no group.
	GroupLine int32
	// CrawlDelay is the crawl-delay for the agent, in seconds: see [DelayScope].
	CrawlDelay    float64
	HasCrawlDelay bool
	// SameAs is the index of the first agent in the judge's list whose policy
	// has the same rules: its class and verdicts are the same.
	SameAs int

	judge *Judge
	// sets holds the rules: more than one set if the profile leaves open which
	// are valid. A nil entry means no group.
	sets   []*ruleset
	groups []int32
}

// Match says how an agent got its group.
type Match uint8

const (
	NoGroup       Match = iota // no group applies to the agent
	StarGroup                  // the group for all crawlers
	FallbackGroup              // a group that names one of Agent.FallsBackTo
	OwnGroup                   // a group that names one of Agent.Tokens
)

func (m Match) String() string { return [...]string{"none", "star", "fallback", "own"}[m] }

// Groups returns the groups that the agent follows, as indices of File.Groups, ascending:
// those from which GroupAgent and GroupLine are. Where a profile leaves open which they
// are, they are those of its first reading.
func (p *Policy) Groups() []int32 { return p.groups }

// NumRules returns the number of compiled rules with which a verdict may have to compare a
// path: its cost.
func (p *Policy) NumRules() (n int) {
	for _, rs := range p.sets {
		for ; rs != nil; rs = rs.twin {
			n += len(rs.literals) + len(rs.wilds)
		}
	}
	return n
}
