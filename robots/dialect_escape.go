package robots

import (
	"bytes"
	"github.com/robocensus/robocensus/robots/internal/ascii"
	"strings"
	"unicode/utf8"
)

// requotePattern returns a pattern as the dialect compares it. Its stars, and a $ that
// counts, stay.
func (p *Profile) requotePattern(b []byte) []byte {
	switch p.Requote {
	case RequotePath:
		return requotePathOfPattern(b)
	case RequoteQuery:
		keep := ""
		if p.Wildcards {
			keep = "*$"
		}
		return requoteQuery(b, keep)
	case RequoteUnreserved:
		return escapeUnfit(decodeUnreserved(b), "")
	case RequoteUnfit:
		return encodeURI(b)
	case RequoteValid:
		return requoteValid(b)
	case RequotePlain:
		return decodePlain(b)
	}
	return b
}

// requoteURL does the same with the path and query of a URL, after what else the dialect
// does to it.
func (p *Profile) requoteURL(b []byte) []byte {
	if p.InvalidIsRoot && hasInvalid(b) {
		return []byte("/")
	}
	path, query, hasQuery := bytes.Cut(b, []byte("?"))
	switch p.Compared {
	case ComparedPath:
		b, hasQuery = path, false
	case ComparedWHATWG:
		b = whatwgPath(path)
		if hasQuery {
			b = append(append(b, '?'), whatwgEncode(query, " \"#<>'")...)
		}
	}
	if p.EmptyQueryLost && hasQuery && len(query) == 0 {
		b = b[:len(b)-1]
	}
	if p.DoubleSlash && bytes.HasPrefix(b, []byte("//")) {
		b = append([]byte("//"), b...)
	}
	switch p.Requote {
	case RequotePath:
		return requotePathOfURL(b)
	case RequoteQuery:
		return requoteQuery(b, "")
	case RequoteUnreserved:
		return escapeUnfit(decodeUnreserved(b), "*$")
	case RequoteUnfit:
		return upperEscapes(b)
	case RequoteValid:
		return requoteValid(b)
	case RequotePlain:
		return decodePlain(b)
	}
	return b
}

// decodeBut decodes escapes, but for those of the characters in keep, whose hex digits
// become upper case. Bytes that are then not UTF-8 become U+FFFD.
func decodeBut(b []byte, keep string) []byte {
	if bytes.IndexByte(b, '%') < 0 {
		return b
	}
	var out []byte
	for i := 0; i < len(b); i++ {
		if !isEscape(b, i) {
			out = append(out, b[i])
			continue
		}
		if d := unhex(b[i+1])<<4 | unhex(b[i+2]); strings.IndexByte(keep, d) >= 0 && d < 0x80 {
			out = appendEscape(out, d)
		} else {
			out = append(out, d)
		}
		i += 2
	}
	if utf8.Valid(out) {
		return out
	}
	return bytes.ToValidUTF8(out, []byte("\uFFFD"))
}

// quote escapes all but unreserved characters and those in safe.
func quote(b []byte, safe string) []byte {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if isUnreserved(c) || strings.IndexByte(safe, c) >= 0 {
			out = append(out, c)
		} else {
			out = appendEscape(out, c)
		}
	}
	return out
}

// splitParams splits off the parameters of the last segment, then the query.
func splitParams(b []byte) (path, params, query []byte) {
	path, query, _ = bytes.Cut(b, []byte("?"))
	slash := bytes.LastIndexByte(path, '/') + 1
	if i := bytes.IndexByte(path[slash:], ';'); i >= 0 {
		return path[:slash+i], path[slash+i+1:], query
	}
	return path, nil, query
}

// joinParams joins what splitParams splits. What is empty leaves no mark.
func joinParams(path, params, query []byte) []byte {
	if len(params) > 0 {
		path = append(append(path, ';'), params...)
	}
	if len(query) > 0 {
		path = append(append(path, '?'), query...)
	}
	return path
}

func requotePathOfURL(b []byte) []byte {
	path, params, query := splitParams(b)
	return joinParams(quote(decodeBut(path, "/%"), "/%"), params, query)
}

// requotePathOfPattern does the same with a pattern. A last ?, ; or $ ends the path, even
// if a query follows.
func requotePathOfPattern(b []byte) []byte {
	if ascii.HasPrefixFold(b, "https://") || ascii.HasPrefixFold(b, "http://") {
		b = append([]byte("/"), b...)
	}
	var last []byte
	if n := len(b); n > 0 && strings.IndexByte("?;$", b[n-1]) >= 0 {
		b, last = b[:n-1], b[n-1:]
	}
	path, params, query := splitParams(b)
	return joinParams(append(quote(decodeBut(path, "/*$%"), "/*%="), last...), params, query)
}

// requoteQuery decodes and encodes again the path, and each part of the query between =
// and &. Characters in keep stay.
func requoteQuery(b []byte, keep string) []byte {
	path, query, hasQuery := bytes.Cut(b, []byte("?"))
	out := requoteBetween(nil, path, keep)
	if hasQuery {
		out = requoteBetween(append(out, '?'), query, keep+"=&")
	}
	return out
}

