package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/farm"
	"github.com/robocensus/robocensus/cmd/internal/flags"
)

const serveHelp = `usage: robofarm serve --dir DIR|TAR --http ADDR [flags]

Serves one robots.txt per host, selected by the Host header and over https by
the server name. The files are those of a folder or tar, each named by its host
(example.com_8443: that port alone), or robots.txt in a folder named by it. Other
hosts answer 404. Prints the addresses that it listens on and, on Ctrl-C, a
report of the requests as JSON. Any host serves the report at /_farm
(/_farm?hosts=1 with all hosts; /_farm/reset clears it).

  robofarm serve --dir testdata/demo/hosts --http 127.0.0.1:8080
  curl -H 'Host: bakery.example' http://127.0.0.1:8080/robots.txt

`

type serveFlags struct {
	dir, faults, latency, caOut, addrFile string
	dns                                   string
	http, https                           []string
	seed                                  uint64
	top                                   int
}

func serve(ctx context.Context, args []string, stdout io.Writer) error {
	var f serveFlags
	set := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	set.SortFlags = false
	set.StringVar(&f.dir, "dir", "", "folder, tar or tar.gz of robots.txt files")
	set.StringArrayVar(&f.http, "http", nil, "serve http on this loopback `address` (port 0: any free one); repeatable")
	set.StringArrayVar(&f.https, "https", nil, "serve https on this loopback `address`; repeatable")
	set.StringVar(
		&f.dns, "dns", "",
		"resolve every name by DNS on this loopback `address` (UDP), to one of the addresses\nabove, chosen by the name",
	)
	set.StringVar(&f.caOut, "ca-out", "", "write the certificate that clients must trust to this `file` (PEM)")
	set.StringVar(&f.faults, "faults", "", "YAML `file` of hosts that misbehave; see robofarm help faults")
	set.StringVar(
		&f.latency, "latency", "none",
		"delay per host: none, hang, fixed:50ms, uniform:10ms-200ms,\n"+
			"lognormal:median=80ms,sigma=0.8, mix:0.95=uniform:1ms-200ms,0.05=hang",
	)
	set.Uint64Var(&f.seed, "seed", 1, "seed of the delays: the same seed draws the same delays")
	set.IntVar(&f.top, "top", 20, "list this many hosts and domains in the report at the end; -1: all")
	set.StringVar(&f.addrFile, "addr-file", "", "write the addresses to this `file` too, once all can be dialled")
	set.Usage = func() { fmt.Fprint(stdout, serveHelp, flags.Usages(set, 0)) }
	if err := flags.Parse(set, args); err != nil {
		return failure{err, exitUsage}
	}
	switch {
	case set.NArg() > 0:
		return usagef("unexpected argument %q; see robofarm serve --help", set.Arg(0))
	case f.dir == "" && f.faults == "":
		return usagef("nothing to serve: give --dir, or --faults with bodies")
	case len(f.http)+len(f.https) == 0:
		return usagef("no address to listen on: give --http, as in --http 127.0.0.1:8080")
	case len(f.https) > 0 && f.caOut == "":
		return usagef("--https needs --ca-out FILE: no client would trust the certificates without it")
	}
	config, err := f.config()
	if err != nil {
		return err
	}
	srv, err := farm.New(config)
	if err != nil {
		return failure{err, exitInput}
	}
	defer srv.Close()
	if err := f.listen(ctx, srv, stdout); err != nil {
		return err
	}
	<-ctx.Done()
	report := srv.Report(f.top)
	srv.Close()
	out := json.NewEncoder(stdout)
	out.SetIndent("", "  ")
	return out.Encode(report)
}

// config loads the files that the flags name.
func (f *serveFlags) config() (c farm.Config, err error) {
	if f.dir != "" {
		if c.Hosts, err = farm.Load(f.dir); err != nil {
			return c, failure{err, exitInput}
		}
	}
	if f.faults != "" {
		file, err := os.Open(f.faults)
		if err != nil {
			return c, failure{fmt.Errorf("read faults: %w", err), exitInput}
		}
		defer file.Close()
		if c.Faults, err = farm.ParseFaults(file, f.faults); err != nil {
			return c, failure{err, exitInput}
		}
	}
	if c.Latency, err = farm.ParseLatency(f.latency, f.seed); err != nil {
		return c, failure{fmt.Errorf("--latency: %w", err), exitUsage}
	}
	return c, nil
}

func (f *serveFlags) listen(ctx context.Context, srv *farm.Server, stdout io.Writer) error {
	if f.caOut != "" {
		if err := flags.WriteFile(ctx, f.caOut,
			func(w io.Writer) error { _, err := w.Write(srv.CA()); return err }); err != nil {
			return err
		}
	}
	var lines strings.Builder
	for _, group := range []struct {
		scheme string
		addrs  []string
		listen func(string) (string, error)
	}{{"http", f.http, srv.ListenHTTP}, {"https", f.https, srv.ListenHTTPS}} {
		for _, addr := range group.addrs {
			at, err := group.listen(addr)
			if err != nil {
				return err
			}
			fmt.Fprintf(&lines, "%s://%s\n", group.scheme, at)
		}
	}
	if f.dns != "" {
		at, err := srv.ListenDNS(f.dns)
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "dns://%s\n", at)
	}
	fmt.Fprint(stdout, lines.String())
	if f.addrFile == "" {
		return nil
	}
	return flags.WriteFile(ctx, f.addrFile,
		func(w io.Writer) error { _, err := io.WriteString(w, lines.String()); return err })
}
