package counters

import (
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/words"
)

// Headline is the category of the first figure.
const Headline = "ai-training"

// Statement returns the display name of a statement about use.
func Statement(k string) string { return statement(words.Mechanism, k) }

// PageStatement returns that of a statement in the header of a front page.
func PageStatement(k string) string { return statement(words.PageHeader, k) }

// statement names what states something by a vocabulary.
func statement(by words.Vocabulary, k string) string {
	subject, preference := CutLast(k)
	what, use, _ := strings.Cut(subject, " ")
	return by.Of(what) + ": " + words.Use.Of(use) + ", " + map[string]string{"allow": "permitted",
		"disallow": "refused"}[preference]
}

// CutLast cuts a text at its last space; one without a space has nothing before it.
func CutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, ' ')
	return s[:max(i, 0)], s[i+1:]
}
