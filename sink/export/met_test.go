package export

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// What identities met, summed by hand: hosts that a run cannot compare, that an earlier version
// asked, and that turn the control away, too.
func TestWhatIdentitiesMet(t *testing.T) {
	dir := t.TempDir()
	run, err := sink.Create(dir, journal.Plan{Run: "r", ToolVersion: "v0", Tables: []string{"fetches", "answers"},
		Profiles: []string{"google"},
		Started:  time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), Configuration: map[string]any{}})
	must(t, err)
	s, err := run.Segment(0)
	must(t, err)
	for i, host := range []struct {
		path, class, control, bot, remark string
		rank                              *int64
		cdn                               *string
	}{
		{"/robots.txt", "allow_all", "served", "challenged", "", nil, nil},
		{"/robots.txt", "partial", "served", "served", "", nil, nil}, // another file
		{"/robots.txt", "disallow_all", "refused", "refused", "", nil, nil},
		{"/robots.txt", "allow_all", "incomparable", "incomparable", "", nil, nil},
		{"", "partial", "failing", "failing", "", nil, nil},
		{"/", "unknown", "served", "refused", "once", new(int64(5)), nil},
		{"/", "unknown", "served", "served_other", "", new(int64(5000)), new("cloudflare")},
		{"/", "unknown", "refused", "refused", "", nil, nil},
		{"/", "unknown", "served", "not_asked", "", nil, nil},
	} {
		seq := int64(i)
		must(t, s.Fetches.Write(schema.Fetch{Seq: seq, Host: "h.example", Rank: host.rank, CDN: host.cdn}))
		a := schema.Answer{Seq: seq, Host: "h.example", Rank: host.rank, Path: host.path, Class: host.class,
			Policy: "stricter", Same: new(false)}
		if host.path == "/" {
			a.Paper = new("open")
		}
		control, bot := a, a
		control.Identity, control.IsControl, control.Treatment, control.Remark, control.Same = "us", true, host.control,
			schema.NonZero(host.remark), new(true)
		bot.Identity, bot.Agent, bot.Category, bot.Treatment = "bot", new("Bot"), new("search"), host.bot
		must(t, s.Answers.Write(bot, control))
		s.Targets++
	}
	must(t, s.Commit())
	must(t, run.Close())
	in := sinktest.Open(t, dir)
	m, err := journal.ReadManifest(in, "r")
	must(t, err)
	for view, want := range map[string]string{
		"turned_away": `identity,is_control,agent,category,let_in,turned_away,challenged,served_otherwise,percent,beyond
us,true,,,3,1,0,0,33.3,
bot,false,Bot,search,3,2,1,1,66.7,33.3
`,
		"paper_and_practice": `identity,agent,category,paper,dimension,value,hosts,served,served_other,payment,rate_limited,challenge,refused,redirected_away,server_error,no_answer,control_away,percent,beyond,low,high
bot,Bot,search,open,all,,2,0,1,0,0,0,1,0,0,0,1,50,0,-57.3,57.3
bot,Bot,search,open,cdn,cloudflare,1,0,1,0,0,0,0,0,0,0,0,0,0,-79.3,79.3
bot,Bot,search,open,cdn,none,1,0,0,0,0,0,1,0,0,0,1,100,0,-79.3,79.3
bot,Bot,search,open,stratum,1-1000,1,0,0,0,0,0,1,0,0,0,1,100,0,-79.3,79.3
bot,Bot,search,open,stratum,1001-10000,1,0,1,0,0,0,0,0,0,0,0,0,0,-79.3,79.3
`,
	} {
		var out bytes.Buffer
		_, err := Table(t.Context(), &out, in, m, Selection{Table: view}, "csv")
		must(t, err)
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", view, diff)
		}
	}
}
