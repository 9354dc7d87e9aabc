package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/schema"
)

// expectServed expects every host to answer us, and each of two identities as us: no row
// says that somebody was turned away because this machine was cut off.
func (n *network) expectServed(dir string, hosts int) {
	n.t.Helper()
	if rows := n.rows(dir); len(rows) != hosts {
		n.t.Errorf("%d rows of fetches of %d hosts", len(rows), hosts)
	}
	parts, err := filepath.Glob(filepath.Join(dir, "out/answers/run=r/*.parquet"))
	must(n.t, err)
	met := make(map[string]int)
	for _, part := range parts {
		rows, err := parquet.ReadFile[schema.Answer](part)
		must(n.t, err)
		for i := range rows {
			r := &rows[i]
			if met[r.Identity+" "+r.Treatment]++; r.Treatment != "served" || r.Policy != "equal" {
				n.t.Errorf("%s as %s: %s, %s", r.Host, r.Identity, rowText(r), text(r.Error))
			}
		}
	}
	if met["control served"] != hosts || met["bot served"] != hosts {
		n.t.Errorf("answers of %d hosts: %v", hosts, met)
	}
	n.t.Logf("%d hosts, %d requests", hosts, n.requests.Load())
}

// asBot writes a list of identities and returns the flags that ask under them.
func asBot(t *testing.T, dir string) []string {
	list := filepath.Join(dir, "also.yaml")
	must(t, os.WriteFile(list, []byte("- {name: control}\n- {name: bot, user_agent: Bot/1}\n"), 0o666))
	return []string{"--also-as", list, "--tables", "fetches,answers", "--concurrency", "100"}
}

// An outage of ours amid the requests under identities turns nobody away: these requests
// are made again.
func TestAnOutageTurnsNoIdentityAway(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string][2]func(n *network){
		"packets are dropped": {(*network).cut, (*network).mend},
		"the link is down": {func(n *network) { n.ip("-n", n.far, "link", "set", "line", "down") }, func(n *network) {
			n.ip("-n", n.far, "link", "set", "line", "up")
		}},
		"no default route": {func(n *network) { n.ip("-n", n.near, "route", "del", "default") }, func(n *network) {
			n.ip("-n", n.near, "route", "add", "default", "via", "10.255.0.1")
		}},
		"the resolver hangs": {func(n *network) { n.noNames.Store(true) }, func(n *network) { n.noNames.Store(false) }},
	} {
		if testing.Short() && name != "packets are dropped" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t)
			hosts, dir := scale(1000), t.TempDir()
			at := hosts * 3 / 2 // amid the second requests
			if name == "the resolver hangs" {
				at = hosts / 2 // later all names are known
			}
			n.on(at, func() {
				faults[0](n)
				time.Sleep(faultLasts)
				faults[1](n)
			})
			n.ends(n.census(dir, named("h%d.test", hosts), asBot(t, dir)...), 0)
			n.expectServed(dir, hosts)
		})
	}
}

// Nor does an outage that ends the run: what was not committed is asked when it resumes.
func TestAnOutageThatEndsTheRunTurnsNoIdentityAway_NoRace(t *testing.T) {
	if testing.Short() {
		t.Skip("another outage amid identities; TestAnOutageTurnsNoIdentityAway is the short form")
	}
	t.Parallel()
	n := newNetwork(t)
	hosts, dir := scale(1000), t.TempDir()
	n.on(hosts*3/2, n.cut)
	flags := asBot(t, dir)
	n.ends(n.census(dir, named("h%d.test", hosts), append(flags, "--outage-patience", "3s")...), 75)
	n.mend()
	n.ends(n.census(dir, named("h%d.test", hosts), append(flags, "--resume")...), 0)
	n.expectServed(dir, hosts)
}
