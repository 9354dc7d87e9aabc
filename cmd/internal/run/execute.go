package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/recap"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/fetch/memory"
	"github.com/robocensus/robocensus/fetch/names"
	"github.com/robocensus/robocensus/fetch/outage"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/visible"
)

// Execute makes the run and prints its summary.
func (f *Flags) Execute(ctx context.Context, c pipeline.Config, stdout, stderr io.Writer) error {
	stdout = f.begin(&c, stdout, stderr)
	for _, run := range f.damaged {
		fmt.Fprintf(stderr, "note: --resume passes over run %s, whose plan is damaged or whose removal was interrupted; "+
			"robocensus verify tells more\n", visible.Text(run))
	}
	c.Unconditional = func() {
		fmt.Fprintf(stderr, "note: the store of %s ignores conditional writes (If-None-Match): let no other process make "+
			"this run, and make no run of shards there\n", visible.Text(c.Dir))
	}
	var p pipeline.Progress
	if !c.Source.IsStored() && c.Grace > 0 {
		defer context.AfterFunc(ctx, func() {
			if p.Snapshot().Phase == pipeline.Fetching {
				fmt.Fprintf(stderr, "robocensus: stopping: no further host is asked, and those in flight get %s; another "+
					"signal ends the run at once\n", c.Grace)
			}
		})()
	}
	stop := f.watch(c, &p, stderr)
	result, err := pipeline.Run(ctx, c, &p)
	for n := 2; f.dated && c.Source.Ranks != "-" && n < 1000 &&
		(errors.Is(err, journal.ErrRunExists) || errors.Is(err, sink.ErrRunBusy)); n++ {
		// Another run began in the same second.
		c.Run = fmt.Sprintf("%s-%d", strings.SplitN(c.Run, "-", 2)[0], n)
		result, err = pipeline.Run(ctx, c, &p)
	}
	stop()
	if errors.Is(err, sink.ErrRunComplete) && f.json {
		return f.writeComplete(ctx, c, stdout)
	}
	if errors.Is(err, sink.ErrRunComplete) {
		fmt.Fprintf(stdout, "nothing to do: %s\n", visible.Text(err.Error()))
		return f.check(ctx, c, stdout)
	}
	if err != nil {
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			return interrupted(c, err, p.Snapshot())
		}
		return advised(c, err)
	}
	if n := result.Unmatched; n != nil && *n > 0 {
		fmt.Fprintf(stderr, "note: %s of --hosts without a stored answer\n", words.Count(*n, "host"))
	}
	remarkResolvers(result.Resolvers, stderr)
	f.remarkMissed(ctx, c, stderr)
	hosts := hostsOf(ctx, c)
	remarkCaptures(c, result, hosts, stderr)
	if f.json {
		return f.writeResult(ctx, c, result, hosts, stdout)
	}
	last := cli.Latest
	if in, err := cli.OpenOut(ctx, c.Dir, &last); err == nil {
		in.Close()
	} else {
		last = c.Run // the run is written: what follows is a hint
	}
	recap.Summarize(stdout, c, result, hosts, last)
	return f.check(ctx, c, stdout)
}

// begin prints what is worth knowing before a run, and returns where its summary goes.
func (f *Flags) begin(c *pipeline.Config, stdout, stderr io.Writer) io.Writer {
	f.remarkTokens(*c, stderr)
	return f.setLines(c, stdout, stderr)
}

// watch shows the progress of a run until stop is called.
func (f *Flags) watch(c pipeline.Config, p *pipeline.Progress, stderr io.Writer) (stop func()) {
	stopProgress, stopRemark := cli.ShowProgress(f.progress, p, stderr), f.remarkContact(c, p, stderr)
	return func() {
		stopProgress()
		stopRemark()
	}
}

// folderOf returns the folder of a run.
func folderOf(c *pipeline.Config) string { return store.Join(c.Dir, "_runs", c.Run) }

