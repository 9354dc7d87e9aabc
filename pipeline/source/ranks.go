package source

import (
	"context"
	"io"
	"math/bits"
	"strconv"
	"strings"
	"sync/atomic"

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
	// named has hosts for all their origins, hosts with a port for both schemes at
	// that port, and origins.
	named hashSet
	met   []atomic.Uint32 // a bit for each slot of named: an answer of it was read
	ranks ranks           // that the list gives
}

// has reports whether the filter names an origin, and remembers what it names it by.
func (f *filter) has(o fetch.Origin) (ok bool) {
	for _, name := range []string{o.Host, authority(o), o.String()} {
		if at := f.named.find(name); at >= 0 {
			f.met[at/32].Or(1 << (at % 32))
			ok = true
		}
	}
	return ok
}

// unmet returns the number of names that no answer was of.
func (f *filter) unmet() int64 {
	n := f.named.used
	for i := range f.met {
		n -= bits.OnesCount32(f.met[i].Load())
	}
	return int64(n)
}

// authority returns the host with its port, even if that is the scheme's own.
func authority(o fetch.Origin) string { return o.Host + ":" + strconv.Itoa(int(o.Port)) }

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
		case strings.Contains(given, "://"):
			f.named.add(o.String())
		case o.Port != 80:
			f.named.add(authority(o))
		default:
			f.named.add(o.Host)
		}
		return nil
	})
	f.met = make([]atomic.Uint32, (len(f.named.slots)+31)/32)
	return f, err
}
