package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// composed returns the titles of figures that are composed of as many parts as there is
// something to tell, by the numbers of the figure. These are those of its SQL.
var composed = map[string]func(rows [][]string, hosts string) string{
	"answers": answersTitle,
	"tld":     func(rows [][]string, _ string) string { return networkTitle("top-level domain", ".", rows) },
	"server":  func(rows [][]string, _ string) string { return networkTitle("server software", "", rows) },
	"address-block": func(rows [][]string, _ string) string {
		return networkTitle("address block", "", rows)
	},
}

// whatAnswers has words for the columns of the figure of answers: of one host, and of several.
var whatAnswers = [][2]string{
	{"has a file", "have a file"}, {"has none or refuses it", "have none or refuse it"}, {"redirects to nowhere", "redirect to nowhere"}, {"gives a server error", "give a server error"},
	{"cannot be reached", "cannot be reached"}, {"gives a broken answer", "give a broken answer"}, {"is down and judged by an earlier answer", "are down and judged by earlier answers"},
	{"was not asked, or its answer is not stored", "were not asked, or their answers are not stored"},
}

func answersTitle(rows [][]string, hosts string) string {
	of, said := digits(hosts), []string(nil)
	for i, what := range whatAnswers {
		n := 0.0
		for _, row := range rows[1:] {
			n += digits(row[1+i])
		}
		if n == 0 {
			continue
		}
		said = append(said, percentOf(int(n), int(of))+" ")
		if len(said) == 1 {
			said[0] += "of " + regexp.MustCompile(`(\d)(\d{3})$`).ReplaceAllString(hosts, "$1,$2") + " hosts "
		}
		said[len(said)-1] += what[map[bool]int{true: 0, false: 1}[n == 1]]
	}
	return joined(said)
}

func digits(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// percentOf writes a share as the page does.
func percentOf(n, of int) string {
	switch p := 100 * float64(n) / float64(of); {
	case of < 10:
		return fmt.Sprintf("%d of %d", n, of)
	case n == 0:
		return "0%"
	case n == of:
		return "100%"
	case p < 0.05:
		return "<0.1%"
	case p > 99.95:
		return ">99.9%"
	default:
		return fmt.Sprintf("%.1f%%", p)
	}
}

// joined joins parts of a sentence.
func joined(parts []string) string {
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return parts[0]
}

// networkTitle says which parts of the network fail most, and which are slowest.
func networkTitle(what, prefix string, rows [][]string) string {
	var said []string
	for i, of := range []string{"failures", "slow answers"} {
		most, tied := 0.0, []int(nil)
		for k, row := range rows[1:] {
			switch rate := digits(row[2+i]) / digits(row[1]); {
			case rate == 0 || rate < most:
			case rate > most:
				most, tied = rate, []int{k + 1}
			default:
				tied = append(tied, k+1)
			}
		}
		if tied == nil {
			continue
		}
		first := rows[tied[0]]
		commonest := ""
		if said == nil {
			commonest = " are commonest"
		}
		name := func(k int) string {
			if key := rows[k][0]; key != "other" && key != "address" {
				return prefix + key
			}
			return map[string]string{"other": "others", "address": "an IP address"}[rows[k][0]]
		}
		n, all := int(digits(first[2+i])), int(digits(first[1]))
		of += commonest + " for "
		switch {
		case len(tied) == 1:
			of += fmt.Sprintf("%s (%s of %d host", name(tied[0]), percentOf(n, all), all)
			if all != 1 {
				of += "s"
			}
			of += ")"
		case len(tied) > 3:
			of += fmt.Sprintf("%d of them (%s each)", len(tied), percentOf(n, all))
		default:
			var names []string
			for _, k := range tied {
				names = append(names, name(k))
			}
			slices.Sort(names)
			of += fmt.Sprintf("%s (%s each)", joined(names), percentOf(n, all))
		}
		said = append(said, of)
	}
	return "By " + what + ", " + strings.Join(said, ", ")
}