// advised adds advice to the error of a run.
func advised(c pipeline.Config, err error) error {
	const cutOff = "%w: for %s (--outage-patience) nothing was reachable, not even hosts that had answered before; "
	switch code := cli.ExitCodeOf(err); {
	case code == cli.ExitUnreached:
		return fmt.Errorf("%w: for %s no host answered, refused a connection or was unknown to the resolver; "+
			"try again once this machine is connected, or give --accept-unreachable if the hosts are at fault", err,
			min(outage.FirstPatience, c.Fetch.OutagePatience))
	case errors.Is(err, memory.ErrInUse):
		return err
	case code == cli.ExitTemporary && isResumable(c):
		return fmt.Errorf(cutOff+"run it again with --resume once this machine is connected", err, c.Fetch.OutagePatience)
	case code == cli.ExitTemporary:
		return fmt.Errorf(cutOff+"start a new run once this machine is connected: the input of this run "+
			"cannot be read again", err, c.Fetch.OutagePatience)
	case code == cli.ExitIO:
		m, e := manifestOf(c)
		switch {
		case errors.Is(e, fs.ErrNotExist):
			return fmt.Errorf("%w; fix that, then start the run again: nothing of it is kept", err)
		case e == nil && m.CanBeReadAgain():
			return fmt.Errorf("%w; fix that, then continue the run with --resume", err)
		}
	}
	return err
}

// manyHosts is more than a person names by hand.
const manyHosts = 100

// remarkContact prints a note once many hosts were asked with a user agent that has
// no contact, until the returned function is called. Loopback needs none.
func (f *Flags) remarkContact(c pipeline.Config, p *pipeline.Progress, stderr io.Writer) (stop func()) {
	if c.Source.IsStored() || c.Fetch.ConnectTo.Addr().IsLoopback() || hasContact(c.Fetch.UserAgent) {
		return func() {}
	}
	said := false
	return cli.Every(cli.BarEvery, func() {
		if !said && p.Snapshot().Fetched > manyHosts {
			said = true
			fmt.Fprintln(stderr, "note: the user agent names no contact, so operators cannot reach you: give --user-agent "+
				"'NAME/1 (+https://your.example/page)'")
		}
	})
}

// hasContact reports whether a user agent has a URL or a mail address.
func hasContact(userAgent string) bool {
	return strings.Contains(userAgent, "://") || strings.Contains(userAgent, "@")
}

// interrupted makes the error of a run that a signal has ended: what is kept, and
// how to resume.
func interrupted(c pipeline.Config, err error, s pipeline.Snapshot) error {
	folder := folderOf(&c)
	if store.IsURL(c.Dir) {
		return fmt.Errorf("%w: continue with --resume; it asks no host again that has answered, if %s survives",
			cli.ErrInterrupted, c.Spool)
	}
	const how = "continue with --resume"
	var left *pipeline.Stopped
	switch {
	case !errors.As(err, &left) && isResumable(c):
		return fmt.Errorf("%w: %s is unchanged; %s", cli.ErrInterrupted, folder, how)
	case left == nil:
		return fmt.Errorf("%w before any host answered: nothing is left of run %s", cli.ErrInterrupted, c.Run)
	case !left.Resumable:
		return fmt.Errorf("%w: %s of %s are in the tables of %s; the rest is lost, because the input cannot be read again",
			cli.ErrInterrupted, words.Number(left.Committed), words.Count(s.Fetched, recap.TargetOf(&c.Source)), folder)
	case c.Source.IsStored():
		return fmt.Errorf("%w: %s are in the tables of %s; %s", cli.ErrInterrupted,
			words.Count(left.Committed, recap.TargetOf(&c.Source)), folder, how)
	}
	return fmt.Errorf("%w: the answers of %s are kept in %s, %s of them in its tables; %s, which asks none of these "+
		"hosts again",
		cli.ErrInterrupted, words.Count(left.Committed+left.Kept, "host"), folder, words.Number(left.Committed), how)
}

