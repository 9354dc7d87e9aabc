package main

import (
	"slices"

	"github.com/robocensus/robocensus/sink"
)

// checkEffect refuses flags of the command line that would change nothing. A
// configuration file may set them, because it may serve runs of several sources.
func (f *runFlags) checkEffect() error {
	given := func(name string) bool { return f.set.Changed(name) && !f.fromFile[name] }
	for _, source := range f.given() {
		if source == "hosts" {
			continue
		}
		for _, s := range sink.Settings {
			// Servers of archives may redirect to a special address; stored files do not
			// say their schemes.
			if !s.Asks || !given(s.Name) || s.Name == "allow-private" && (source == "warc" || source == "warc-paths" || source == "cdx") || s.Name == "schemes" && source == "bodies" {
				continue
			}
			return usagef("--%s does not apply to stored answers (--%s): they are not asked over the network", s.Name, source)
		}
	}
	switch {
	case given("archive-rate") && len(f.warc) == 0 && f.warcPaths == "" && f.cdx == "":
		return usagef("--archive-rate needs --warc, --warc-paths or --cdx: it is for servers of WARC files")
	case given("last-capture") && len(f.warc) == 0 && f.warcPaths == "" && f.cdx == "":
		return usagef("--last-capture needs --warc, --warc-paths or --cdx: only archives have several captures of a host")
	case given("warc-no-secrets") && f.warcNoSecrets && f.warcOut == "":
		return usagef("--warc-no-secrets needs --warc-out: only there are headers kept")
	case given("keep-comments") && f.keepComments && !hasComments(f.tables):
		return usagef("--keep-comments needs the table lines: add it to --tables")
	case given("resolver") && f.connectTo != "":
		return usagef("--resolver and --connect-to exclude each other: with --connect-to no name is looked up")
	case given("per-resolver") && (f.connectTo != "" || f.proxy != ""):
		return usagef("--per-resolver does not apply with --connect-to or --proxy: no name is looked up")
	case given("force-new") && f.forceNew && f.run == "":
		return usagef("--force-new needs --run ID: without it every run is new")
	case given("force-new") && f.forceNew && given("resume") && f.resume:
		return usagef("--resume and --force-new exclude each other: give one of them")
	}
	return nil
}

// hasComments reports whether comments show in tables: as rows of lines, or counted.
func hasComments(tables []string) bool {
	return len(tables) == 0 || slices.ContainsFunc([]string{"lines", "summary", "examples"}, func(table string) bool { return slices.Contains(tables, table) })
}
