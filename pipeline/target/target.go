package target

import (
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/sink/schema"
)

// Target is an origin to ask or, with its Capture, one that is stored.
type Target struct {
	Seq        int64 // number of the target from 1, in the order of the input
	Input      string
	Rank       *int64
	Candidates []fetch.Origin // the origins to ask, in order, until one answers
	Lines      int64          // lines of the list that it takes up
	Paths      []string       // its own URL samples: path and query, for the candidate that answers
	OwnBytes   int            // memory that Paths take; see [PathBytes]

	Labels []Label // what is known of it beside its answer

	Capture *fetch.Capture  // nil until it is fetched
	Listed  *Listed         // what an earlier run found in its sitemaps; nil unless it is re-evaluated
	Pages   []schema.Answer // what an earlier run was answered for a page; nil unless it is re-evaluated
	Stored  *Stored         // nil if the capture comes from the network
}

// Label is a value of a label. CountAs is the value that it counts under, which is another
// for all but the most frequent.
type Label struct{ Name, Value, CountAs string }

// Listed is what the sitemaps of a target list.
type Listed struct {
	Files []schema.SitemapFile
	URLs  []schema.ListedURL // the sample
}

// Stored says where a stored capture comes from, and what it does not know.
type Stored struct {
	Source string // warc, body, or the source in an earlier run
	WARC   string // path of the archive, "" for none, or if an earlier run does not say
	Offset *int64 // nil likewise
	Length int64  // 0 if unknown

	Mismatch string // how the body differs from its digest, "" if it does not
	Assumed  bool   // the status is unknown and taken for 200

	Vantage *string // where it was asked from, by an earlier run; nil if that does not say

	// Set for a body that an earlier run did not keep because it was cut short:
	Bytes     *int64
	Truncated bool // the body was longer than the limit
}

// TextBytes estimates the bytes of memory of the target's texts.
func (t *Target) TextBytes() int { return len(t.Input) + t.OwnBytes }

// MaxPathBytes bounds the URL samples of one target, which are held in memory until its
// answer arrives.
const MaxPathBytes = 32 << 20

// PathBytes returns the memory that a sample takes, with its place in a list.
func PathBytes(path string) int { return len(path) + 32 }
