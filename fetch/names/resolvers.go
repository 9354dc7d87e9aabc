package names

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// resolvers are the DNS servers that are asked for names.
//
// With several, a name fails only if all of them fail for it, or three that
// answered other questions meanwhile. So a server that fails while others answer
// costs time, and no host: each name that it does not answer is asked of another
// one, at once if it reports a failure, and after two seconds without an answer,
// while the first question stays open. The server with the fewest open questions
// is next. One that has left four questions in a row without an answer is asked
// only if the others failed too, or every five seconds, to see whether it is back.
//
// With one, package net repeats the question, as often as the system's
// configuration says.
type resolvers struct {
	all  []*resolver
	most int // open questions to each; 0: no limit but MaxLookups in total

	mu      sync.Mutex
	open    int
	turn    int
	waiting []*place
}

// resolver is one DNS server. Its fields, except net, belong to resolvers.mu.
type resolver struct {
	server   netip.AddrPort // not valid for the system's
	net      *net.Resolver  // of its own: package net merges equal questions of one Resolver
	open     int
	failures int       // questions in a row that it did not answer
	answered time.Time // when the latest question began that it answered
	tried    time.Time // when it was last asked
	names    int       // that it was asked for
	outdone  int       // those of them that it did not answer, and another server did
}

// Use says how a DNS server did.
type Use struct {
	Server   netip.AddrPort
	Names    int // that it was asked for
	Answered int // but for those that another server had to answer
}

// Resolvers says how each of several DNS servers did; nil for one.
func (n *Names) Resolvers() (all []Use) {
	rs := n.resolvers
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if len(rs.all) < 2 {
		return nil
	}
	for _, r := range rs.all {
		all = append(all, Use{r.server, r.names, r.names - r.outdone})
	}
	return all
}

// place is the wait for a place for one more question.
type place struct {
	asked []*resolver // which it is not for
	given chan *resolver
}

const (
	askAnother = 2 * time.Second // without an answer
	failsInRow = 4
	tryAgain   = 5 * time.Second
	enough     = 3 // failures of servers that answer others
)

func newResolvers(servers []netip.AddrPort, most int, dialer *net.Dialer) *resolvers {
	if len(servers) == 0 {
		servers = []netip.AddrPort{{}} // the system's
	}
	rs := &resolvers{most: most}
	for _, server := range servers {
		rs.all = append(rs.all, &resolver{server: server,
			net: &net.Resolver{PreferGo: true, Dial: dialResolver(dialer, server, len(servers) == 1)}})
	}
	return rs
}

// resolution is what one server says of a name.
type resolution struct {
	by    *resolver
	began time.Time
	addrs []netip.Addr
	fail  *fetch.Failure

	silent bool // it failed because no answer came in time
}

func (r resolution) isAnswer() bool { return r.fail == nil || r.fail.Class.IsNoHost() }

// look asks for the addresses of host until deadline, which it moves by the time in
// which no question was open because there was no place for one. A probe needs no place.
// It calls begun before the first question.
func (rs *resolvers) look(ctx context.Context, host string, deadline time.Time, probe bool, begun func()) (
	addrs []netip.Addr, waited time.Duration, fail *fetch.Failure) {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	results := make(chan resolution, len(rs.all))
	var asked, open, failed []*resolver
	defer func() {
		cancel()
		for range open {
			<-results
		}
	}()
	began := time.Now()
	alive := 0 // servers that failed for this name and answered others meanwhile
	for {
		if r, took := rs.take(ctx, asked, len(open) == 0, probe); r != nil {
			if len(open) == 0 {
				waited, deadline = waited+took, deadline.Add(took)
			}
			if begun(); len(asked) == 0 {
				began = time.Now()
			}
			asked, open = append(asked, r), append(open, r)
			go func(deadline time.Time) {
				got := rs.ask(ctx, r, host, deadline)
				rs.leave(r)
				results <- got
			}(deadline)
		}
		if len(open) == 0 || alive >= enough {
			break
		}
		// Leave enough time to ask all the others.
		another := time.NewTimer(max(10*time.Millisecond,
			min(askAnother, time.Until(deadline)/time.Duration(len(rs.all)-len(asked)+1))))
		select {
		case got := <-results:
			another.Stop()
			i := slices.Index(open, got.by)
			rs.learn(got, failed, open[:i])
			open = slices.Delete(open, i, i+1)
			if got.isAnswer() {
				return got.addrs, waited, got.fail
			}
			if fail == nil || fail.Local == nil && !got.silent {
				fail = got.fail
			}
			failed = append(failed, got.by)
			if rs.answeredSince(got.by, began) {
				alive++
			}
		case <-another.C:
		}
	}
	if err := outer.Err(); fail == nil || errors.Is(err, context.Canceled) {
		fail = fetch.LookUpFailure(outer, host, err)
	}
	return nil, waited, fail
}

