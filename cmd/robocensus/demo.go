package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/run"
	"github.com/robocensus/robocensus/cmd/internal/settings"
	"github.com/robocensus/robocensus/testdata"
)

const demoHelp = `Takes a census of a small web on this machine: about a hundred hosts,
well-behaved and broken ones, which this process serves on loopback. It needs no
network and no configuration. It takes the flags of run that fit it, so you can try
--profile google,google-2012 or --agents FILE.`

func demoCommand() *cobra.Command {
	f := run.New()
	for _, name := range settings.NotOf("demo") {
		f.Set.MarkHidden(name)
	}
	c := &cobra.Command{
		Use: "demo [--out DIR] [flags of run]", Short: "Take a census of a small web on this machine", Long: demoHelp,
		RunE: func(c *cobra.Command, args []string) error {
			if err := cli.CheckNoMore(args, 0); err != nil {
				return err
			}
			return runDemo(c.Context(), f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.AddTo(c)
	return c
}

func runDemo(ctx context.Context, f *run.Flags, stdout, stderr io.Writer) (err error) {
	if err := f.ApplyConfig(ctx); err != nil {
		return err
	}
	for _, name := range settings.NotOf("demo") {
		if f.Set.Changed(name) {
			return cli.Usagef("--%s is for run: demo brings its own hosts and asks this machine only", name)
		}
	}
	set := func(name, value string) {
		if err == nil && !f.Set.Changed(name) {
			err = f.Set.Set(name, value)
		}
	}
	set("out", "out")
	set("schemes", "http")
	set("timeout", "4s") // one host hangs; the slowest other one takes 2.5s
	set("retries", "1")
	if err != nil {
		return err
	}

	files, err := fs.Sub(testdata.Demo, "demo")
	if err != nil {
		return err
	}
	web, addr, err := startDemo(files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, web.Close()) }()
	f.ConnectTo = addr

	hosts, err := fs.ReadFile(files, "hosts.csv")
	if err != nil {
		return err
	}
	folder, err := temporaryFolder("robocensus-demo-")
	if err != nil {
		return fmt.Errorf("create a folder for the demo's list of hosts: %w", err)
	}
	defer os.RemoveAll(folder)
	f.Config.Source.Hosts = filepath.Join(folder, "hosts.csv")
	if err := os.WriteFile(f.Config.Source.Hosts, hosts, 0o666); err != nil {
		return fmt.Errorf("write the demo's list of hosts: %w", err)
	}
	c, err := f.Build(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "a small web answers at %s; asking the hosts of a list of %d lines …\n", addr,
		bytes.Count(hosts, []byte("\n"))-1)
	defer cli.PaceGarbage()()
	return f.Execute(ctx, c, stdout, stderr)
}

// temporaryFolder makes a folder for temporary files: in the working folder where the
// machine has none for them, as a container of this binary alone.
func temporaryFolder(pattern string) (string, error) {
	in := os.TempDir()
	if _, err := os.Stat(in); errors.Is(err, fs.ErrNotExist) {
		in = "."
	}
	return os.MkdirTemp(in, pattern)
}
