package pipeline

import (
	"context"
	"encoding/hex"
	"errors"
	"hash"

	"github.com/robocensus/robocensus/sink"
)

// Source says where the captures come from: hosts to ask, or one of the
// others, which hold captures already. Beside one of those, Hosts is a filter.
type Source struct {
	Hosts   string   // path of the hosts list, - for standard input
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
	for role, path := range map[string]string{"hosts": n.Hosts, "ranks": n.Ranks} {
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
	if n.Ranks != "" {
		if n.ranks, err = readRanks(ctx, n.Ranks); err != nil {
			return nil, err
		}
		if n.ranks.hosts.used == 0 {
			return nil, &InputError{Path: n.Ranks, Err: errors.New("ranks no host; give lines such as 1,example.com")}
		}
	}
	return inputs, nil
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