// hostsOf counts the hosts whose captures a run has judged. It returns 0 if that is not
// cheap.
func hostsOf(ctx context.Context, c pipeline.Config) int64 {
	if !c.Source.HasArchives() || store.IsURL(c.Dir) {
		return 0
	}
	in, m, err := cli.OpenRun(ctx, c.Dir, c.Run)
	if err != nil {
		return 0 // the run is complete all the same
	}
	defer in.Close()
	hosts, _ := series.Hosts(ctx, in, m)
	return hosts
}

// remarkResolvers prints a note for each DNS server that failed more often than not where
// another answered.
func remarkResolvers(all []names.Use, stderr io.Writer) {
	for _, r := range all {
		if 2*r.Answered < r.Names {
			fmt.Fprintf(stderr, "note: the DNS server %s answered %s of the %s that it was asked for, and others answered "+
				"the rest: leave it out of --resolver\n",
				r.Server, words.Number(int64(r.Answered)), words.Count(int64(r.Names), "name"))
		}
	}
}

// remarkCaptures prints a note if hosts have several captures.
func remarkCaptures(c pipeline.Config, r *pipeline.Result, hosts int64, stderr io.Writer) {
	switch {
	case !c.Source.HasArchives() || c.Source.LastCapture:
	case recap.Several(r, hosts):
		fmt.Fprintf(stderr, "note: the %s are of %s, and each counts; with --last-capture, each host has one row\n",
			words.Count(r.Targets, "capture"), words.Count(hosts, "host"))
	case hosts == 0:
		fmt.Fprintln(stderr, "note: an archive may have several captures of a host, and each of them counts; with "+
			"--last-capture, each host has one row")
	}
}

// isResumable reports whether the run has begun and its inputs can be read again.
func isResumable(c pipeline.Config) bool {
	m, err := manifestOf(c)
	return err == nil && m.CanBeReadAgain()
}

// manifestOf reads the manifest of the run that has ended.
func manifestOf(c pipeline.Config) (*journal.Manifest, error) {
	// Also after a signal, and without an object store that answers.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	in, err := store.Open(ctx, c.Dir)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return journal.ReadManifest(in, c.Run)
}

// remarkTokens prints a note if the user's registry has names with characters that
// Google's parser cuts off: it never finds their groups.
func (f *Flags) remarkTokens(c pipeline.Config, stderr io.Writer) {
	if f.Agents == "" {
		return
	}
	var names []string
	for i := range c.Evaluate.Agents {
		a := &c.Evaluate.Agents[i]
		if token := registry.Robots(a).BeyondToken(); token != "" {
			names = append(names, fmt.Sprintf("%s (token %s)", visible.Text(a.Name), token))
		}
	}
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(stderr, "note: %s: a product token has no digit or dot (RFC 9309, 2.2.1); this census finds the "+
		"groups that name such a token, and a crawler with Google's parser, which cuts names there, does not\n",
		past.Some(names, 3))
}

// promises checks a finished run against the expectations.
func (f *Flags) promises(ctx context.Context, c pipeline.Config) ([]*expect.Promise, error) {
	if f.expectations == nil {
		return nil, nil
	}
	in, err := cli.OpenOut(ctx, c.Dir)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	promises, err := f.expectations.Check(ctx, in, c.Run, c.Evaluate.Agents)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: the run is complete; check its expectations with --resume", cli.ErrInterrupted)
	}
	return promises, err
}

// check checks a finished run against the expectations and prints the result.
func (f *Flags) check(ctx context.Context, c pipeline.Config, stdout io.Writer) error {
	all, err := f.promises(ctx, c)
	if err != nil {
		return err
	}
	cli.ShowPromises(&cli.Text{Out: stdout}, all)
	if err := cli.ExitOfPromises(all); err != nil {
		fmt.Fprintf(stdout, "\nAll that is otherwise or unchecked: %s\n", store.Join(folderOf(&c), "expectations.csv"))
		return err
	}
	return nil
}