func requoteBetween(dst, b []byte, marks string) []byte {
	for len(b) > 0 {
		n := bytes.IndexAny(b, marks)
		if n < 0 || marks == "" {
			n = len(b)
		}
		dst = append(dst, quote(decodeAll(b[:n]), "/")...)
		if n < len(b) {
			dst = append(dst, b[n])
			n++
		}
		b = b[n:]
	}
	return dst
}

// decodeAll decodes all escapes.
func decodeAll(b []byte) []byte {
	if bytes.IndexByte(b, '%') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if isEscape(b, i) {
			out = append(out, unhex(b[i+1])<<4|unhex(b[i+2]))
			i += 2
		} else {
			out = append(out, b[i])
		}
	}
	return out
}

// decodeUnreserved decodes escapes of unreserved characters, and puts others in upper
// case.
func decodeUnreserved(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if !isEscape(b, i) {
			out = append(out, b[i])
			continue
		}
		if d := unhex(b[i+1])<<4 | unhex(b[i+2]); isUnreserved(d) {
			out = append(out, d)
		} else {
			out = appendEscape(out, d)
		}
		i += 2
	}
	return out
}

// escapeUnfit escapes what no URL can hold, and the characters in more.
func escapeUnfit(b []byte, more string) []byte {
	out := make([]byte, 0, len(b))
	for i, c := range b {
		switch {
		case c <= ' ' || c >= 0x7F || strings.IndexByte("\"#<>[]^`{|}", c) >= 0, strings.IndexByte(more, c) >= 0, c == '%' && !isEscape(b, i):
			out = appendEscape(out, c)
		default:
			out = append(out, c)
		}
	}
	return out
}

// hasInvalid reports whether a path has what Java's parser of URLs refuses: characters
// that no URL can hold, brackets in a path, or a % that begins no escape.
func hasInvalid(b []byte) bool {
	query := false
	for i, c := range b {
		switch {
		case c == '?':
			query = true
		case c <= ' ' || c == 0x7F || strings.IndexByte("\"<>\\^`{|}", c) >= 0, c == '%' && !isEscape(b, i), (c == '[' || c == ']') && !query:
			return true
		}
	}
	return false
}

// encodeURI encodes as JavaScript's encodeURI does, but leaves each % as it is.
func encodeURI(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if isUnreserved(c) || strings.IndexByte(";,/?:@&=+$!*'()#%", c) >= 0 {
			out = append(out, c)
		} else {
			out = appendEscape(out, c)
		}
	}
	return upperEscapes(out)
}

// upperEscapes puts the hex digits of escapes in upper case.
func upperEscapes(b []byte) []byte {
	if bytes.IndexByte(b, '%') < 0 {
		return b
	}
	out := bytes.Clone(b)
	for i := 0; i+2 < len(out); i++ {
		if isEscape(out, i) {
			out[i+1], out[i+2] = upper(out[i+1]), upper(out[i+2])
			i += 2
		}
	}
	return out
}

// whatwgPath returns the path that the URL standard's parser makes: without dot segments
// and backslashes.
func whatwgPath(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte{'\\'}, []byte{'/'})
	segments := strings.Split(string(b[1:]), "/")
	var out []string
	for i, s := range segments {
		last := i == len(segments)-1
		switch dots := strings.ReplaceAll(strings.ToLower(s), "%2e", "."); {
		case dots == "..":
			out = out[:max(len(out)-1, 0)]
			if last {
				out = append(out, "")
			}
		case dots == ".":
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, s)
		}
	}
	return whatwgEncode([]byte("/"+strings.Join(out, "/")), " \"#<>?^`{}")
}

func whatwgEncode(b []byte, set string) []byte {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if c < ' ' || c >= 0x7F || strings.IndexByte(set, c) >= 0 {
			out = appendEscape(out, c)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// requoteValid decodes what the part of the URL may hold, and encodes all else.
func requoteValid(b []byte) []byte {
	out := make([]byte, 0, len(b))
	query := false
	for i := 0; i < len(b); i++ {
		c := b[i]
		escaped := isEscape(b, i)
		if escaped {
			c = unhex(b[i+1])<<4 | unhex(b[i+2])
			i += 2
		}
		switch {
		case c == '?' && !escaped && !query:
			query = true
			out = append(out, c)
		case isUnreserved(c) || strings.IndexByte("!$&'()*+,;=:@/", c) >= 0, query && c == '?', c == '%' && !escaped:
			out = append(out, c)
		default:
			out = appendEscape(out, c)
		}
	}
	return out
}

// decodePlain decodes all escapes but those of a slash.
func decodePlain(b []byte) []byte {
	var out []byte
	for i := 0; i < len(b); i++ {
		if isEscape(b, i) && !(b[i+1] == '2' && b[i+2]|0x20 == 'f') {
			out = append(out, unhex(b[i+1])<<4|unhex(b[i+2]))
			i += 2
			continue
		}
		out = append(out, b[i])
	}
	return out
}
