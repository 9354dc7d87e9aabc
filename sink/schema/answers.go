package schema

import "time"

// Answer is a row of `answers`: what a host answered to a further identity.
type Answer struct {
	// Number of the target within the run; it joins the tables. The input alone determines it: of a host
	// list it is the ordinal of the target's first row, of an archive it counts archives and records.
	// Example: `17`.
	Seq int64 `parquet:"seq"`
	// Canonical host name: lower case, ASCII (IDNA). Example: `news.example`.
	Host string `parquet:"host,dict"`
	// Rank of the host as the input or `--ranks` gives it. Null if it gives none. Example: `464`.
	Rank *int64 `parquet:"rank"`
	// Scheme, host and port whose robots.txt is read; a default port is left out. Example:
	// `https://news.example`. It is the origin that gave the host's own answer.
	Origin string `parquet:"origin,dict"`
	// Name of the identity, as the file of `--also-as` gives it. Example: `gptbot`.
	Identity string `parquet:"identity,dict"`
	// The identity has our own user agent: it tells what a second request gets under any name.
	IsControl bool `parquet:"is_control"`
	// User agent as sent. Example: `Mozilla/5.0 (compatible; ExampleBot/1.0)`.
	UserAgent string `parquet:"user_agent,dict"`
	// Agent of the registry whose policy is compared. Null for an agent that no group names. Example:
	// `GPTBot`.
	Agent *string `parquet:"agent,dict"`
	// Category of the agent. Null without one. Example: `ai-training`.
	Category *string `parquet:"category,dict"`
	// Time of the request, in UTC.
	FetchTime time.Time `parquet:"fetch_time,timestamp(microsecond)"`
	// HTTP status of the last hop. Null if it gave no answer. Example: `403`.
	Status *int32 `parquet:"status"`
	// Requests of the chain of redirects, in order, with their statuses.
	Hops []Hop `parquet:"hops,list"`
	// What the answer means under the first profile, as in `fetches`.
	Outcome string `parquet:"outcome,dict"`
	// Why, as in `fetches`. Example: `client_error`.
	Reason string `parquet:"reason,dict"`
	// Class of the failure, as in `fetches`. Null for a whole answer. Example: `timeout`.
	ErrorClass *string `parquet:"error_class,dict"`
	// Text of the failure. Null without one.
	Error *string `parquet:"error,dict"`
	// Bytes of the decoded body as kept, or of what came of one that broke off. Null without a body.
	BodyBytes *int64 `parquet:"body_bytes"`
	// The body was cut at the size limit.
	BodyTruncated bool `parquet:"body_truncated"`
	// SHA-1 of the decoded body as kept, in bare base32: joins `bodies`. Null if there is no whole body.
	ContentDigest *string `parquet:"content_digest,dict"`
	// Vendor of the wall that answered, as in `fetches`. Null if none was found. Example: `cloudflare`.
	Challenge *string `parquet:"challenge,dict"`
	// Duration of the request with its redirects, without waits for politeness, in microseconds. Null
	// if it is not known.
	TotalMicros *int64 `parquet:"total_us"`
	// Both answers have a whole body, and the bodies are the same bytes. Null unless both have one.
	Same *bool `parquet:"same"`
	// The policy for the agent in this answer against that in the host's own answer, by meaning, under
	// the first profile: `equal`, `stricter`, `looser`, `mixed`, `undecided`; `unknown` unless both are
	// 2xx without a challenge.
	Policy string `parquet:"policy,dict"`
	// The shortest path that the two files decide differently for the agent, with both verdicts and the
	// lines that decide. Null if none is known. Example: `/news: allow, then disallow (line 3)`.
	FirstDifference *string `parquet:"first_difference,dict"`
	// What the identity met, against the host's own answer: `served` (a file, as we), `absent` (no file, as
	// we: 404 or 410), `other` (one of both has a file), `challenged`, `refused` (another 4xx), `failing`
	// (any other status), `unreached` (no answer), `incomparable` (our own request was no better off).
	Treatment string `parquet:"treatment,dict"`
	// Class of the agent's policy in the host's own answer, as in `policies`: what the file says on paper.
	Class string `parquet:"class,dict"`
}
