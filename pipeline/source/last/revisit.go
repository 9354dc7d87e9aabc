package last

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/sink/store"
)

// A revisit record finds its original by what its writer says, the surest first:
//
//	WARC-Refers-To                                GNU wget names nothing else
//	WARC-Refers-To-Target-URI and -Date           in the coarser precision of the two: some
//	                                              writers have whole seconds (WARC 1.1, 6.7)
//	the digest, of an earlier capture of the URI  Heritrix before 3.1 names no record
//	the digest and the length, of any URI
//
// An original whose digest is another one is none, whatever names it: two captures may
// have one date. Only where WARC-Refers-To names it and nothing else is found it counts,
// with a remark.

// namesOf are the names, besides its URL, by which a revisit record may ask for a capture.
func namesOf(c *warc.Capture) (names []string) {
	if c.ID != "" {
		names = append(names, idName(c.ID))
	}
	of, url := classOf(c), c.Hops[len(c.Hops)-1].URL
	names = append(names, dateName(of, url))
	digest := digestOf(c)
	if digest == "" {
		digest = warc.CanonicalDigest(c.Digest) // an ARC file has none
	}
	if digest != "" && of != isRevisit {
		names = append(names, payloadName(of, url, digest))
		if of == isAnswer {
			names = append(names, payloadName(of, "", digest))
		}
	}
	return names
}

// A class of captures, as far as it matters to a revisit record.
type class string

const (
	isAnswer  class = "answer"  // has a body
	isOther   class = "other"   // has none that is kept
	isRevisit class = "revisit" // stands for another one
)

func classOf(c *warc.Capture) class {
	switch {
	case c.Revisit != nil:
		return isRevisit
	case isSuccess(c.Status()):
		return isAnswer
	}
	return isOther
}

func idName(id string) string { return "id\n" + strings.ToLower(id) } // as UUIDs compare

func dateName(of class, url string) string { return "date\n" + string(of) + "\n" + url }
func payloadName(of class, url, digest string) string {
	return "payload\n" + string(of) + "\n" + url + "\n" + digest
}

// A kind of question says which captures of a name answer it.
type kind byte

const (
	redirect    kind = iota // the nearest in time, because a crawler follows at once
	byNearest               // the same, of another name
	byEarlier               // the nearest that is not later
	byDate                  // one of that date
	bySomething             // any, even with another digest
)

func (k kind) isNearest() bool { return k == redirect || k == byNearest }

// question asks for a capture.
type question struct {
	name   string
	date   time.Time
	kind   kind
	within time.Duration // the precision of the date
	digest digestTag
	length int64 // of the payload, 0 if not known
}

// encode encodes a question: the hash of its name, the last date that answers it, and what
// [decodeQuestion] reads.
func (q question) encode() []byte {
	out := append(make([]byte, 0, 64), store.KeyHash(q.name)...)
	date := store.KeyDate(q.date)
	if q.kind == byDate {
		date += uint64(max(q.within.Microseconds(), 1)) - 1
	}
	if q.kind == bySomething {
		date = 1<<64 - 1
	}
	out = append(binary.BigEndian.AppendUint64(out, date), byte(q.kind))
	out = append(binary.BigEndian.AppendUint64(out, uint64(q.within.Microseconds())), q.digest[:]...)
	return binary.BigEndian.AppendUint64(out, uint64(q.length))
}

func decodeQuestion(b []byte) (q question) {
	q.kind, q.within = kind(b[0]), time.Duration(binary.BigEndian.Uint64(b[1:]))*time.Microsecond
	copy(q.digest[:], b[9:])
	q.length = int64(binary.BigEndian.Uint64(b[9+len(q.digest):]))
	return q
}

