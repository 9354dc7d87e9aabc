package farm

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
)

// Report counts the requests to a farm. A request is in flight from the moment
// that its host is known (over https from the client's hello) until the last
// bytes of the answer leave. A connection counts until either side closes it.
type Report struct {
	Requests    int64 `json:"requests"`    // requests, failed handshakes included
	Connections int64 `json:"connections"` // connections accepted
	Hosts       int   `json:"hosts"`       // distinct names requested
	// Answers counts requests by status, or by the fault in its place: reset,
	// close, hang, truncate, bad_chunk, garbage, raw, http09, interim_only,
	// plain, a kind of faulty TLS, handshake (failed without a fault of the
	// farm), abandoned (the client left first).
	Answers map[string]int64 `json:"answers"`
	Cookies int64            `json:"cookies"` // requests with a cookie

	// LeastGapMillis is the least time between the end of a request to a host and the start
	// of its next one that follows no redirect of the farm's (hops); 0 if no host was asked twice.
	LeastGapMillis int64 `json:"least_gap_ms"`

	PeakRequests    int `json:"peak_requests"`    // requests in flight at once
	PeakConnections int `json:"peak_connections"` // connections open at once
	PeakHost        int `json:"peak_host"`        // requests in flight at once to one host
	PeakDomain      int `json:"peak_domain"`      // the same, to one registered domain
	PeakAddress     int `json:"peak_address"`     // the same, to one local address

	ByAddress []Count `json:"by_address"`
	ByDomain  []Count `json:"by_domain"` // highest peak first, then most requests
	ByHost    []Count `json:"by_host"`
}

// Count counts the requests to one address, domain or host.
type Count struct {
	Name     string `json:"name"`
	Requests int64  `json:"requests"`
	Peak     int    `json:"peak"` // requests in flight at once
	// PeakConnections counts connections open at once. Only addresses have it.
	PeakConnections int `json:"peak_connections,omitempty"`
}

// Report returns the counts since the start or the last [Server.Reset]. It
// lists at most top domains and top hosts; a negative top lists all.
func (s *Server) Report(top int) Report {
	r := s.counts()
	r.ByDomain, r.ByHost = first(r.ByDomain, top), first(r.ByHost, top)
	return r
}

func (s *Server) counts() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Report{
		Requests:        s.requests.asked,
		Connections:     s.open.asked,
		Answers:         map[string]int64{},
		Cookies:         s.cookies,
		PeakRequests:    int(s.requests.peak),
		PeakConnections: int(s.open.peak),
		ByAddress:       []Count{},
		ByDomain:        []Count{},
		ByHost:          []Count{},
	}
	for kind, n := range s.answers {
		r.Answers[kind] = n
	}
	for _, a := range s.addresses {
		c := a.requests.count(a.name)
		c.PeakConnections = int(a.open.peak)
		r.ByAddress = append(r.ByAddress, c)
		r.PeakAddress = max(r.PeakAddress, c.Peak)
	}
	for name, t := range s.domains {
		if t.asked > 0 || t.peak > 0 {
			r.ByDomain = append(r.ByDomain, t.count(name))
			r.PeakDomain = max(r.PeakDomain, int(t.peak))
		}
	}
	for name, h := range s.asked {
		if h.counted.asked > 0 || h.counted.peak > 0 {
			r.Hosts++
			r.ByHost = append(r.ByHost, h.counted.count(name))
			r.PeakHost = max(r.PeakHost, int(h.counted.peak))
			if gap := h.counted.gap.Milliseconds(); h.counted.gap > 0 && (r.LeastGapMillis == 0 || gap < r.LeastGapMillis) {
				r.LeastGapMillis = gap
			}
		}
	}
	return r
}

func (t *tally) count(name string) Count {
	return Count{Name: name, Requests: t.asked, Peak: int(t.peak)}
}

// first sorts counts, highest peak first, and keeps the first n; a negative n
// keeps all.
func first(counts []Count, n int) []Count {
	slices.SortFunc(counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Peak, a.Peak), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
	if n >= 0 && len(counts) > n {
		counts = slices.Clip(slices.Clone(counts[:n]))
	}
	return counts
}

// Reset clears the report and restarts the sequences of faults. Requests in
// flight stay counted as such.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.answers)
	s.cookies = 0
	s.requests.reset()
	s.open.reset()
	for _, a := range s.addresses {
		a.requests.reset()
		a.open.reset()
	}
	for _, t := range s.domains {
		t.reset()
	}
	for _, h := range s.asked {
		h.counted.reset()
		h.steps = [2]int{}
	}
}

// topListed is the number of hosts, and of domains, that /_farm lists without
// ?hosts=1.
const topListed = 20

// control answers /_farm (the report), /_farm?hosts=1 (with all hosts) and
// /_farm/reset, on any host. The report does not count these requests.
func (c *conn) control(req *http.Request) {
	s := c.srv
	s.mu.Lock()
	s.leave(c)
	s.mu.Unlock()
	status, body := "200 OK", []byte("{}\n")
	switch req.URL.Path {
	case "/_farm":
		top := topListed
		if req.URL.Query().Get("hosts") == "1" {
			top = -1
		}
		out, err := json.MarshalIndent(s.Report(top), "", "  ")
		if err != nil {
			status, out = "500 Internal Server Error", []byte(err.Error())
		}
		body = append(out, '\n')
	case "/_farm/reset":
		s.Reset()
	default:
		status = "404 Not Found"
	}
	head := "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n"
	if _, err := c.io.Write(append([]byte(head), body...)); err != nil {
		c.spent = true
	}
}
