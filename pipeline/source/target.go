package source

import (
	"github.com/robocensus/robocensus/fetch"
)

// Target is one origin as the source gives it, and its capture where that is
// stored.
type Target struct {
	Seq        int64 // from 1, in the order of the input
	Input      string
	Rank       *int64
	Candidates []fetch.Origin // the origins to ask, in order, until one answers
	Lines      int64          // of a list that went into it
	Paths      []string       // samples of its own: path and query, of whichever candidate answers
	ownBytes   int            // of memory that these take

	Capture *fetch.Capture // nil until it is fetched
	Stored  *Stored        // nil where the capture is of the network
}

// Stored says where a stored capture comes from, and what is not known of it.
type Stored struct {
	Source string // warc or body, or what an earlier run says
	WARC   string // file, "" for none
	Offset int64
	Length int64 // 0: not known

	Mismatch string // what is wrong with a body that is not the one of its digest
	Assumed  bool   // the status is not known, and taken for 200

	// Of a body that an earlier run cut short, and so did not keep:
	Bytes     *int64
	Truncated bool // there was more than was asked for
}

// Text is about how many bytes of memory the target's texts take.
func (t *Target) Text() int { return len(t.Input) + t.ownBytes }
