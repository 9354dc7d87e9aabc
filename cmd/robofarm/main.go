// Command robofarm serves robots.txt files for many loopback hosts, with faults on
// request, to try robocensus without the network.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/farm"
)

// version is set at link time by make build.
var version string

// Exit codes, after sysexits.h where it has one.
const (
	exitOK    = 0
	exitUsage = 64
	exitInput = 65
	exitIO    = 74
)

const help = `robofarm serves robots.txt files for many loopback hosts, with faults on
request: a small web to try robocensus on.

  robofarm serve --dir DIR|TAR --http ADDR          serve a folder or tar of files
  robofarm warc --dir DIR|TAR --out FILE.warc.gz    write them as stored captures

  robofarm serve --help                             the flags of serve
  robofarm warc --help                              the flags of warc
  robofarm help faults                              how to make hosts misbehave
  robofarm --version
`

// failure is an error with its exit code.
type failure struct {
	error
	code int
}

func (f failure) Unwrap() error { return f.error }

func usagef(format string, args ...any) error {
	return failure{fmt.Errorf(format, args...), exitUsage}
}

func main() {
	os.Exit(mainCode(os.Args[1:], os.Stdout, os.Stderr))
}

func mainCode(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	err := dispatch(ctx, args, stdout, stderr)
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return exitOK
	}
	fmt.Fprintln(stderr, "robofarm:", err)
	if f, ok := errors.AsType[failure](err); ok {
		return f.code
	}
	return exitIO
}

func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		fmt.Fprint(stderr, help)
		return usagef("no command given")
	}
	switch args[0] {
	case "serve":
		return serve(ctx, args[1:], stdout)
	case "warc":
		return warc(ctx, args[1:], stdout)
	case "help", "--help", "-h":
		if len(args) > 1 && args[1] == "faults" {
			fmt.Fprint(stdout, farm.FaultFormat)
			return nil
		}
		fmt.Fprint(stdout, help)
		return nil
	case "version", "--version":
		fmt.Fprintln(stdout, "robofarm", toolVersion())
		return nil
	}
	return usagef("no command %q; see robofarm --help", args[0])
}

// toolVersion returns the version set at link time, else that of the module.
func toolVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}
