package run

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/exit"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// checkSecrets refuses URLs with a name or password: messages and the plan, which may
// be published, have them.
func (f *Flags) checkSecrets() (err error) {
	f.Set.VisitAll(func(flag *pflag.Flag) {
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			u, e := url.Parse(value)
			if flag.Name != "proxy" && e == nil && u.User != nil && remote.IsURL(value) {
				err = exit.Usagef("--%s: leave the name and password out of the URL: they would stand in the plan of the run", flag.Name)
			}
		}
	})
	return err
}

// checkSource checks that the flags name exactly one source.
func (f *Flags) checkSource() error {
	stored := len(f.given())
	if f.Hosts != "" {
		stored--
	}
	piped := 0
	for _, path := range append([]string{f.Hosts, f.ranks, f.cdx}, f.warc...) {
		if path == "-" {
			piped++
		}
	}
	switch {
	case piped > 1:
		return exit.Usagef("standard input can be read only once: give - for only one of --hosts, --ranks, --warc and --cdx")
	case f.forceNew && f.fromRun != "" && f.run != "" && cli.IsSameFile(f.fromRun, filepath.Join(f.out, "_runs", f.run)):
		return exit.Usagef("--force-new would remove the run that --from-run reads; give another --run")
	case stored > 1:
		return exit.Usagef("%s exclude each other: give one of them", listed(sink.SourceFlags(nil), "and"))
	case f.lastCapture && slices.Contains(f.warc, "-"):
		return exit.Usagef("--last-capture reads archives several times: give a file, and not standard input")
	case f.cdx != "" && f.shards > 1:
		return exit.Usagef("--cdx does not apply to shards: divide the index, for example by year, and make a run of each part")
	case f.lastCapture && f.shards > 1:
		return exit.Usagef("--last-capture does not apply to shards: the last capture of a host may be in an archive of another one")
	case cli.IsURL(f.warcBase) && !remote.IsURL(f.warcBase):
		return exit.Usagef("--warc-base %s: give an https:// URL, a folder of an object store (s3://), or a folder", remote.Name(f.warcBase))
	case remote.Name(f.warcBase) != f.warcBase:
		return exit.Usagef("--warc-base %s: leave out the query of the URL: paths are appended to it", remote.Name(f.warcBase))
	case cli.IsURL(f.state):
		return cli.NotHere("state", f.state)
	case stored == 1 && f.state != "":
		return exit.Usagef("--state does not apply to stored answers: they are not asked over the network")
	case stored == 0 && f.Hosts == "" && len(f.named) == 0:
		return exit.Usagef("no source given: name hosts, or give --hosts FILE (- is standard input), %s", listed(sink.SourceFlags(nil), "or"))
	case f.resume && (f.Hosts == "-" || f.cdx == "-" || slices.Contains(f.warc, "-")):
		return exit.Usagef("--resume: standard input cannot be read again; keep the list in a file")
	}
	return nil
}

// checkValues checks the values of flags that do not name a source.
func (f *Flags) checkValues() error {
	if err := store.CheckName(f.out); err != nil {
		return exit.Usagef("--out %w", err)
	}
	switch {
	case f.out == "":
		return exit.Usagef("--out is missing: give a folder for the tables")
	case f.out == "-":
		return exit.Usagef("--out -: give a folder for the tables; robocensus export writes one of them to standard output")
	case f.Concurrency < 1 || f.Concurrency > 100_000:
		return exit.Usagef("--concurrency must be between 1 and 100000")
	case f.Set.Changed("max-age") && f.maxAge > 0 && f.alsoAs != "":
		return exit.Usagef("--max-age %s and --also-as exclude each other: an answer from memory cannot be compared with a fresh one; leave --max-age out, or give 0", f.maxAge)
	case len(f.vantage) > 64 || strings.ContainsFunc(f.vantage, func(r rune) bool { return r < ' ' || r > '~' }):
		return exit.Usagef("--vantage: give at most 64 characters of printable ASCII")
	case f.maxAge < 0:
		return exit.Usagef("--max-age cannot be negative")
	case f.outagePatience <= 0:
		return exit.Usagef("--outage-patience must be positive")
	case f.grace < 0:
		return exit.Usagef("--grace cannot be negative")
	case f.limit < 0 || f.limit == 0 && f.Set.Changed("limit"):
		return exit.Usagef("--limit %d: give a number of hosts from 1, or leave it out for all", f.limit)
	case f.run == "" && f.Set.Changed("run"):
		return exit.Usagef("--run is empty: give an ID, or leave it out for the time of the start")
	case !(f.sample > 0 && f.sample <= 1):
		return exit.Usagef("--sample must be above 0 and at most 1: 0.1 takes a tenth of the registered domains")
	case len(f.schemes) == 0:
		return exit.Usagef("--schemes is empty: use https, http or ftp")
	case !slices.Contains(progressModes, f.progress):
		return exit.Usagef("--progress %q: use auto, bar, log or none", f.progress)
	}
	for i, scheme := range f.schemes {
		if fetch.DefaultPort(scheme) == 0 || slices.Contains(f.schemes[:i], scheme) {
			return exit.Usagef("--schemes %q: use https, http or ftp, each once", strings.Join(f.schemes, ","))
		}
	}
	if err := f.checkWARCOut(); err != nil {
		return err
	}
	if file := fileAbove(f.out); file != "" {
		return exit.Usagef("--out %s: %s is a file; give a folder for the tables", f.out, file)
	}
	return cli.Writable(f.out)
}

// fileAbove returns the file that has the place of a folder, or of one above it, or "".
func fileAbove(folder string) string {
	for ; !store.IsURL(folder); folder = filepath.Dir(folder) {
		if cli.IsFile(folder) {
			return folder
		}
		if filepath.Dir(folder) == folder {
			break
		}
	}
	return ""
}

// checkWARCOut checks the file of --warc-out.
func (f *Flags) checkWARCOut() error {
	switch {
	case f.warcOut == "" && !f.Set.Changed("warc-out"):
		return nil
	case cli.IsURL(f.warcOut):
		return exit.Usagef("--warc-out %s: give a file on this machine", remote.Name(f.warcOut))
	case !strings.HasSuffix(f.warcOut, ".warc.gz"):
		return exit.Usagef("--warc-out %q: give a name that ends in .warc.gz, as readers of archives expect", f.warcOut)
	case f.shards > 1:
		return nil // the shards' files are in the folder of the run
	}
	folder := filepath.Dir(f.warcOut)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return exit.Usagef("--warc-out %s: there is no folder %s; make it first", f.warcOut, folder)
	}
	return nil
}

// given returns the flags that name a source and have a value.
func (f *Flags) given() (names []string) {
	for _, name := range append([]string{"hosts"}, sink.SourceFlags(nil)...) {
		if f.has(name) {
			names = append(names, name)
		}
	}
	return names
}

// checkNamed checks the hosts given as arguments.
func (f *Flags) checkNamed() error {
	if len(f.named) == 0 {
		return nil
	}
	if given := f.given(); len(given) > 0 {
		return exit.Usagef("%s and --%s are both sources: give one of them", f.named[0], given[0])
	}
	for _, host := range f.named {
		if info, err := os.Stat(host); err == nil && info.Mode().IsRegular() {
			return exit.Usagef("%s is a file: give --hosts %[1]s to ask the hosts in it, or https://%[1]s for the host of that name", host)
		}
		if _, _, err := fetch.Parse(host, "https"); err != nil {
			return exit.UsageError{Err: err}
		}
	}
	return nil
}
