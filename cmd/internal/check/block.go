package check

import (
	"context"
	"maps"
	"slices"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/lookup"
)

// Bounds of a block. For a few hosts, their rows are looked up; for more the tables are read.
const (
	fewHosts  = 32
	mostHosts = 1 << 15
	mostURLs  = 1 << 17
	mostBytes = 64 << 20 // of URLs
)

// A block is part of a list of URLs that a run judges at once: host by host as the tables
// have them, and printed in the order of the list.
type block struct {
	*RunChecker
	list  *urlList
	hosts map[string]bool
	urls  []blockURL
	bytes int
}

type blockURL struct {
	registry.Sample
	text  []byte // what is printed, nil as long as nobody has judged it
	value robots.Value
}

func (b *block) add(s registry.Sample) {
	b.hosts[s.Origin.Host] = true
	b.urls = append(b.urls, blockURL{Sample: s})
	b.bytes += len(s.URL)
}

func (b *block) isFull() bool {
	return len(b.hosts) >= mostHosts || len(b.urls) >= mostURLs || b.bytes >= mostBytes
}

// judge judges the URLs of the block, prints them and empties it.
func (b *block) judge(ctx context.Context) error {
	of := make(map[string][]*blockURL) // by origin
	for i := range b.urls {
		origin := b.urls[i].Origin.String()
		of[origin] = append(of[origin], &b.urls[i])
	}
	others := make(map[string]bool) // hosts of which the run has an origin
	err := b.each(ctx, func(f *lookup.Found) error {
		others[f.Host] = true
		asked := of[f.Origin]
		if len(asked) == 0 {
			return nil
		}
		return b.ask(b.Judge(f), asked)
	})
	if err != nil {
		return err
	}
	nobody := &URLJudge{explained: b.nobody()}
	for i := range b.urls {
		u := &b.urls[i]
		if u.text == nil {
			if nobody.Unknown = "the host is not in the run"; others[u.Origin.Host] {
				nobody.Unknown = "the run has other origins of the host only"
			}
			if err := b.ask(nobody, []*blockURL{u}); err != nil {
				return err
			}
		}
		b.list.verdicts.add(u.value)
		if err := b.list.print(u.text); err != nil {
			return err
		}
	}
	clear(b.hosts)
	clear(b.urls)
	b.urls, b.bytes = b.urls[:0], 0
	return nil
}

// ask asks one judge about URLs.
func (b *block) ask(judge *URLJudge, urls []*blockURL) (err error) {
	for _, u := range urls {
		v := judge.verdict(u.URL)
		if u.text, err = b.list.text(nil, u.URL, judge, v, nil, nil); err != nil {
			return err
		}
		u.value = v.Value
		b.list.judged.Add(1)
	}
	return nil
}

// each calls do with the last captures of the origins of the block's hosts.
func (b *block) each(ctx context.Context, do func(*lookup.Found) error) error {
	if len(b.hosts) > fewHosts {
		return b.run.Each(ctx, b.hosts, b.readsRules(), do)
	}
	if len(b.hosts) == 0 {
		return nil
	}
	targets, err := b.run.Targets(ctx, slices.Collect(maps.Keys(b.hosts))...)
	if err != nil {
		return err
	}
	targets = lookup.Last(targets)
	for i := range targets {
		t := &targets[i]
		body, err := lookup.Body(ctx, b.run, t)
		if err != nil {
			return err
		}
		f, err := lookup.FoundOf(ctx, b.run, t, body)
		if err != nil {
			return err
		}
		if err := do(f); err != nil {
			return err
		}
	}
	return nil
}
