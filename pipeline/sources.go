package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink"
)

// Source says where the captures come from: hosts to ask, or one of the
// others, which hold captures already. Beside one of those, Hosts is a filter.
type Source struct {
	Hosts   string   // path of the hosts list, - for standard input
	Named   []string // the hosts themselves, in place of a list
	WARC    []string // patterns of WARC files, - for standard input
	Bodies  string   // folder or tar of robots.txt files
	FromRun string   // DIR/_runs/ID of an earlier run
	Ranks   string   // list of ranked hosts, for WARC and bodies
}

// IsStored says that nothing is asked of the network.
func (s *Source) IsStored() bool { return len(s.WARC) > 0 || s.Bodies != "" || s.FromRun != "" }

// open finds out what the source is made of, before the run is begun.
func (n *census) open(ctx context.Context) (inputs []sink.Input, err error) {
	limit := n.Fetch.MaxBody
	switch {
	case len(n.WARC) > 0:
		var paths []string
		if paths, err = archives(n.WARC); err == nil {
			n.volumes, err = n.archiveVolumes(paths, limit)
		}
	case n.Bodies != "":
		var v volume
		v, err = n.bodyVolume(n.Bodies, limit)
		n.volumes = numbered([]volume{v})
	case n.FromRun != "":
		n.volumes, err = n.runVolumes(n.FromRun)
	}
	if err != nil {
		return nil, err
	}
	bytes := int64(0)
	for _, v := range n.volumes {
		inputs, bytes = append(inputs, v.input), bytes+v.input.Bytes
	}
	for _, list := range []struct{ role, path string }{{"hosts", n.Hosts}, {"ranks", n.Ranks}} {
		role, path := list.role, list.path
		switch path {
		case "":
		case "-":
			inputs = append(inputs, sink.Input{Role: role, Path: path})
		default:
			in, err := inspect(ctx, path)
			if err != nil {
				return nil, err
			}
			in.Role = role
			inputs = append(inputs, in)
			if !n.IsStored() {
				n.progress.expect(in.Rows, n.Limit)
			}
		}
	}
	if n.Limit == 0 && bytes > 0 && len(n.WARC) > 0 {
		n.progress.expect(bytes, 0)
	}
	if len(n.Named) > 0 {
		sum := sha256.Sum256([]byte(strings.Join(n.Named, "\n")))
		inputs = append(inputs, sink.Input{Role: "hosts", Path: namedPath, SHA256: hex.EncodeToString(sum[:]), Rows: int64(len(n.Named))})
		n.progress.expect(int64(len(n.Named)), n.Limit)
	}
	if n.Ranks != "" {
		if n.ranks, err = readRanks(ctx, n.Ranks); err != nil {
			return nil, err
		}
		if n.ranks.hosts.used == 0 {
			return nil, &userfile.Error{Path: n.Ranks, Err: errors.New("has no ranked host; give lines such as 1,example.com")}
		}
	}
	return inputs, nil
}

// namedPath stands for the path of a list where hosts are named.
const namedPath = "the hosts given"

// readTargets reads the rows of the hosts to ask; see [readHosts].
func (s *Source) readTargets(ctx context.Context, sum io.Writer, yield func(row) error) error {
	if len(s.Named) == 0 {
		return readHosts(ctx, s.Hosts, sum, yield)
	}
	for i, host := range s.Named {
		if err := yield(row{line: int64(i) + 1, text: host, host: host}); err != nil {
			return err
		}
	}
	return nil
}

// nothing is why there was no target.
func (n *census) nothing() error {
	path, wanted := n.Hosts, "holds no host; give one host, origin or URL to a line, or a table with a column host, url or host_rev"
	skipped := n.skipped.sum
	switch {
	case len(n.Named) > 0:
		path, wanted = namedPath, "are no hosts"
	case n.filter != nil && n.filter.isEmpty():
	case n.filter != nil && skipped.OtherHosts > 0:
		wanted = fmt.Sprintf("names no host of the %d stored answers; give hosts that are among them", skipped.OtherHosts)
	case len(n.WARC) > 0 && skipped.OtherURLs+skipped.OtherRecords > 0:
		path, wanted = strings.Join(n.WARC, " "), fmt.Sprintf("holds no capture of a robots.txt, but %d of other URLs and %d other records", skipped.OtherURLs, skipped.OtherRecords)
	case len(n.WARC) > 0:
		path, wanted = strings.Join(n.WARC, " "), "holds no WARC record; give files such as those of a crawl's robotstxt folder"
	case n.Bodies != "":
		path, wanted = n.Bodies, "holds no file named by a host, as in example.com or example.com_8443"
	case n.FromRun != "":
		path, wanted = n.FromRun, "is a run without hosts"
	}
	if path == "-" {
		path = "standard input"
	}
	if n.rejects.n > 0 {
		wanted = fmt.Sprintf("%s; %d were rejected, first of all %s", wanted, n.rejects.n, sink.TextString(n.rejects.first))
	}
	return &userfile.Error{Path: path, Err: errors.New(wanted)}
}

// digested completes the inputs with the digest of what could be read only
// once.
func digested(inputs []sink.Input, sum hash.Hash) []sink.Input {
	for i := range inputs {
		if in := &inputs[i]; in.Role == "hosts" && in.SHA256 == "" {
			in.SHA256 = hex.EncodeToString(sum.Sum(nil))
		}
	}
	return inputs
}
