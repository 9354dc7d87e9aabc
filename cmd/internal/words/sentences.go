package words

import "strings"

// Counts in sentences: what goes with none, one, two, some and all of a number.

// The names all of a number of things, such as "the only host" or "the 12 hosts". base is in
// the plural, and may go on after its noun: "hosts with rules".
func The(n int64, base string) string {
	if n == 1 {
		return "the only " + one(base)
	}
	return "the " + Number(n) + " " + base
}

// Of formats a count of a base in the plural, such as "1 host with rules".
func Of(n int64, base string) string {
	if n == 1 {
		base = one(base)
	}
	return Number(n) + " " + base
}

// one returns a base in the singular.
func one(base string) string {
	noun, rest, more := strings.Cut(base, " ")
	if noun = strings.TrimSuffix(noun, "s"); more {
		noun += " " + rest
	}
	return noun
}

// AgreeOf returns the words that go with n of a number, as [ShareOf] and [OfHosts] say it:
// "1 of 3 hosts refuses", "2 of 3 hosts refuse", "0.3% of 300 hosts refuse".
func AgreeOf(n, of int64, one, many string) string {
	if of < Few {
		return Agree(n, one, many)
	}
	return many
}

// ArrowOf formats the shares of a base in two runs, such as "20.5 → 26.8% of hosts" or, of
// few, "3 of 4 → 3 of 4 hosts".
func ArrowOf(before, ofBefore, after, ofAfter int64, base string) string {
	text := arrow(before, ofBefore, after, ofAfter)
	if 0 < ofAfter && ofAfter < Few {
		if ofAfter == 1 {
			base = one(base)
		}
		return text + " " + base
	}
	return text + " of " + base
}
