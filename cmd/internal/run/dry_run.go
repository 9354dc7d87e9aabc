package run

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/fetch/documents"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/visible"
)

// preview prints what the run would ask and write, without doing it.
func (f *Flags) preview(ctx context.Context, c pipeline.Config, stdout io.Writer) error {
	p, err := pipeline.PreviewRun(ctx, c)
	if ctx.Err() != nil {
		return cli.ErrInterrupted
	}
	if err != nil {
		return err
	}
	var names []string
	for _, profile := range c.Evaluate.Profiles {
		names = append(names, profile.Name)
	}
	var urls []string
	for _, s := range c.Evaluate.Samples {
		urls = append(urls, s.URL)
	}
	row := func(name, text string) { fmt.Fprintf(stdout, "%-10s %s\n", name, visible.Text(text)) }
	id := c.Run
	if f.dated {
		id = "named by its start"
	}
	row("run", fmt.Sprintf("%s, in %s", id, c.Dir))
	switch {
	case c.Source.IsStored():
		row("hosts", "those of stored answers, which a dry run does not read; nothing is asked of the network")
	case p.Hosts < 0:
		row("hosts", "those of standard input, which a dry run does not read")
	case p.Hosts == 0:
		return &userfile.Error{Path: remote.Name(c.Source.Hosts),
			Err: fmt.Errorf("holds no host; %s would be rejected, the first %s", words.Count(p.Rejected, "line"),
				schema.TextString(p.First))}
	default:
		row("hosts", fmt.Sprintf("%s to ask, by %s", words.Number(p.Hosts), strings.Join(c.Source.Schemes, " and else by ")))
		rejected := words.Count(p.Rejected, "line") + " of the list"
		if p.Rejected > 0 {
			rejected += ", the first " + schema.TextString(p.First)
		}
		row("rejected", rejected)
		row("requests", fmt.Sprintf("%s or more, with redirects, retries and other schemes; at once %d, %d to one "+
			"address, %d to one domain",
			words.Number(p.Hosts), c.Fetch.Concurrency, c.Fetch.PerAddress, c.Fetch.PerDomain))
		for _, plan := range c.Fetch.Further {
			if most := int64(plan.Most); most > 0 && plan.Name != "" { // documents have a row of their own
				row(plan.Name, fmt.Sprintf("up to %d of each host that answers, one at a time, each with the robots.txt of its "+
					"origin if that is another: up to %s requests more, redirects not counted", f.sitemaps.Files,
					words.Number(most*p.Hosts)))
			}
		}
		if c.Fetch.FrontPage {
			row("front page", fmt.Sprintf("1 request more of each host whose robots.txt allows it: %s in all if all do; "+
				"redirects not counted", words.Number(p.Hosts)))
		}
		if n := int64(len(c.Fetch.Identities)); n > 0 {
			row("identities",
				fmt.Sprintf("%s more of each host that answers, for its robots.txt under each: %s in all if all do",
					words.Count(n, "request"), words.Number(n*p.Hosts)))
		}
		if l := f.asked; l != nil {
			row("documents", strings.Join(l.Names(), " ")+": "+requestsFor(l, p.Hosts)+"; redirects not counted")
		}
		if w := f.askedPages; w != nil {
			who := "where robots.txt lets its agent fetch it"
			if w.All {
				who = "also where robots.txt shuts its agent out"
			}
			row("pages",
				fmt.Sprintf("%s of %s more of each host, %s: one for each identity, and one more for the control if it "+
					"is served; %s in all if all are", words.Count(int64(w.Requests()), "request"), w.Path, who,
					words.Number(p.Hosts*int64(w.Requests()))))
		}
		most := int64(c.Fetch.MostRequests(len(c.Source.Schemes)))
		row("at most", fmt.Sprintf("%s requests for a host, %s in all: for all of the above with its retries, with up to %d "+
			"redirects of each, and for the robots.txt of other origins, of which redirects lead to %d at most",
			words.Number(most), words.Number(most*p.Hosts), c.Fetch.MaxRedirects, client.MaxLed))
		row("user agent", c.Fetch.UserAgent)
	}
	if share := c.Source.Sample; share < 1 {
		row("sample", fmt.Sprintf("%g of the registered domains, by hash", share))
	}
	row("profiles", strings.Join(names, ", "))
	row("agents", fmt.Sprintf("%d, of %s", len(c.Evaluate.Agents), inputOf(c, "agents")))
	row("URLs", fmt.Sprintf("%d, of %s: %s", len(c.Evaluate.Samples), inputOf(c, "urls"), strings.Join(few(urls), " ")))
	row("tables", strings.Join(c.Tables, ", "))
	switch {
	case c.WARCOut == "":
	case c.Source.Shard.Count > 1:
		row("evidence", "requests and answers, in a WARC file for each shard in the folder of the run")
	default:
		row("evidence", "requests and answers, in "+c.WARCOut)
	}
	if p.Hosts > 0 {
		row("verdicts", fmt.Sprintf("%s: each URL on each of its hosts, for each agent and profile",
			words.Number(p.Verdicts)))
		if !slices.Contains(c.Tables, "verdicts") {
			p.Verdicts = 0 // no verdicts are written
		}
		row("disk", fmt.Sprintf("about %s bytes: 550 for each host and 0.2 for each verdict, as 4,977 real hosts took "+
			"with all tables but bodies", words.Number(p.Bytes())))
	}
	fmt.Fprintln(stdout, "\nNothing was asked or written. Run the same command without --dry-run.")
	return nil
}

// requestsFor says how many requests documents take.
func requestsFor(l documents.List, hosts int64) string {
	var parts []string
	if n := int64(l.Requests()); n > 0 {
		of := ""
		if k := l.Controls(); k > 0 {
			of = fmt.Sprintf(", %d of them for a path that cannot exist, one for each folder and extension", k)
		}
		parts = append(parts, fmt.Sprintf("%s more of each host whose robots.txt allows all%s; %s in all",
			words.Count(n, "request"), of, words.Number(hosts*n)))
	}
	licences, led, again := l.MostMore()
	for _, more := range []struct {
		n  int
		of string
	}{
		{licences, "names licences or leads to other sites, with the robots.txt of other origins"},
		{led, "leads to other sites, with the robots.txt there"},
		{again, "does not answer HEAD"},
	} {
		if more.n > 0 {
			parts = append(parts, fmt.Sprintf("up to %d more of a host that %s", more.n, more.of))
		}
	}
	return strings.Join(parts, "; ")
}

// inputOf names the file of an input.
func inputOf(c pipeline.Config, role string) string {
	for _, in := range c.Inputs {
		if in.Role == role {
			return in.Path
		}
	}
	return ""
}

// few returns the first of many words.
func few(all []string) []string {
	const most = 5
	if len(all) > most {
		return append(slices.Clone(all[:most]), "…")
	}
	return all
}
