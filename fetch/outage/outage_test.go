package outage

import (
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// Failures that this machine's own outage may have caused are held until there
// is proof; a host's answers are not.
func TestWhatIsDoubtful(t *testing.T) {
	for class, want := range map[answer.ErrorClass]bool{
		answer.ErrorDNSFailure: true, answer.ErrorConnectFailure: true, answer.ErrorConnectTimeout: true,
		answer.ErrorNoRoute: true,
		answer.ErrorTimeout: true, answer.ErrorReset: true, answer.ErrorTLS: true, answer.ErrorTruncatedBody: true,
		"": false, answer.ErrorDNSNotFound: false, answer.ErrorConnectRefused: false, answer.ErrorProtocol: false,
		answer.ErrorHeaderTooLarge: false,
		answer.ErrorAddressBlocked: false, answer.ErrorRedirectLimit: false, answer.ErrorRedirectLoop: false,
		answer.ErrorCanceled: false,
	} {
		if class.MayBeOurs() != want {
			t.Errorf("%q is held: %v", class, !want)
		}
	}
}

// A proof after a silence does not cover the failures during it: those
// attempts are repeated. A proof that follows soon settles the failures before
// it.
func TestASilenceIsAskedAgain(t *testing.T) {
	for _, row := range []struct {
		name    string
		quiet   time.Duration // since the previous proof
		believe bool
	}{{"soon", 0, true}, {"after a silence", time.Minute, false}} {
		l := New(Config{})
		now := time.Now()
		h := &heldFailure{began: now.Add(-3 * time.Second), ended: now.Add(-2 * time.Second), settled: make(chan struct{})}
		l.mu.Lock()
		l.heard, l.since = now.Add(-row.quiet), h.ended
		l.held[ofNetwork] = append(l.held[ofNetwork], h)
		l.proof(now.Add(-time.Second), now.Add(-time.Second))
		l.mu.Unlock()
		select {
		case <-h.settled:
		default:
			t.Fatalf("%s: the failure is still held", row.name)
		}
		if h.believed != row.believe {
			t.Errorf("%s: the failure is believed: %v", row.name, h.believed)
		}
	}
}

// Attempts are repeated after the process was stopped or the machine slept.
func TestAClockThatJumps(t *testing.T) {
	for name, jump := range map[string]func(*Uplink){
		"stopped":       func(l *Uplink) { l.beaten = l.beaten.Add(-4 * time.Second) },
		"slept":         func(l *Uplink) { l.wall = l.wall.Add(-time.Hour) },
		"the clock set": func(l *Uplink) { l.wall = l.wall.Add(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			l := New(Config{Patience: time.Minute, Concurrency: 2})
			began := time.Now()
			l.Begin()
			l.mu.Lock()
			jump(l)
			l.mu.Unlock()
			if believed, err := l.Believe(t.Context(), began, answer.ErrorReset); believed || err != nil {
				t.Errorf("a failure before the jump is believed: %v, %v", believed, err)
			}
		})
	}
}

// An accepted connection proves nothing, and neither does an answer that was in
// flight before the failure, or, for a failed look-up, one without a look-up.
func TestNoProofs(t *testing.T) {
	l := New(Config{Patience: time.Hour, Concurrency: 20})
	l.Times.Quiet, l.Times.AtFirst = time.Hour, time.Hour
	l.Begin() // so that not all attempts are held
	l.Waiting(1)
	for _, class := range []answer.ErrorClass{answer.ErrorConnectTimeout, answer.ErrorDNSFailure} {
		before := time.Now()
		held := make(chan bool, 1)
		l.Begin()
		go func() {
			believed, _ := l.Believe(t.Context(), time.Now(), class)
			held <- believed
		}()
		for {
			l.mu.Lock()
			holding := l.isHolding()
			l.mu.Unlock()
			if holding {
				break
			}
		}
		prove := func(named, reached time.Time) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.proof(named, reached)
		}
		prove(before, before)
		if class == answer.ErrorDNSFailure {
			prove(time.Time{}, time.Now())
		}
		l.mu.Lock()
		if !l.isHolding() {
			t.Errorf("%s: released without proof", class)
		}
		l.mu.Unlock()
		prove(time.Now(), time.Now())
		if !<-held {
			t.Errorf("%s: not believed despite proof", class)
		}
	}
	l.mu.Lock()
	l.underWay--
	l.mu.Unlock()

	for _, x := range []Exchange{
		// of the cache
		{Class: answer.ErrorTimeout, Dialed: time.Now()}, {Class: answer.ErrorTimeout}, {Class: answer.ErrorDNSNotFound},
	} {
		l.Notice(fetch.Origin{Scheme: "http", Host: "a.test", Port: 80}, x)
	}
	if len(l.recent) > 0 || len(l.unknown) > 0 {
		t.Errorf("hosts that prove something: %v, %v", l.recent, l.unknown)
	}
}
