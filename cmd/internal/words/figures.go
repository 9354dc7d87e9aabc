package words

import (
	"strconv"
	"strings"
	"time"
)

// Few is the number below which a share says less than two counts.
const Few = 10

// Percent formats the share that n has of a number; that of 0 is 0%. Of fewer than [Few]
// it is "2 of 3".
func Percent(n, of int64) string {
	switch {
	case of <= 0:
		return "0%"
	case of < Few:
		return Number(n) + " of " + Number(of)
	}
	return Share(float64(n) / float64(of))
}

// PercentKnown is [Percent] of what is known; of nothing it is a dash, as nobody knows a share.
func PercentKnown(n, of int64) string {
	if of == 0 {
		return "–"
	}
	return Percent(n, of)
}

// ShareOf formats the share that n has of a base that is named, such as "35.9% of hosts"
// or "2 of 3 hosts". Of "those with rules" it is "2 of 3 with rules", of "the hosts with
// rules" "2 of 3 hosts with rules".
func ShareOf(n, of int64, base string) string {
	if 0 < of && of < Few {
		if rest, ok := strings.CutPrefix(base, "those "); ok {
			return Number(n) + " of " + Number(of) + " " + rest
		}
		return Number(n) + " of " + Of(of, strings.TrimPrefix(base, "the "))
	}
	return Percent(n, of) + " of " + base
}

// arrow formats the shares of two runs, such as "20.5 → 26.8%". Of fewer than [Few] it
// is "2 of 3 → 1 of 4".
func arrow(before, ofBefore, after, ofAfter int64) string {
	return FromTo(Percent(before, ofBefore), Percent(after, ofAfter))
}

// FromTo joins two shares, with one sign of per cent.
func FromTo(from, to string) string {
	if strings.HasSuffix(to, "%") {
		from = strings.TrimSuffix(from, "%")
	}
	return from + " → " + to
}

// Share formats a share from 0 to 1. 0% means none and 100% means all, exactly.
func Share(share float64) string {
	switch p := 100 * share; {
	case p == 0:
		return "0%"
	case p == 100:
		return "100%"
	case p < 0.05:
		return "<0.1%"
	case p > 99.95:
		return ">99.9%"
	default:
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	}
}

// Number formats a count with separated thousands.
func Number(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	last := strconv.FormatInt(n%1000+1000, 10)
	return Number(n/1000) + "," + last[1:]
}

// Count formats a count with its noun, whose plural ends in s.
func Count(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Number(n) + " " + noun
}

// Verbed formats a count with a noun and its verb, such as "1 host is" or "2 hosts are".
func Verbed(n int64, one, many string) string { return Number(n) + " " + Agree(n, one, many) }

// Agree returns the words that go with a count of n.
func Agree(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Hosts formats a number of hosts.
func Hosts(n int64) string { return Count(n, "host") }

// OfHosts formats n as a share of a number of hosts, such as "86.0% of 2,156 hosts".
func OfHosts(n, of int64) string { return OfCount(n, of, "host") }

// OfCount formats n as a share of a number of things, as [OfHosts] does of hosts.
func OfCount(n, of int64, noun string) string {
	if of < Few {
		return Number(n) + " of " + Count(of, noun)
	}
	return Percent(n, of) + " of " + Count(of, noun)
}

// Commas separates the thousands of a number in digits. Other texts stay as they are.
func Commas(digits string) string {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return Number(n)
	}
	return digits
}

// Rank names a stratum, such as "rank 1 to 1,000".
func Rank(stratum string) string {
	switch from, to, ok := strings.Cut(stratum, "-"); {
	case !ok:
		return stratum // unranked
	case to == "":
		return "rank " + Commas(from) + " and beyond"
	default:
		return "rank " + Commas(from) + " to " + Commas(to)
	}
}

// Day formats the date of a time in UTC.
func Day(t time.Time) string { return t.UTC().Format("2 January 2006") }

// And joins parts of a sentence with commas and "and".
func And(parts []string) string {
	switch n := len(parts); n {
	case 0:
		return ""
	case 1:
		return parts[0]
	default:
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
}

// Plain returns a name as it is, for what has no other words.
func Plain(name string) string { return name }

// Tied names up to three that tie, "GPTBot and CCBot", and counts more of them.
func Tied(names []string, plural string) string {
	if len(names) > 3 {
		return Number(int64(len(names))) + " " + plural
	}
	return And(names)
}

// More says how many rows a list leaves out that shows the first of some counts, which
// descend: "and 22 more with 2 hosts, 14 with fewer". Those that tie with the last one
// shown count apart. It returns "" if there are none.
func More(counts []int64, shown int, noun string) string {
	if shown <= 0 || shown >= len(counts) {
		return ""
	}
	last, tied := counts[shown-1], 0
	for shown+tied < len(counts) && counts[shown+tied] == last {
		tied++
	}
	fewer := len(counts) - shown - tied
	switch {
	case fewer == 0:
		return "and " + Number(int64(tied)) + " more with " + Count(last, noun)
	case tied == 0:
		return "and " + Number(int64(fewer)) + " more with fewer"
	}
	return "and " + Number(int64(tied)) + " more with " + Count(last, noun) + ", " + Number(int64(fewer)) + " with fewer"
}
