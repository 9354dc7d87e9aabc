package rewrite

// A Symbol of a path is an escape, or a byte that is in none.
type Symbol struct {
	text  [3]byte
	n     uint8 // 1 or 3
	Guess Guess
}

// A Guess says what follows a symbol.
type Guess uint8

const (
	// AsUsual means that the URL is valid, after the first slash; parameters follow, after a semicolon; a
	// query follows, after a question mark; the rest of a character, after its first byte.
	AsUsual Guess = iota
	// The URL is invalid; a slash follows in the path; the query is empty; the character
	// is broken.
	otherwise
	// The parameters after a semicolon are empty.
	nothing
)

// ByteSymbol returns the symbol of a byte that is in no escape.
func ByteSymbol(c byte) Symbol { return Symbol{text: [3]byte{c}, n: 1} }

// EscapeSymbol returns the escape with the digits c and d.
func EscapeSymbol(c, d byte) Symbol { return Symbol{text: [3]byte{'%', c, d}, n: 3} }

func escapeOf(d byte) Symbol { return EscapeSymbol(HexDigits[d>>4], HexDigits[d&15]) }

// Char returns the byte that the symbol is, or is an escape of.
func (t *Symbol) Char() (c byte, escaped bool) {
	if t.n == 1 {
		return t.text[0], false
	}
	return Unhex(t.text[1])<<4 | Unhex(t.text[2]), true
}

// Is reports whether the symbol is c, and no escape of it.
func (t *Symbol) Is(c byte) bool { return t.n == 1 && t.text[0] == c }

// Len returns the number of bytes of the symbol as it is written.
func (t *Symbol) Len() int { return int(t.n) }

// AppendReversed appends the symbol as it is written, from its end.
func (t *Symbol) AppendReversed(dst []byte) []byte {
	for i := t.n; i > 0; i-- {
		dst = append(dst, t.text[i-1])
	}
	return dst
}

// AppendTo appends the symbol as it is written.
func (t *Symbol) AppendTo(dst []byte) []byte { return append(dst, t.text[:t.n]...) }

// HasUpperDigits reports whether the digits of an escape are in upper case.
func (t *Symbol) HasUpperDigits() bool { return t.text[1] < 'a' && t.text[2] < 'a' }

// Cut returns the symbol at the start of b, which is not empty, and what follows.
func Cut(b []byte) (t Symbol, rest []byte) {
	if IsEscape(b, 0) {
		return EscapeSymbol(b[1], b[2]), b[3:]
	}
	return ByteSymbol(b[0]), b[1:]
}
