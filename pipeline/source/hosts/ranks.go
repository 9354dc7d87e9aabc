package hosts

import (
	"context"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
)

// Ranks are those of hosts and origins, for sources without ranks. A host that is not found is
// looked up without or with "www.": lists name sites, archives name the hosts that
// answered for them.
type Ranks struct {
	of                hashMap[int64] // by names, see [nameOf]
	hasOrigin, hasAny bool           // names that are origins, and names with a port or a scheme

	unread int64 // rows whose rank is not read
	first  row   // the first of these
}

// Of returns the rank of an origin: its own, else that of its host, else that of the host's
// origin on the port of https or http.
func (r *Ranks) Of(o fetch.Origin) (int64, bool) {
	if rank, ok := r.find(o); ok {
		return rank, true
	}
	other, ok := strings.CutPrefix(o.Host, "www.")
	if !ok {
		other = "www." + o.Host
	}
	o.Host = other
	return r.find(o)
}

func (r *Ranks) find(o fetch.Origin) (rank int64, ok bool) {
	if r.hasAny { // most lists have hosts alone
		if rank, ok = r.of.get(o.String()); ok {
			return rank, ok
		}
		if rank, ok = r.of.get(authority(o)); ok {
			return rank, ok
		}
	}
	if rank, ok = r.of.get(o.Host); ok || !r.hasOrigin {
		return rank, ok
	}
	if rank, ok = r.of.get("https://" + o.Host); ok {
		return rank, ok
	}
	return r.of.get("http://" + o.Host)
}

// put gives the rank of a row to what it names, unless that has one.
func (r *Ranks) put(from *row, o fetch.Origin) {
	if from.badRank {
		if r.unread++; r.unread == 1 {
			r.first = row{line: from.line, text: strings.Clone(from.text)}
		}
	}
	if from.rank == nil {
		return
	}
	name := nameOf(from.given(), o)
	r.hasAny = r.hasAny || name != o.Host
	r.hasOrigin = r.hasOrigin || strings.Contains(name, "://")
	r.of.put(name, *from.rank)
}

// Len returns the number of names.
func (r *Ranks) Len() int { return r.of.used }

// Remark records the rows of an input whose ranks are not read.
func (r *Ranks) Remark(rejects *input.Account, role string) error {
	if r.unread == 0 {
		return nil
	}
	return rejects.Ranks(r.unread, r.first.line, r.first.text, role)
}

// nameOf returns what a row names: a host for all its origins, a host with a port for both
// schemes at that port, or an origin.
func nameOf(given string, o fetch.Origin) string {
	switch {
	case strings.Contains(given, "://"):
		return o.String()
	case o.Port != 80:
		return authority(o)
	}
	return o.Host
}

// ReadRanks reads the file of --ranks, in any form of a hosts list. The first rank
// of a name counts.
func ReadRanks(ctx context.Context, path string) (out Ranks, err error) {
	err = readHosts(ctx, path, "", io.Discard, func(r row) error {
		if r.err != "" {
			return nil
		}
		if o, _, err := fetch.Parse(r.given(), "http"); err == nil {
			out.put(&r, o)
		}
		return nil
	})
	return out, err
}

// Filter holds the hosts and origins of --hosts beside a stored source.
type Filter struct {
	named hashSet         // see [nameOf]
	met   []atomic.Uint32 // a bit for each slot of named: an answer of it was read
	Ranks Ranks           // that the list gives
	hosts []string        // of all names, nil if there are more than mostHosts
}

// mostHosts is the most hosts of a filter that are kept as text: of more, each part of a
// sorted index has some.
const mostHosts = 100_000

// Hosts returns the hosts of all names, sorted, or nil if they are too many.
func (f *Filter) Hosts() []string { return f.hosts }

// Names reports whether the filter may name an origin of a host; of a large filter, one at
// the port of http or https.
func (f *Filter) Names(host string) bool {
	if f.hosts != nil {
		_, ok := slices.BinarySearch(f.hosts, host)
		return ok
	}
	for _, o := range []fetch.Origin{{Scheme: "https", Host: host, Port: 443}, {Scheme: "http", Host: host, Port: 80}} {
		if f.names(o, func(int) {}) {
			return true
		}
	}
	return false
}

// Len returns the number of names.
func (f *Filter) Len() int { return f.named.used }

// Has reports whether the filter names an origin, and remembers what it names it by.
func (f *Filter) Has(o fetch.Origin) bool {
	return f.names(o, func(at int) { f.met[at/32].Or(1 << (at % 32)) })
}

// names reports whether the filter names an origin, and calls each with the slots.
func (f *Filter) names(o fetch.Origin, each func(at int)) (ok bool) {
	for _, name := range []string{o.Host, authority(o), o.String()} {
		if at := f.named.find(name); at >= 0 {
			each(at)
			ok = true
		}
	}
	return ok
}

// Unmet returns the number of names that no answer was of.
func (f *Filter) Unmet() int64 {
	n := f.named.used
	for i := range f.met {
		n -= bits.OnesCount32(f.met[i].Load())
	}
	return int64(n)
}

// authority returns the host with its port, even if that is the scheme's own.
func authority(o fetch.Origin) string { return o.Host + ":" + strconv.Itoa(int(o.Port)) }

// ReadFilter reads the list of --hosts as a filter, in which names without a dot are hosts:
// nobody is asked. It rejects lines that name no host.
func ReadFilter(ctx context.Context, l List, sum io.Writer, reject func(line int64, text, reason string) error) (
	*Filter, error) {
	f := &Filter{}
	l.Bare = true
	err := l.rows(ctx, sum, func(r row) error {
		given := r.given()
		o, _, err := fetch.Parse(given, "http")
		why := r.refusal(true)
		if why == "" && err != nil {
			why = input.ReasonOf(err)
		}
		if why != "" {
			return reject(r.line, r.text, why)
		}
		f.Ranks.put(&r, o)
		if len(f.hosts) <= mostHosts {
			f.hosts = append(f.hosts, o.Host)
		}
		f.named.add(nameOf(given, o))
		return nil
	})
	if len(f.hosts) > mostHosts {
		f.hosts = nil
	}
	slices.Sort(f.hosts)
	f.hosts = slices.Compact(f.hosts)
	f.met = make([]atomic.Uint32, (len(f.named.slots)+31)/32)
	return f, err
}
