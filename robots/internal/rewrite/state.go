package rewrite

// A State is what a rewriter has read of a path.
type State struct {
	part part
	dots uint8 // of the segment: 1 for ".", 2 for "..", 3 for any other beginning
	one  bool  // only the first slash
	utf8 sequence
}

// Pack returns the state as two numbers, of which [Unpack] makes it again.
func (s *State) Pack() (x, y int32) {
	bit := func(b bool) int32 {
		if b {
			return 1
		}
		return 0
	}
	return int32(s.part) | int32(s.dots)<<4 | bit(s.one)<<6 | int32(s.utf8.need)<<8 | bit(s.utf8.broken)<<10,
		int32(s.utf8.low) | int32(s.utf8.high)<<8
}

// Unpack returns the state that Pack returned as two numbers.
func Unpack(x, y int32) State {
	return State{
		part: part(x & 0xF), dots: uint8(x >> 4 & 3), one: x>>6&1 != 0,
		utf8: sequence{need: uint8(x >> 8 & 3), broken: x>>10&1 != 0, low: byte(y), high: byte(y >> 8)},
	}
}

// InCharacter reports whether a character has begun that has further bytes.
func (s *State) InCharacter() bool { return s.utf8.need > 0 }

// ForgetCharacter makes s the state in which no character has begun.
func (s *State) ForgetCharacter() { s.utf8 = sequence{} }

type part uint8

const (
	atStart part = iota
	inPath
	beforeSlash // in the path, and a slash is to follow
	atParams    // before the first byte of the parameters
	inParams
	afterParams // where a query may follow, and nothing else
	atQuery     // before the first byte of the query
	inQuery
	ignoring      // in the query, which is not compared
	ended         // where nothing may follow
	refusing      // in the path of a URL that is to prove invalid
	refusingQuery // in its query
	refused       // the URL is invalid
	atFragment    // before the first byte of what follows an escaped #
	inFragment
	afterQuery // behind an empty query, where a fragment may follow
)

// ends reports whether a path may end here, dots aside.
func (s *State) ends() bool {
	if s.utf8.need > 0 && !s.utf8.broken {
		return false
	}
	switch s.part {
	case atStart, beforeSlash, atParams, atQuery, atFragment, refusing, refusingQuery:
		return false
	}
	return true
}

func (s *State) query() bool {
	return s.part >= atQuery && s.part <= ended || s.part == refusingQuery
}
