package source

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/robocensus/robocensus/sink/store/remote"
)

// A list of archives or an index of captures may be a stranger's, and this machine opens
// what it names. So a name stays below --warc-base. Without one, a list may name files as
// --warc may, an index those below the working folder, and both https URLs; but no object
// store, for which this machine would look for keys, and no special address, unless a flag
// names the same store or server. Links below a folder are the user's own, and are
// followed.

// locate returns the URL or the path in the file system of an archive. Base applies to
// relative paths.
func (c *Config) locate(path string) string {
	switch {
	case c.Base == "" || path == "-" || remote.IsURL(path):
		return path
	case remote.IsURL(c.Base):
		return strings.TrimRight(c.Base, "/") + "/" + path
	}
	return filepath.Join(c.Base, path)
}

// refusal returns why an archive that a list or an index names is not opened: the kind of
// reason that rejected.csv has, and the text; "" for an archive that is.
func (c *Config) refusal(list, path string) (kind, why string) {
	const notCapture, outside = "not_a_capture", "outside_base"
	switch isURL := remote.IsURL(path); {
	case path == "-":
		return notCapture, "names standard input; give it as --warc -"
	case strings.Contains(path, "://") && !isURL:
		return notCapture, "names a URL of another scheme than https or that of an object store"
	case isURL && c.Base != "" && !remote.IsBelow(c.Base, path):
		return outside, "names a URL that is not below --warc-base"
	case isURL && c.Base == "" && remote.IsBucket(path) && !remote.SameServer(list, path):
		return outside, "names an object store that no flag names; give its URL as --warc-base"
	case isURL:
	case c.Base == "" && remote.IsURL(list):
		return notCapture, "names a path and no URL; give the URL that it is relative to as --warc-base"
	case remote.IsURL(c.Base) && !remote.StaysBelow(path):
		return outside, "names a path that points outside --warc-base"
	case !remote.IsURL(c.Base) && (c.Base != "" || len(c.CDX) > 0) && !filepath.IsLocal(path):
		return outside, "names a path that points outside --warc-base"
	}
	return "", ""
}

// guarded returns the context to open an archive in. A server that a flag names may have
// any address, as --warc names it; one that only a list or an index names may not.
func (c *Config) guarded(ctx context.Context, at string) context.Context {
	if c.Paths == "" && len(c.CDX) == 0 {
		return ctx
	}
	for _, named := range append([]string{c.Base, c.Paths}, c.CDX...) {
		if remote.SameServer(named, at) {
			return ctx
		}
	}
	return remote.Unnamed(ctx)
}
