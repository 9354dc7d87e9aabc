package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/farm"
	"github.com/robocensus/robocensus/cmd/internal/flags"
)

const warcHelp = `usage: robofarm warc --dir DIR|TAR --out FILE.warc.gz [flags]

Writes captures of robots.txt files as Common Crawl stores them: a request,
response and metadata record each, bodies decoded, the headers of removed
encodings renamed to X-Crawler-Content-Encoding and the like. The suffix of FILE
selects the form: .warc.gz (a gzip member per record), .warc.zst (a frame per
record), .warc, or .arc.gz and .arc, the format before WARC. URLs
are https; those of hosts with a port (example.com_8080) are http unless the port
ends in 443. The same files and flags give the same bytes.

  robofarm warc --dir testdata/demo/hosts --out hosts.warc.gz
  robofarm warc --dir hosts.tar.gz --out large.warc.gz --repeat 100 --other 40

`

func warc(ctx context.Context, args []string, stdout io.Writer) error {
	var dir, out string
	var archive farm.Archive
	set := pflag.NewFlagSet("warc", pflag.ContinueOnError)
	set.SortFlags = false
	set.StringVar(&dir, "dir", "", "folder, tar or tar.gz of robots.txt files")
	set.StringVar(&out, "out", "", "`file` to write: .warc.gz, .warc.zst, .warc, .arc.gz or .arc")
	set.IntVar(&archive.Repeat, "repeat", 1,
		"captures of every body: the 3rd of the 17th host, by name,\nhas the host site17-3.test")
	set.IntVar(&archive.Other, "other", 0,
		"`percentage` of captures with a 404, a 301 or a 403 (6:3:1) in place\nof the body")
	set.Usage = func() { fmt.Fprint(stdout, warcHelp, flags.Usages(set, 0)) }
	if err := flags.Parse(set, args); err != nil {
		return failure{err, exitUsage}
	}
	switch {
	case set.NArg() > 0:
		return usagef("unexpected argument %q; see robofarm warc --help", set.Arg(0))
	case dir == "" || out == "":
		return usagef("--dir and --out are missing: give both, as in --dir hosts --out hosts.warc.gz")
	case !farm.IsArchive(out):
		return usagef("--out %s: want a name that ends in .warc.gz, .warc.zst, .warc, .arc.gz or .arc", out)
	case archive.Repeat < 1:
		return usagef("--repeat %d: want 1 or more", archive.Repeat)
	case archive.Other < 0 || archive.Other > 100:
		return usagef("--other %d: want a percentage, 0 to 100", archive.Other)
	}
	var err error
	if archive.Hosts, err = farm.Load(dir); err != nil {
		return failure{err, exitInput}
	}
	var captures int
	err = flags.WriteFile(ctx, out, func(w io.Writer) (err error) {
		captures, err = archive.Write(ctx, w, out)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %d captures\n", out, captures)
	return nil
}
