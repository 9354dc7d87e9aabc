package consent

import (
	"bytes"
	"net/url"
	"path"
	"strings"
)

// A Shown is a text that a server gave for a path.
type Shown struct {
	Path string
	Body []byte
}

// alikeBytes is the beginning of a text that is compared.
const alikeBytes = 64 << 10

// Alike reports whether two texts are the same page, but for the path that was asked for,
// for numbers and for tokens: what a page at any path would be. Nearly the same words, in
// nearly the same order, are enough: pages quote the hour, or one of several adverts.
func Alike(a, b Shown) bool {
	if bytes.Equal(a.Body, b.Body) {
		return true
	}
	x, y := a.words(), b.words()
	if len(x) == 0 || len(y) == 0 {
		return len(x) == len(y)
	}
	return similar(x, y)
}

// words returns the words of a text, without those that change at each request.
func (s Shown) words() (all []string) {
	text := string(s.Body[:min(len(s.Body), alikeBytes)])
	base := path.Base(s.Path)
	for _, part := range []string{s.Path, url.QueryEscape(s.Path), base, url.QueryEscape(base),
		strings.TrimSuffix(base, path.Ext(base))} {
		if len(part) > 3 {
			text = strings.ReplaceAll(text, part, " ")
		}
	}
	for _, word := range strings.FieldsFunc(text, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80)
	}) {
		if !isToken(word) {
			all = append(all, word)
		}
	}
	return all
}

// isToken reports whether a word is a number, or looks like a value made at random: long,
// or with digits among its letters.
func isToken(word string) bool {
	return len(word) >= 24 || strings.ContainsAny(word, "0123456789")
}

// similar reports whether nine of ten runs of three words of two texts are the same.
func similar(a, b []string) bool {
	x, y := runs(a), runs(b)
	both := 0
	for run, n := range x {
		both += min(n, y[run])
	}
	total := max(len(a), len(b))
	return both*10 >= total*9
}

// runs counts the runs of three words of a text, by hash.
func runs(words []string) map[uint64]int {
	all := make(map[uint64]int)
	for _, h := range hashes(words) {
		all[h]++
	}
	return all
}
