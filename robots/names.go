package robots

import (
	"bytes"

	"github.com/robocensus/robocensus/robots/dialect"
	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// names maps the tokens of agents to the groups that name them, with or without
// regard to case.
type names struct {
	tokens   *tokenTable
	wanted   [][]int   // per agent: numbers of its tokens and fallbacks, in order of preference
	groupsOf [][]int32 // per token: the groups that name it
	touched  []int     // tokens with groups
	byToken  []merged  // per token
}

func newNames(agents []Agent, fold bool) *names {
	n := &names{tokens: newTokenTable(fold), wanted: make([][]int, len(agents))}
	for i, a := range agents {
		for _, t := range a.allTokens() {
			n.wanted[i] = append(n.wanted[i], n.tokens.add(t))
		}
	}
	n.groupsOf = make([][]int32, len(n.tokens.tokens))
	n.byToken = make([]merged, len(n.tokens.tokens))
	return n
}

func (n *names) reset() {
	for _, t := range n.touched {
		n.groupsOf[t], n.byToken[t] = n.groupsOf[t][:0], merged{}
	}
	n.touched = n.touched[:0]
}

// note records a user-agent line under the tokens that it names.
func (n *names) note(a *AgentLine) {
	n.noteToken(a.Token, false, a.Group)
	if len(a.Wide) > len(a.Token) {
		n.noteToken(a.Wide, true, a.Group)
	}
}

func (n *names) noteToken(token []byte, wide bool, group int32) {
	t := n.tokens.find(token, wide)
	if t < 0 {
		return
	}
	if len(n.groupsOf[t]) == 0 {
		n.touched = append(n.touched, t)
	}
	n.groupsOf[t] = dialect.AddGroup(n.groupsOf[t], group)
}

// tokenTable numbers the tokens of agents. With fold, tokens that differ only
// in case are one.
type tokenTable struct {
	fold   bool
	tokens [][]byte
	wide   []bool // has digits or dots: compared with the wide run
	heads  [256]int32
	next   []int32
}

func newTokenTable(fold bool) *tokenTable {
	t := &tokenTable{fold: fold}
	for i := range t.heads {
		t.heads[i] = -1
	}
	return t
}

func tokenHash(b []byte) uint8 {
	n := len(b)
	if n == 0 {
		return 0
	}
	return uint8(n) ^ (b[0]|0x20)*7 ^ (b[n-1]|0x20)*31 ^ (b[n/2]|0x20)*13
}

func (t *tokenTable) equal(a, b []byte) bool {
	if !t.fold {
		return bytes.Equal(a, b)
	}
	return len(a) == len(b) && ascii.EqualFoldBytes(a, b)
}

// find returns the number of a token, or -1.
func (t *tokenTable) find(token []byte, wide bool) int {
	for i := t.heads[tokenHash(token)]; i >= 0; i = t.next[i] {
		if t.wide[i] == wide && t.equal(t.tokens[i], token) {
			return int(i)
		}
	}
	return -1
}

// add returns the number of a token, new or known.
func (t *tokenTable) add(token string) int {
	b := []byte(token)
	narrow, _ := ascii.Tokens(b)
	wide := len(narrow) < len(b)
	if i := t.find(b, wide); i >= 0 {
		return i
	}
	i := int32(len(t.tokens))
	t.tokens, t.wide = append(t.tokens, b), append(t.wide, wide)
	h := tokenHash(b)
	t.next = append(t.next, t.heads[h])
	t.heads[h] = i
	return int(i)
}
