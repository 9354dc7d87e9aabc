package source

import (
	"context"
	"io"
	"strings"

	"github.com/robocensus/robocensus/fetch"
)

// ranks maps hosts to ranks, for sources without ranks. A host that is not found is
// looked up without or with "www.": lists name sites, archives name the hosts that
// answered for them.
type ranks struct{ hosts hashMap[int64] }

func (r *ranks) of(host string) (int64, bool) {
	if rank, ok := r.hosts.get(host); ok {
		return rank, true
	}
	other, ok := strings.CutPrefix(host, "www.")
	if !ok {
		other = "www." + host
	}
	return r.hosts.get(other)
}

// readRanks reads the file of --ranks, in any form of a hosts list. The first rank
// of a host counts.
func readRanks(ctx context.Context, path string) (out ranks, err error) {
	err = readHosts(ctx, path, io.Discard, func(r row) error {
		if r.err != "" || r.rank == nil || r.host == "" {
			return nil
		}
		if o, _, err := fetch.Parse(r.host, "http"); err == nil {
			out.hosts.put(o.Host, *r.rank)
		}
		return nil
	})
	return out, err
}

// filter holds the hosts and origins of --hosts beside a stored source.
type filter struct {
	hosts   hashSet // hosts named without a scheme: all their origins
	origins hashSet
	ranks   ranks // that the list gives
}

func (f *filter) has(o fetch.Origin) bool {
	return f.hosts.has(o.Host) || f.origins.has(o.String())
}

func (f *filter) isEmpty() bool { return f.hosts.used == 0 && f.origins.used == 0 }

// readFilter reads the list of --hosts as a filter. It rejects lines that name no
// host.
func readFilter(ctx context.Context, path string, sum io.Writer, reject func(line int64, text, reason string) error) (*filter, error) {
	f := &filter{}
	err := readHosts(ctx, path, sum, func(r row) error {
		if r.err != "" {
			return reject(r.line, r.text, r.err)
		}
		given := r.given()
		o, _, err := fetch.Parse(given, "http")
		if err == nil && r.rank != nil {
			f.ranks.hosts.put(o.Host, *r.rank)
		}
		switch {
		case err != nil:
			return reject(r.line, r.text, rejection(err))
		case strings.Contains(given, "://") || o.Port != 80:
			f.origins.add(o.String())
			if !strings.Contains(given, "://") {
				f.origins.add(fetch.Origin{Scheme: "https", Host: o.Host, Port: o.Port}.String())
			}
		default:
			f.hosts.add(o.Host)
		}
		return nil
	})
	return f, err
}