// accepts reports whether an entry at a date answers the question. last is the last date
// that does.
func (q question) accepts(date, last uint64, entry []byte) bool {
	within, tag := binary.BigEndian.Uint64(entry[1:]), digestTag(entry[9:9+len(digestTag{})])
	length := int64(binary.BigEndian.Uint64(entry[9+len(tag):]))
	switch q.kind {
	case redirect, bySomething:
		return true
	case byDate:
		first := last - uint64(max(q.within.Microseconds(), 1)) + 1
		if date < first && date+within <= first {
			return false
		}
	case byNearest:
		if q.length > 0 && length > 0 && q.length != length {
			return false
		}
	}
	return !q.digest.contradicts(tag)
}

// questionsOf are the questions of a capture that leads to another one, by their ranks.
func (s *search) questionsOf(c *warc.Capture) (all []question) {
	if c.Location != "" && !s.everyRevisit {
		return []question{{name: c.Location, date: c.Start, kind: redirect}}
	}
	if !c.WantsOriginal() {
		return nil
	}
	return originalsOf(c)
}

// originalsOf are the questions of a revisit record, by their ranks.
func originalsOf(c *warc.Capture) (all []question) {
	status, own, r := c.Status(), c.Hops[len(c.Hops)-1].URL, c.Revisit
	digest := digestOf(c)
	ask := func(name string, k kind, date time.Time, within time.Duration) {
		all = append(all, question{name, date, k, within, tagOf(digest), c.PayloadLength})
	}
	classes := []class{isAnswer}
	if status == 0 {
		classes = append(classes, isOther)
	}
	if r.RecordID != "" {
		ask(idName(r.RecordID), byEarlier, endOfTime, 0)
	}
	named := own
	if o, target, _, err := fetch.Redirect(own, r.TargetURI); err == nil && r.TargetURI != "" {
		named = o.String() + target
	}
	date, within, dated := r.Date()
	if dated {
		if digest != "" {
			for _, of := range classes {
				ask(payloadName(of, named, digest), byDate, date, within)
			}
		}
		for _, of := range append(classes, isRevisit) {
			ask(dateName(of, named), byDate, date, within)
		}
	}
	if digest != "" {
		for _, of := range classes {
			ask(payloadName(of, own, digest), byEarlier, c.Start, 0)
		}
		if named != own {
			ask(payloadName(isAnswer, named, digest), byEarlier, c.Start, 0)
		}
		// Without a status of its own, an empty body says nothing.
		if status != 0 || !warc.IsDigestOfNothing(digest) {
			ask(payloadName(isAnswer, "", digest), byNearest, c.Start, 0)
		}
		if status != 0 { // some writers look for the payload alone, whatever its status
			if dated {
				ask(payloadName(isOther, named, digest), byDate, date, within)
			}
			ask(payloadName(isOther, own, digest), byEarlier, c.Start, 0)
		}
	} else if r.IsNotModified() && !dated && r.RecordID == "" {
		ask(dateName(isAnswer, own), byEarlier, c.Start, 0)
	}
	if r.RecordID != "" {
		ask(idName(r.RecordID), bySomething, c.Start, 0)
	}
	return all
}

// digestOf returns the canonical digest of the payload that a record has or stands for.
func digestOf(c *warc.Capture) string {
	digest := warc.CanonicalDigest(c.PayloadDigest)
	if r := c.Revisit; r != nil && (c.Status() == 304 || r.IsNotModified()) && warc.IsDigestOfNothing(digest) {
		return "" // that of the answer "not modified"
	}
	return digest
}

// endOfTime is later than the date of any capture.
var endOfTime = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

func isSuccess(status int) bool { return status >= 200 && status < 300 }

// digestTag is the beginning of a hash of a canonical digest, after that of its algorithm; zero for
// no digest.
type digestTag [10]byte

func tagOf(digest string) (tag digestTag) {
	if digest == "" {
		return tag
	}
	algorithm, _, _ := strings.Cut(digest, ":")
	copy(tag[:2], store.KeyHash(algorithm))
	copy(tag[2:], store.KeyHash(digest))
	return tag
}

// contradicts reports whether two digests of one algorithm differ.
func (t digestTag) contradicts(other digestTag) bool {
	return t != other && [2]byte(t[:2]) == [2]byte(other[:2])
}
