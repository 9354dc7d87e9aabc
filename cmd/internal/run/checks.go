package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/sitemap"
	"github.com/robocensus/robocensus/pipeline/source/hosts"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// checkSecrets refuses URLs with a name or password: messages and the plan, which may
// be published, have them.
func (f *Flags) checkSecrets() (err error) {
	f.Set.VisitAll(func(flag *pflag.Flag) {
		values, _ := valuesOf(flag)
		for _, value := range values {
			if flag.Name != "proxy" && remote.HasUser(value) {
				err = cli.Usagef("--%s: leave the name and password out of the URL: they would stand in the plan of the run",
					flag.Name)
			}
		}
	})
	return err
}

// checkSource checks that the flags name exactly one source.
func (f *Flags) checkSource() error {
	in := &f.Config.Source
	stored := len(f.given())
	if in.Hosts != "" {
		stored--
	}
	switch {
	case f.piped() > 1:
		return cli.Usagef("standard input can be read only once: give - for only one of --hosts, --ranks, --warc and --cdx")
	case f.Config.ForceNew && in.FromRun != "" && f.Config.Run != "" && cli.IsSameFile(in.FromRun, folderOf(&f.Config)):
		return cli.Usagef("--force-new would remove the run that --from-run reads; give another --run")
	case stored > 1:
		return cli.Usagef("%s exclude each other: give one of them", listed(journal.SourceFlags(nil), "and"))
	case in.LastCapture && slices.Contains(in.WARC, "-"):
		return cli.Usagef("--last-capture reads archives several times: give a file, and not standard input")
	case len(in.CDX) > 0 && f.shards > 1:
		return cli.Usagef("--cdx does not apply to shards: divide the index, for example by year, and make a run of " +
			"each part")
	case in.LastCapture && f.shards > 1:
		return cli.Usagef("--last-capture does not apply to shards: the last capture of a host may be in an archive of " +
			"another one")
	case cli.IsURL(in.Base) && !remote.IsURL(in.Base):
		return cli.Usagef("--warc-base %s: give an https:// URL, a folder of an object store (s3://), or a folder",
			remote.Name(in.Base))
	case remote.Name(in.Base) != in.Base:
		return cli.Usagef("--warc-base %s: leave out the query of the URL: paths are appended to it", remote.Name(in.Base))
	case cli.IsURL(f.Config.State):
		return cli.NotHere("state", f.Config.State)
	case stored == 1 && f.Config.State != "":
		return cli.Usagef("--state does not apply to stored answers: they are not asked over the network")
	case stored == 0 && in.Hosts == "" && len(in.Named) == 0:
		return cli.Usagef("no source given: name hosts, or give --hosts FILE (- is standard input), %s",
			listed(journal.SourceFlags(nil), "or"))
	case f.Config.Resume && f.piped() > 0:
		return cli.Usagef("--resume: standard input cannot be read again; keep the list in a file")
	}
	return nil
}

// piped returns how many inputs are standard input.
func (f *Flags) piped() (n int) {
	in := &f.Config.Source
	for _, path := range slices.Concat([]string{in.Hosts, in.Ranks}, in.CDX, in.WARC) {
		if path == "-" {
			n++
		}
	}
	return n
}

