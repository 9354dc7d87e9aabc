package check

import (
	"context"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/sink/schema"
)

// isFile reports whether the first word is a file, or standard input.
func isFile(words []string) bool { return len(words) > 0 && (words[0] == "-" || cli.IsFile(words[0])) }

// isLive reports whether every word is a URL or a host, and none is a file, nor named like
// one.
func isLive(words []string) bool {
	for _, word := range words {
		if cli.IsFile(word) || CheckURL(liveURL(word), true) != nil || !strings.ContainsAny(word, ".:") {
			return false
		}
		if o, _, err := fetch.Parse(word, "https"); err == nil && !strings.Contains(word, ":") && !fetch.HasTopLevel(o.Host) {
			return false
		}
	}
	return true
}

// urlsOf returns the URLs of a host with these paths, which may be URLs themselves; without
// any, that of the host.
func urlsOf(host string, paths []string) []string {
	if len(paths) == 0 {
		return []string{host}
	}
	origin, _, _ := fetch.Parse(liveURL(host), "")
	urls := slices.Clone(paths)
	for i, path := range urls {
		if strings.HasPrefix(path, "/") {
			urls[i] = origin.String() + path
		}
	}
	return urls
}

// askedAgent is an agent, and what is to be said of its name.
type askedAgent struct {
	schema.Agent
	remark string
}

func (f *checkFlags) findAgents(ctx context.Context, names []string) (asked []askedAgent, err error) {
	for _, name := range names {
		agent, remark, err := f.FindAgent(ctx, name)
		if err != nil {
			return nil, err
		}
		asked = append(asked, askedAgent{agent, remark})
	}
	return asked, nil
}

// CheckURL refuses a text that is neither a path nor a URL, or a path where a URL is
// needed.
func CheckURL(url string, absolute bool) error {
	if strings.HasPrefix(url, "/") && !absolute {
		return nil
	}
	if !strings.Contains(url, "://") {
		return cli.Usagef("%q is not a URL; put https:// or http:// before it%s", fetch.WithoutUser(url),
			map[bool]string{false: ", or begin a path with /"}[absolute])
	}
	if _, _, err := fetch.Parse(url, ""); err != nil {
		return cli.UsageError{Err: err}
	}
	return nil
}

// OriginOf returns the origin of a host, an origin or a URL; that of a host has no
// scheme, and stands for all of its origins.
func OriginOf(word string) (fetch.Origin, error) {
	o, _, err := fetch.Parse(word, "")
	if err == nil {
		return o, nil
	}
	if o, _, err = fetch.Parse(word, "https"); err != nil {
		return o, cli.UsageError{Err: err}
	}
	o.Scheme = ""
	return o, nil
}
