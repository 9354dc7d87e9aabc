package run

import (
	"context"
	"io"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/recap"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/journal"
)

// runResult is what run --json prints.
type runResult struct {
	Run      string `json:"run"`
	Folder   string `json:"folder"`
	State    string `json:"state"`
	Hosts    *int64 `json:"hosts,omitempty"`    // absent if a run over archives did not count them
	Captures *int64 `json:"captures,omitempty"` // of a run over archives
	Rejected int64  `json:"rejected"`

	// Absent if the run was already complete:
	Seconds  float64          `json:"seconds,omitempty"` // of this process
	Earlier  *int64           `json:"earlier,omitempty"` // hosts that earlier processes of the run have asked or judged
	Profile  string           `json:"profile"`           // the first profile: the figures are its
	Outcomes map[string]int64 `json:"outcomes,omitempty"`
	Reasons  map[string]int64 `json:"reasons,omitempty"`
	Failures map[string]int64 `json:"failures,omitempty"` // hosts with reason network_failure, by error class
	Walls    map[string]int64 `json:"walls,omitempty"`    // hosts that a wall kept from being read, by vendor
	Read     *int64           `json:"read,omitempty"`     // hosts that were read

	Unmatched    *int64            `json:"unmatched,omitempty"` // hosts of --hosts that have no stored answer
	Rows         map[string]int64  `json:"rows"`                // rows by table
	Expectations []*expect.Promise `json:"expectations,omitempty"`
}

// setLines has the run print each host to stdout with --lines, and returns where the
// summary goes.
func (f *Flags) setLines(c *pipeline.Config, stdout, stderr io.Writer) io.Writer {
	if !f.lines {
		return stdout
	}
	c.HostLine = func(line *evaluate.HostLine) error { return cli.JSONLine(stdout, line) }
	return stderr
}

// setTargets sets the number of targets, which are captures where the source has
// archives. hosts is the number of their hosts, 0 if unknown.
func (r *runResult) setTargets(c *pipeline.Config, targets, hosts int64) {
	switch {
	case !c.Source.HasArchives():
		r.Hosts = &targets
	case hosts > 0 || targets == 0:
		r.Hosts, r.Captures = &hosts, &targets
	default:
		r.Captures = &targets
	}
}

func (f *Flags) writeResult(ctx context.Context, c pipeline.Config, r *pipeline.Result, hosts int64,
	stdout io.Writer) error {
	x := recap.FiguresOf(c.Evaluate.Profiles[0].Name, r.Targets, r.Counts)
	// whose policy is not defined, whatever their status says
	if walls := x.Reasons[string(answer.Challenged)]; walls > 0 {
		x.Outcomes[string(answer.Undefined)] += walls
	}
	read := x.Read()
	out := runResult{
		Folder: r.Folder, Rejected: r.Rejected, Seconds: r.Elapsed.Seconds(), Earlier: &r.Earlier, Unmatched: r.Unmatched,
		Outcomes: x.Outcomes, Reasons: x.Reasons, Failures: x.Failures, Walls: x.Walls, Read: &read, Rows: r.Rows,
	}
	out.setTargets(&c, r.Targets, hosts)
	return f.write(ctx, c, stdout, out)
}

// writeComplete prints the result of a run that was already complete.
func (f *Flags) writeComplete(ctx context.Context, c pipeline.Config, stdout io.Writer) error {
	in, m, err := cli.OpenRun(ctx, c.Dir, c.Run)
	if err != nil {
		return err
	}
	defer in.Close()
	rows := make(map[string]int64)
	for _, table := range m.Tables {
		for _, p := range m.PartsOf(table) {
			rows[table] += p.Rows
		}
	}
	out := runResult{Folder: folderOf(&c), Rejected: m.Rejected, Rows: rows}
	out.setTargets(&c, m.Targets, hostsOf(ctx, c))
	return f.write(ctx, c, stdout, out)
}

func (f *Flags) write(ctx context.Context, c pipeline.Config, stdout io.Writer, r runResult) error {
	r.Run, r.State, r.Profile = c.Run, journal.Complete, c.Evaluate.Profiles[0].Name
	var err error
	if r.Expectations, err = f.promises(ctx, c); err != nil {
		return err
	}
	if err := cli.JSON(stdout, r); err != nil {
		return err
	}
	return cli.ExitOfPromises(r.Expectations)
}
