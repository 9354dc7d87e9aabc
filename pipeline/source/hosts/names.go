package hosts

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
)

// nothing are words that stand where a spreadsheet or a program has no host, or has the
// half of a URL.
var nothing = []string{"http", "https", "ftp", "www", "n", "na", "nan", "nil", "none", "null", "undefined", "unknown",
	"true", "false"}

// labels are words that stand above or below a column of hosts.
var labels = slices.Concat([]string{"total", "sum", "count", "name", "address", "average", "grandtotal"}, hostNames,
	urlNames, otherNames)

// CheckName returns an error that says why a name that a user gives is not asked, or nil. A
// name without a dot is a host only if bare is true.
func CheckName(given string, bare bool) error {
	_, _, why := candidatesOf(given, []string{"https"}, bare)
	if _, text, ok := strings.Cut(why, ": "); ok {
		return errors.New(text)
	}
	return nil
}

// candidatesOf returns the origins that a host, an origin or a URL stands for: one
// if it names a scheme, otherwise one per scheme, in their order. why is the reason for
// which it is rejected, or "".
func candidatesOf(given string, schemes []string, bare bool) (out []fetch.Origin, sample, why string) {
	first, sample, err := fetch.Parse(given, schemes[0])
	hasScheme := strings.Contains(given, "://")
	hasDot := err == nil && strings.ContainsAny(first.Host, ".:")
	if err != nil || !hasDot || strings.HasPrefix(sample, "//") {
		if url := meant(given); url != "" {
			return nil, "", fmt.Sprintf("mistyped_scheme: %q probably means %s", given, url)
		}
	}
	switch {
	case strings.ContainsRune(given, '\r'):
		return nil, "", fmt.Sprintf(`bad_host: %q holds a CR, with which lines end in a part of the list; convert it: `+
			`tr '\r' '\n'`, given)
	case err != nil:
		return nil, "", input.ReasonOf(err)
	case !fetch.IsAsked(first.Host):
		return nil, "", fmt.Sprintf("bad_host: %q has a label that begins or ends with a hyphen, which resolvers refuse",
			first.Host)
	case hasDot:
	case slices.Contains(nothing, first.Host) || !hasScheme && slices.Contains(labels, plainName(first.Host)):
		return nil, "", fmt.Sprintf("not_a_host: %q stands for no host", given)
	case !hasScheme && !bare:
		return nil, "", fmt.Sprintf("no_dot: %q has no dot; if it is a host of your network, give --allow-private, or "+
			"http://%[2]s", given, first.Authority())
	}
	out = []fetch.Origin{first}
	if !hasScheme && first.Port == fetch.DefaultPort(first.Scheme) {
		for _, scheme := range schemes[1:] {
			out = append(out, first.WithScheme(scheme))
		}
	}
	return out, sample, ""
}

// mistyped is a scheme as it is mistyped, or as it is written: hxxp is that of an address
// that is not to be clicked.
var mistyped = regexp.MustCompile(
	`^(?i:h?t{1,3}p{1,2}(s{0,2})|hh?tt?p(s?)|hxxp(s?)|htp(s?))(?:\s*[:;]+\s*[/\\]*\s*|[.,]?[/\\]+\s*)`)

// meant returns the URL that a text with a mistyped scheme probably means, "" if it has
// none.
func meant(given string) string {
	rest, scheme, found := given, "", 0
	for ; ; found++ {
		m := mistyped.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		scheme = "http"
		if strings.Join(m[1:], "") != "" {
			scheme = "https"
		}
		rest = rest[len(m[0]):]
	}
	switch authority, after, ok := strings.Cut(rest, "://"); {
	case found == 0 && ok && !strings.ContainsAny(authority, "/?#."):
		return "" // another scheme
	case found > 0 && ok && !strings.ContainsAny(authority, "/?#"):
		// "https://www.https://a.example"
		dot := strings.LastIndexByte(authority, '.')
		rest, scheme = after, authority[dot+1:]
		if fetch.DefaultPort(scheme) == 0 {
			rest, scheme = authority+"/"+after, "https"
		}
	case found == 1 && strings.EqualFold(given[:len(given)-len(rest)], scheme+"://"):
		return "" // as it is written
	case found == 0:
		if rest = strings.TrimLeft(given, `:/\`); rest == given || !strings.HasPrefix(strings.TrimLeft(given, ":"), "//") {
			return ""
		}
		scheme = "https"
	}
	o, _, err := fetch.Parse(rest, scheme)
	if err != nil || !strings.Contains(o.Host, ".") {
		return ""
	}
	return scheme + "://" + rest
}

// severalIn returns the hosts of a text that names several and nothing else, otherwise
// nothing. Of a line of a file such as /etc/hosts it returns the names, and not the address.
func severalIn(given string) []string {
	if !strings.ContainsAny(given, " \t,;|") {
		return nil
	}
	hasSpace := strings.ContainsAny(given, " \t")
	parts := strings.FieldsFunc(given, func(r rune) bool { return strings.ContainsRune(" \t,;|\"", r) })
	if len(parts) < 2 {
		return nil
	}
	isTable := hasSpace && isAddress(parts[0]) && !slices.ContainsFunc(parts[1:], isAddress)
	if isTable {
		parts = parts[1:]
	}
	path := false
	for _, part := range parts {
		o, target, err := fetch.Parse(part, "https")
		isURL := strings.Contains(part, "://")
		if err != nil || !isURL && !isTable && !strings.Contains(o.Host, ".") || path && !hasSpace && !isURL {
			return nil // prose, or a URL with the separator in its path
		}
		path = len(target) > 1
	}
	return parts
}

func isAddress(text string) bool {
	_, err := netip.ParseAddr(strings.Trim(strings.TrimSpace(text), "[]"))
	return err == nil
}
