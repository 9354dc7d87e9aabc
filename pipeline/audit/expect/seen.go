package expect

import (
	"context"
	"maps"
	"slices"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// seen says what is known of the hosts of a glob, or of a URL. A later value outweighs
// an earlier one.
type seen uint8

const (
	nowhere seen = iota // there is none
	covered             // there is one, but nothing was seen of it
	checked
)

// A coverage says which of the words of an expectation were about anything. A word that
// was about nothing keeps no promise, even beside others.
type coverage struct {
	hosts map[string]seen // by glob
	urls  map[string]seen

	identities map[string]seen // of served_alike and served_as_written
}

func newCoverage(x *expectation) coverage {
	c := coverage{make(map[string]seen), make(map[string]seen), make(map[string]seen)}
	for _, name := range x.served() {
		if name != allIdentities {
			c.identities[name] = nowhere
		}
	}
	for _, glob := range x.Hosts {
		c.hosts[glob] = nowhere
	}
	for _, url := range x.URLs {
		c.urls[url] = nowhere
	}
	return c
}

// saw records what is known of a host, and reports whether expectation k covers it.
func (c *Checker) saw(k int, host string, how seen) bool {
	x, globs := c.expectations.list[k], c.coverage[k].hosts
	if x.labelled != nil && !x.labelled[host] {
		return false
	}
	covers := len(x.Hosts) == 0
	if x.literals[host] {
		covers = true
		if globs[host] < how {
			globs[host] = how
		}
	}
	for _, glob := range x.globs {
		if matchesGlob(glob, host) {
			covers, globs[glob] = true, max(globs[glob], how)
		}
	}
	return covers
}

// sawURL records that verdicts on a URL were checked, or changes of it would have been
// found.
func (c *Checker) sawURL(k int, url string) { c.coverage[k].urls[url] = checked }

// gaps returns what of expectation k was about nothing, and the hosts of which nothing
// was seen.
func (c *Checker) gaps(k int) (nothing, unseen string) {
	const most = 3 // words that are named
	words := func(of map[string]seen, how seen) (out []string) {
		for _, word := range slices.Sorted(maps.Keys(of)) {
			if of[word] == how {
				out = append(out, word)
			}
		}
		return out
	}
	if globs := words(c.coverage[k].hosts, nowhere); len(globs) > 0 {
		nothing = "no host matches " + past.Some(globs, most)
	} else if urls := words(c.coverage[k].urls, nowhere); len(urls) > 0 {
		nothing = "no host that it covers has the URL " + past.Some(urls, most)
	}
	if names := words(c.coverage[k].identities, nowhere); len(names) > 0 && nothing == "" {
		nothing = "no host that it covers was asked as " + past.Some(names, most)
	}
	if globs := words(c.coverage[k].hosts, covered); len(globs) > 0 {
		unseen = "nothing was seen of " + past.Some(globs, most)
	}
	return nothing, unseen
}

// urls finds which URLs of the expectations of changes two runs show: those that both
// judge, and sitemaps that one has.
func (c *Checker) urls(ctx context.Context, in store.Store, by *Comparison) error {
	type wish struct {
		k   int
		url string
	}
	judged, sitemaps := make(map[string][]wish), make(map[string][]wish) // by host, by URL
	for _, k := range c.meant("changes") {
		x := c.expectations.list[k]
		for _, url := range x.URLs {
			if x.isAbout("sitemap") {
				sitemaps[url] = append(sitemaps[url], wish{k, url})
			}
			if !x.isAbout("verdict") {
				continue
			}
			if slices.Contains(by.judged[0].paths, url) && slices.Contains(by.judged[1].paths, url) {
				c.sawURL(k, url)
			} else if origin, _, err := fetch.Parse(url, ""); err == nil && x.matches(origin.Host) {
				judged[origin.Host] = append(judged[origin.Host], wish{k, url})
			}
		}
	}
	var found [2]map[wish]bool
	for i, run := range by.Runs {
		found[i] = make(map[wish]bool)
		err := eachURL(ctx, in, run.Manifest, "verdicts", func(host string) bool { return judged[host] != nil },
			len(judged) > 0, func(host, url string) {
				for _, w := range judged[host] {
					if w.url == url {
						found[i][w] = true
					}
				}
			})
		if err != nil {
			return err
		}
		err = eachURL(ctx, in, run.Manifest, "sitemaps", nil, len(sitemaps) > 0, func(host, url string) {
			for _, w := range sitemaps[url] {
				if c.expectations.list[w.k].matches(host) {
					c.sawURL(w.k, w.url)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	for w := range found[0] {
		if found[1][w] {
			c.sawURL(w.k, w.url)
		}
	}
	return nil
}

// eachURL calls f for the URLs of a table, of some hosts or, if of is nil, of all. It
// does nothing unless wanted is set.
func eachURL(ctx context.Context, in store.Store, m *journal.Manifest, table string, of func(host string) bool,
	wanted bool, f func(host, url string)) error {
	if !wanted {
		return nil
	}
	parts, segments := m.BySegment()
	for _, segment := range segments {
		var some func(least, greatest int64) bool
		if of != nil {
			seqs, err := seqsOf(ctx, in, parts[segment]["fetches"], of)
			if err != nil {
				return err
			}
			if len(seqs) == 0 {
				continue
			}
			some = rowio.Within(seqs)
		}
		err := rowio.Of(ctx, in, parts[segment][table], rowio.Selection{Wanted: some}, func(batch []struct {
			Host string `parquet:"host"`
			URL  string `parquet:"url"`
		}) error {
			for _, row := range batch {
				f(row.Host, row.URL)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// seqsOf returns the targets of a segment that are some hosts.
func seqsOf(ctx context.Context, in store.Store, fetches []journal.Part, of func(host string) bool) (out []int64,
	err error) {
	err = rowio.Of(ctx, in, fetches, rowio.Selection{Columns: []string{"seq", "host"}}, func(batch []schema.Fetch) error {
		for i := range batch {
			if t := &batch[i]; of(t.Host) {
				out = append(out, t.Seq)
			}
		}
		return nil
	})
	slices.Sort(out)
	return out, err
}
