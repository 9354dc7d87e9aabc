package input

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
)

// extensions are endings of files that are not top-level domains.
var extensions = []string{"txt", "html", "htm", "json", "jsonl", "csv", "tsv", "xml", "yaml", "yml", "log", "bak",
	"old", "orig", "tmp", "gz", "zst", "warc", "parquet", "sha256"}

var errNotHost = errors.New("the file is not named by a host; call it example.com, or example.com/robots.txt")

// isNotice reports whether a name is like README.md: md is a top-level domain too, whose
// hosts nobody writes in capitals.
func isNotice(name string) bool {
	stem, ok := strings.CutSuffix(name, ".md")
	return ok && stem == strings.ToUpper(stem) && stem != strings.ToLower(stem)
}

// Host returns what names the host of a file.
func (f *BodyFile) Host() string { return userfile.HostName(f.Name) }

// Origin returns the origin that the file is named by; see [originOf]. A file is named by a
// host with a top-level domain, or by a folder around it, which may be called anything.
func (f *BodyFile) Origin(first string) (fetch.Origin, error) {
	o, err := originOf(f.Host(), first)
	if err == nil && path.Base(f.Name) == f.Host() && !strings.ContainsAny(f.Host(), ":[_") && !fetch.HasTopLevel(o.Host) {
		return fetch.Origin{}, errNotHost
	}
	return o, err
}

// originOf returns the origin that the name of a file or folder stands for. Not every
// file system allows a colon in a name, so www.hrs.de_443 stands for port 443. A default
// port decides the scheme; otherwise it is first.
//
// Not every file in a folder is named by a host: README would be a host without a dot,
// and robots.txt one with the top-level domain txt.
func originOf(name, first string) (fetch.Origin, error) {
	i := strings.LastIndexByte(name, '_')
	hasPort := i >= 0 && name[i+1:] != "" && strings.Trim(name[i+1:], "0123456789") == ""
	if dot := strings.LastIndexByte(name, '.'); !hasPort && !strings.ContainsAny(name, ":[") {
		if dot < 0 && !strings.EqualFold(name, "localhost") {
			return fetch.Origin{}, errNotHost
		}
		if slices.Contains(extensions, strings.ToLower(name[dot+1:])) || isNotice(name) {
			return fetch.Origin{}, errNotHost
		}
	}
	if !hasPort {
		o, _, err := fetch.Parse(name, first)
		return o, err
	}
	host, port := name[:i], name[i+1:]
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		host = "[" + host + "]" // otherwise the port would be part of the address
	}
	for _, scheme := range []string{"http", "https"} {
		if o, _, err := fetch.Parse(host+":"+port, scheme); err == nil && o.Port == fetch.DefaultPort(scheme) {
			return o, nil
		}
	}
	o, _, err := fetch.Parse(host+":"+port, first)
	return o, err
}
