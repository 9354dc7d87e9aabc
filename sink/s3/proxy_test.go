package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// proxy is a reverse proxy that disturbs the requests for some buckets by a script.
type proxy struct {
	url    string
	server string
	client *http.Client
	http   *http.Server

	mu      sync.Mutex
	scripts map[string]*script // by bucket
}

// script decides what happens to the requests for a bucket.
type script struct {
	mu     sync.Mutex
	random *rand.Rand // nil for a bucket that is down
	faults float64    // share of the requests
	lists  map[string][]byte
	met    map[string]int // faults by kind
	closed string         // only names with this text meet fault; "" for another script
	fault  string
	open   sync.WaitGroup // requests

	ignores func(*http.Request) bool // whether a request loses its condition; nil for another script
	asked   map[string]int           // requests by kind
}

// end waits for the requests of clients that are gone.
func (s *script) end() { s.open.Wait() }

// kinds are the faults that a request may meet.
var kinds = []string{
	"500", "503", "reset the request", "reset before the answer", "reset the answer", "lose the answer",
	"500 after success", "delay",
}

func newProxy(server string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{
		url: "http://" + l.Addr().String(), server: server, scripts: make(map[string]*script),
		client: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	p.http = &http.Server{Handler: p}
	go p.http.Serve(l)
	return p, nil
}

func (p *proxy) close() { p.http.Close() }

// disturb disturbs a share of the requests for a bucket from now on.
func (p *proxy) disturb(bucket string, seed uint64, faults float64) *script {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scripts[bucket] = &script{random: rand.New(rand.NewPCG(seed, 0)), faults: faults, lists: make(map[string][]byte),
		met: make(map[string]int)}
	return p.scripts[bucket]
}

// takeDown answers no request for a bucket.
func (p *proxy) takeDown(bucket string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scripts[bucket] = &script{faults: 1}
}

// forbid refuses the requests for names in a bucket that have a text in them.
func (p *proxy) forbid(bucket, text string) { p.answer(bucket, text, "403") }

// answer gives the requests for names in a bucket that have a text in them a status.
func (p *proxy) answer(bucket, text, status string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scripts[bucket] = &script{closed: text, fault: status}
}

// ignore has the store of a bucket ignore the conditions of some writes, and counts the
// requests for it.
func (p *proxy) ignore(bucket string, which func(*http.Request) bool) *script {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scripts[bucket] = &script{ignores: which, asked: make(map[string]int)}
	return p.scripts[bucket]
}

// requests returns the number of requests by kind since it was called before.
func (s *script) requests() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = make(map[string]int)
	return asked
}

// unconditional removes the condition of a request, and signs it anew.
func unconditional(r *http.Request) error {
	r.Header.Del("If-None-Match")
	r.Header.Del("Authorization")
	key := aws.Credentials{AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY")}
	r.URL.Host = r.Host
	return v4.NewSigner().SignHTTP(r.Context(), key, r, r.Header.Get("X-Amz-Content-Sha256"), "s3", "us-east-1",
		time.Now(),
		func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
}

// leave disturbs a bucket no more.
func (p *proxy) leave(bucket string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.scripts, bucket)
}

// next returns the fault that a request meets, or "".
func (s *script) next(r *http.Request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ignores != nil {
		kind := r.Method
		if r.URL.Query().Has("list-type") {
			kind = "LIST"
		}
		s.asked[kind]++
		if r.Header.Get("If-None-Match") != "" && s.ignores(r) {
			return "unconditional"
		}
		return ""
	}
	if s.closed != "" {
		if strings.Contains(r.URL.Path, s.closed) {
			return s.fault
		}
		return ""
	}
	if s.random == nil {
		return "reset before the answer"
	}
	fault := kinds[s.random.IntN(len(kinds))]
	isList := r.Method == http.MethodGet && r.URL.Query().Has("list-type")
	switch conditional := r.Header.Get("If-None-Match") != ""; {
	case conditional && s.random.IntN(4) == 0:
		fault = "409" // no other write meets it
	case s.random.Float64() >= s.faults:
		// Lists lag more often than requests fail.
		if !isList || s.random.IntN(2) > 0 {
			return ""
		}
		fault = "lag"
	}
	s.met[fault]++
	return fault
}

const empty = `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>%s</Name><Prefix>%s</Prefix><KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated></ListBucketResult>`

// lagging returns an earlier answer to a list, at first an empty one.
func (s *script) lagging(bucket string, r *http.Request) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.lists[r.URL.RawQuery]; ok {
		return old
	}
	return fmt.Appendf(nil, empty, bucket, r.URL.Query().Get("prefix"))
}

func (s *script) keepList(query string, answer []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.lists[query]; !ok || s.random.IntN(2) > 0 {
		s.lists[query] = answer
	}
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	bucket, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	p.mu.Lock()
	s := p.scripts[bucket]
	p.mu.Unlock()
	fault := ""
	if s != nil {
		s.open.Add(1)
		defer s.open.Done()
		fault = s.next(r)
	}
	switch fault {
	case "500", "503", "409", "403":
		io.Copy(io.Discard, r.Body)
		fail(w, fault)
		return
	case "reset before the answer":
		io.Copy(io.Discard, r.Body)
		reset(w)
		return
	case "reset the request":
		// Half of it reaches the server.
		half, _ := io.ReadAll(io.LimitReader(r.Body, r.ContentLength/2))
		if len(half) > 0 {
			if a, err := p.forward(r, io.MultiReader(bytes.NewReader(half), broken{})); err == nil {
				a.Body.Close()
			}
		}
		reset(w)
		return
	case "unconditional":
		if err := unconditional(r); err != nil {
			reset(w)
			return
		}
	case "delay":
		time.Sleep(30 * time.Millisecond)
	case "lag":
		w.Header().Set("Content-Type", "application/xml")
		w.Write(s.lagging(bucket, r))
		return
	}
	a, err := p.forward(r, r.Body)
	if err != nil {
		reset(w)
		return
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		reset(w)
		return
	}
	switch fault {
	case "lose the answer":
		reset(w)
		return
	case "500 after success":
		fail(w, "500")
		return
	}
	if s != nil && s.lists != nil && a.StatusCode == http.StatusOK && r.URL.Query().Has("list-type") {
		s.keepList(r.URL.RawQuery, body)
	}
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	if r.Method != http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(a.StatusCode)
	if fault == "reset the answer" {
		w.Write(body[:len(body)/2])
		http.NewResponseController(w).Flush()
		reset(w)
		return
	}
	w.Write(body)
}

// broken is a body that breaks.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("broken") }

// forward sends a request to the server. The host stays as it was signed.
func (p *proxy) forward(r *http.Request, body io.Reader) (*http.Response, error) {
	out := r.Clone(context.WithoutCancel(r.Context())) // a request that was sent arrives
	out.URL.Scheme, out.URL.Host, _ = strings.Cut(p.server, "://")
	out.RequestURI, out.Body = "", io.NopCloser(body)
	if r.ContentLength == 0 {
		out.Body = http.NoBody
	}
	return p.client.Do(out)
}

var errorCodes = map[string]string{"500": "InternalError", "503": "SlowDown", "409": "ConditionalRequestConflict",
	"403": "AccessDenied"}

func fail(w http.ResponseWriter, status string) {
	code, _ := strconv.Atoi(status)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(code)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>by the script</Message></Error>`,
		errorCodes[status])
}

// reset resets the connection.
func reset(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	c.(*net.TCPConn).SetLinger(0)
	c.Close()
}