// ask asks one server. It asks for IPv4 and IPv6 separately: asked for both, the library
// reports only the error of the last one, and "no addresses" would hide a failing name
// server. The result alternates IPv4 and IPv6, so that a machine without one of them
// reaches the other.
func (rs *resolvers) ask(ctx context.Context, r *resolver, host string, deadline time.Time) resolution {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	began := time.Now()
	var four, six []netip.Addr
	var errs [2]error
	var questions [2]question
	var both sync.WaitGroup
	for i, network := range []string{"ip4", "ip6"} {
		both.Go(func() {
			addrs, err := r.net.LookupNetIP(context.WithValue(ctx, questionKey{}, &questions[i]), network, host+".")
			if errs[i] = err; i == 0 {
				four = addrs
			} else {
				six = addrs
			}
		})
	}
	both.Wait()
	if r := questions[1].reply.Load(); len(six) == 0 && r != nil {
		six = r.mapped // the guard judges them, as IPv4
	}
	got := resolution{by: r, began: began}
	for len(four)+len(six) > 0 {
		for _, list := range []*[]netip.Addr{&four, &six} {
			if len(*list) > 0 {
				got.addrs, *list = append(got.addrs, (*list)[0]), (*list)[1:]
			}
		}
	}
	if len(got.addrs) == 0 {
		for i := range errs {
			if errs[i] == nil {
				continue
			}
			f := questions[i].failure(ctx, host, errs[i])
			got.silent = got.silent || fetch.IsTimeout(errs[i])
			// A failure says less than the answer to the other question, so it decides;
			// and that there is no such name more than that it has no address.
			weaker := got.fail == nil || got.fail.Class.IsNoHost() && !f.Class.IsNoHost() ||
				f.Class == answer.ErrorDNSNotFound && got.fail.Class == answer.ErrorDNSNoAddress
			if got.fail == nil || got.fail.Local == nil && (weaker || f.Local != nil) {
				got.fail = f
			}
		}
		if got.fail == nil {
			got.fail = fetch.NewFailure(answer.ErrorDNSNoAddress, "resolve %s: the name has no address", host)
		}
	}
	return got
}

// learn records whether a server answered. If it did, those that were asked before it, and
// failed or still have the question open, did not.
func (rs *resolvers) learn(got resolution, failed, before []*resolver) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	switch {
	case got.isAnswer():
		got.by.failures, got.by.answered = 0, got.began
		for _, r := range before {
			r.failures++
			r.outdone++
		}
		for _, r := range failed {
			r.outdone++
		}
	case got.fail.Class != answer.ErrorCanceled && got.fail.Local == nil:
		got.by.failures++
	}
}

func (rs *resolvers) answeredSince(r *resolver, t time.Time) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return r.answered.After(t)
}

// take returns a server that was not asked, with a place for a question, and how long it
// waited for one. Without a free place it returns nil, unless it is to wait. A probe
// needs none.
func (rs *resolvers) take(ctx context.Context, asked []*resolver, wait, probe bool) (*resolver, time.Duration) {
	if len(asked) == len(rs.all) {
		return nil, 0
	}
	rs.mu.Lock()
	rs.turn++
	r := rs.best(asked, probe)
	if r != nil || !wait {
		rs.mu.Unlock()
		return r, 0
	}
	began := time.Now()
	p := &place{asked, make(chan *resolver, 1)}
	rs.waiting = append(rs.waiting, p)
	rs.mu.Unlock()
	select {
	case r = <-p.given:
		return r, time.Since(began)
	case <-ctx.Done():
	}
	rs.mu.Lock()
	rs.waiting = slices.DeleteFunc(rs.waiting, func(other *place) bool { return other == p })
	rs.mu.Unlock()
	select {
	case r = <-p.given:
		rs.leave(r)
	default:
	}
	return nil, 0
}

// best takes a place of the best server that was not asked, if it has one.
func (rs *resolvers) best(asked []*resolver, probe bool) (best *resolver) {
	now, rank := time.Now(), 0
	for i := range rs.all {
		r := rs.all[(rs.turn+i)%len(rs.all)]
		if slices.Contains(asked, r) {
			continue
		}
		own := 1 // lower is better
		switch {
		case r.failures < failsInRow:
		case r.open == 0 && now.Sub(r.tried) >= tryAgain:
			own = 0
		default:
			own = 2
		}
		if best == nil || own < rank || own == rank && r.open < best.open {
			best, rank = r, own
		}
	}
	// If the servers that answer have no place, it is better to wait for them.
	if best == nil || !probe && (rs.open >= MaxLookups || rs.most > 0 && best.open >= rs.most) {
		return nil
	}
	best.open, best.names, best.tried = best.open+1, best.names+1, now
	rs.open++
	return best
}

// leave frees a place, and gives it to who has waited longest for such a one.
func (rs *resolvers) leave(r *resolver) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.open--
	rs.open--
	rs.waiting = slices.DeleteFunc(rs.waiting, func(p *place) bool {
		if rs.open >= MaxLookups {
			return false
		}
		next := rs.best(p.asked, false)
		if next != nil {
			p.given <- next
		}
		return next != nil
	})
}
