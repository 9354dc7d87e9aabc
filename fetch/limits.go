package fetch

import "github.com/robocensus/robocensus/robots/answer"

// Limits says how far a run follows answers, asked for or stored, and what it keeps of
// them. One value holds for the requests, the archives and the memory of a run: a stored
// answer must be what a request would have given.
type Limits struct {
	MaxRedirects int // redirects to follow: the largest of the profiles
	MaxBody      int // bytes of decoded body to keep: the largest of the profiles
	// ErrorBodies keeps the bodies of answers other than 2xx to requests for robots.txt, but
	// for those of redirects: some programs take them for the file, and stored ones may be the
	// originals of revisit records.
	ErrorBodies bool
	Challenges  answer.Challenges // marks of walls among answers; nil finds none
	CDNs        CDNs              // marks of networks among them; nil finds none
}