// checkValues checks the values of flags that do not name a source.
func (f *Flags) checkValues() error {
	in := &f.Config.Source
	if err := store.CheckName(f.Config.Dir); err != nil {
		return cli.Usagef("--out %w", err)
	}
	switch {
	case f.Config.Dir == "":
		return cli.Usagef("--out is missing: give a folder for the tables")
	case f.Config.Dir == "-":
		return cli.Usagef("--out -: give a folder for the tables; robocensus export writes one of them to standard output")
	case f.Fetch.Concurrency < 1 || f.Fetch.Concurrency > 100_000:
		return cli.Usagef("--concurrency must be between 1 and 100000")
	case f.Config.Evaluate.SitemapSample < 1 || f.Config.Evaluate.SitemapSample > sitemap.MaxSample:
		return cli.Usagef("--sitemap-sample must be between 1 and %d", sitemap.MaxSample)
	case f.Set.Changed("max-age") && f.Config.MaxAge > 0 && f.alsoAs != "":
		return cli.Usagef("--max-age %s and --also-as exclude each other: an answer from memory cannot be compared with "+
			"a fresh one; leave --max-age out, or give 0", f.Config.MaxAge)
	case f.Set.Changed("max-age") && f.Config.MaxAge > 0 && (f.sitemaps.Files > 0 || f.Set.Changed("documents")):
		return cli.Usagef("--max-age %s has no effect beside --sitemaps and --documents: what a host is asked for besides "+
			"must be of the hour of its robots.txt; leave --max-age out, or give 0", f.Config.MaxAge)
	case len(f.Config.Evaluate.Vantage) > 64 || strings.ContainsFunc(f.Config.Evaluate.Vantage,
		func(r rune) bool { return r < ' ' || r > '~' }):
		return cli.Usagef("--vantage: give at most 64 characters of printable ASCII")
	case f.Config.MaxAge < 0:
		return cli.Usagef("--max-age cannot be negative")
	case f.Fetch.OutagePatience <= 0:
		return cli.Usagef("--outage-patience must be positive")
	case f.Config.Grace < 0:
		return cli.Usagef("--grace cannot be negative")
	case in.Limit < 0 || in.Limit == 0 && f.Set.Changed("limit"):
		return cli.Usagef("--limit %d: give a number of hosts from 1, or leave it out for all", in.Limit)
	case f.Config.Run == "" && f.Set.Changed("run"):
		return cli.Usagef("--run is empty: give an ID, or leave it out for the time of the start")
	case !(in.Sample > 0 && in.Sample <= 1):
		return cli.Usagef("--sample must be above 0 and at most 1: 0.1 takes a tenth of the registered domains")
	case len(in.Schemes) == 0:
		return cli.Usagef("--schemes is empty: use https, http or ftp")
	case !slices.Contains(progressModes, f.progress):
		return cli.Usagef("--progress %q: use auto, bar, log or none", f.progress)
	}
	for i, scheme := range in.Schemes {
		if fetch.DefaultPort(scheme) == 0 || slices.Contains(in.Schemes[:i], scheme) {
			return cli.Usagef("--schemes %q: use https, http or ftp, each once", strings.Join(in.Schemes, ","))
		}
	}
	if err := f.checkWARCOut(); err != nil {
		return err
	}
	if file := fileAbove(f.Config.Dir); file != "" {
		return cli.Usagef("--out %s: %s is a file; give a folder for the tables", f.Config.Dir, file)
	}
	return cli.Writable(f.Config.Dir)
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
	case f.Config.WARCOut == "" && !f.Set.Changed("warc-out"):
		return nil
	case cli.IsURL(f.Config.WARCOut):
		return cli.Usagef("--warc-out %s: give a file on this machine", remote.Name(f.Config.WARCOut))
	case !strings.HasSuffix(f.Config.WARCOut, ".warc.gz"):
		return cli.Usagef("--warc-out %q: give a name that ends in .warc.gz, as readers of archives expect",
			f.Config.WARCOut)
	case f.shards > 1:
		return nil // the shards' files are in the folder of the run
	}
	to, err := store.Follow(f.Config.WARCOut)
	if err != nil {
		return cli.Usagef("--warc-out %w", err)
	}
	folder := filepath.Dir(to)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return cli.Usagef("--warc-out %s: there is no folder %s; make it first", f.Config.WARCOut, folder)
	}
	return nil
}

// given returns the flags that name a source and have a value.
func (f *Flags) given() (names []string) {
	for _, name := range append([]string{"hosts"}, journal.SourceFlags(nil)...) {
		if f.has(name) {
			names = append(names, name)
		}
	}
	return names
}

// setArguments takes the arguments: hosts to ask, or the further files of --warc or --cdx if
// the shell has expanded a glob that is not quoted.
func (f *Flags) setArguments(args []string) {
	in := &f.Config.Source
	areFiles := len(args) > 0 && !slices.ContainsFunc(args, func(arg string) bool { return !cli.IsFile(arg) })
	switch {
	case areFiles && len(in.WARC) > 0 && len(in.CDX) == 0:
		in.WARC = append(in.WARC, args...)
	case areFiles && len(in.CDX) > 0 && len(in.WARC) == 0:
		in.CDX = append(in.CDX, args...)
	default:
		in.Named = args
	}
}

// checkNamed checks the hosts given as arguments.
func (f *Flags) checkNamed() error {
	if len(f.Config.Source.Named) == 0 {
		return nil
	}
	if given := f.given(); len(given) > 0 {
		return cli.Usagef("%s and --%s are both sources: give one of them", f.Config.Source.Named[0], given[0])
	}
	for _, host := range f.Config.Source.Named {
		if info, err := os.Stat(host); err == nil && info.Mode().IsRegular() {
			return cli.Usagef("%s is a file: give --hosts %[1]s to ask the hosts in it, or https://%[1]s for the host of "+
				"that name", host)
		}
		if err := hosts.CheckName(host, f.Fetch.AllowPrivate); err != nil {
			return cli.UsageError{Err: err}
		}
	}
	return nil
}
