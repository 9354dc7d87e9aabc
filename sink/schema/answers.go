package schema

import "time"

// Answer is a row of `answers`: what a host answered to a further identity, for its robots.txt or for a page.
type Answer struct {
	// Number of the target within the run; it joins the tables. The input alone determines it: of a host
	// list it is the ordinal of the target's first row, of an archive it counts archives and records.
	// Example: `17`.
	Seq int64 `parquet:"seq"`
	// Canonical host name: lower case, ASCII (IDNA). Example: `news.example`.
	Host string `parquet:"host,dict"`
	// Rank of the host as the input or `--ranks` gives it: `www.example.com` has that of `example.com`,
	// and the reverse, where `--ranks` has only the other. Null if it gives none. Example: `464`.
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
	// Path and query that was asked for: `/robots.txt`, or the page of `--pages`. Example: `/`.
	Path string `parquet:"path,dict" rowio:"maybe"`
	// Time of the request, in UTC. Null if the page was not asked for.
	FetchTime *time.Time `parquet:"fetch_time,timestamp(microsecond)"`
	// HTTP status of the last hop. Null if it gave no answer. Example: `403`.
	Status *int32 `parquet:"status"`
	// Requests of the chain of redirects, in order, with their statuses.
	Hops []Hop `parquet:"hops,list"`
	// What the answer means under the first profile, as in `fetches`. Null for a page.
	Outcome *string `parquet:"outcome,dict"`
	// Why, as in `fetches`. Null for a page. Example: `client_error`.
	Reason *string `parquet:"reason,dict"`
	// Class of the failure, as in `fetches`. Null for a whole answer. Example: `timeout`.
	ErrorClass *string `parquet:"error_class,dict"`
	// Text of the failure. Null without one.
	Error *string `parquet:"error,dict"`
	// Bytes of the decoded body as kept, or of what came of one that broke off. Null without a body.
	BodyBytes *int64 `parquet:"body_bytes"`
	// The body was cut at the size limit.
	BodyTruncated bool `parquet:"body_truncated"`
	// SHA-1 of the decoded body as kept, in bare base32: joins `bodies`. Null if there is no whole body, and for a page.
	ContentDigest *string `parquet:"content_digest,dict"`
	// Vendor of the wall that answered, as in `fetches`. Null if none was found. Example: `cloudflare`.
	Challenge *string `parquet:"challenge,dict"`
	// SHA-1 of the words of a page that was served, in bare base32: without numbers, and without tokens that may differ
	// at each request. Null for robots.txt, and without a page.
	TextDigest *string `parquet:"text_digest,dict"`
	// Duration of the request with its redirects, without waits for politeness, in microseconds. Null
	// if it is not known.
	TotalMicros *int64 `parquet:"total_us"`
	// Both answers have a whole body, and the bodies are the same bytes. Null unless both have one. Of a page: it is that
	// of the control but for what changes at each request, as far as the control's own changes; of the control,
	// it is the same a second time. Null unless both were served.
	Same *bool `parquet:"same"`
	// The policy for the agent in this answer against that in the host's own answer, by meaning, under
	// the first profile: `equal`, `stricter`, `looser`, `mixed`, `undecided`; `unknown` unless both are
	// 2xx without a challenge, and for a page.
	Policy string `parquet:"policy,dict"`
	// The shortest path that the two files decide differently for the agent, with both verdicts and the
	// lines that decide. Null if none is known. Example: `/news: allow, then disallow (line 3)`.
	FirstDifference *string `parquet:"first_difference,dict"`
	// What the identity met, against the host's own answer: `served` (a file, as we), `absent` (no file, as we: 404
	// or 410), `other` (one of both has a file), `challenged`, `rate_limited` (429), `payment` (402), `refused`
	// (another 4xx), `failing` (any other status), `unreached` (no answer), `incomparable` (our own request was no
	// better off). Of a page, whatever the control met: `served`, `served_other` (not the page of the control,
	// which is the same a second time), `refused` (a 4xx that is none of the following, also a 404), `challenge`,
	// `rate_limited` (429), `payment` (402 with a price), `redirected_away`, `server_error`, `no_answer`,
	// `not_asked`.
	Treatment string `parquet:"treatment,dict"`
	// Class of the agent's policy in the host's own answer, as in `policies`: what the file says on paper.
	Class string `parquet:"class,dict"`
	// What the host's own answer says to the agent, under the first profile: `open`, `partly`,
	// `shut_out`, `nothing` (there is no file, or no group of it is for the agent), `unknown`.
	// Null for robots.txt.
	Paper *string `parquet:"paper,dict"`
	// The verdict of the host's own answer on the page for the agent, under the first profile: `allow`, `disallow`,
	// `undefined`. Null for robots.txt.
	Verdict *string `parquet:"verdict,dict" rowio:"maybe"`
	// Of a page why it was not asked for: `disallowed` (robots.txt shuts the agent out, under RFC 9309), `unread` (the
	// host's own answer does not say what may be fetched), `spared` (the host wants to be left alone for longer than the
	// census waits); why a redirect was not followed: `elsewhere` (to another site), `disallowed`; `no_price` (a 402
	// that names none); or `once` (the control was served, and was not when it asked again). Null
	// otherwise. Example: `disallowed`.
	Remark *string `parquet:"remark,dict" rowio:"maybe"`
	// Price that the answer names, as written, a 402 or another 4xx; of x402 amount, asset and network. Null without
	// one; for robots.txt, of which the bodies of errors are not read, without one in a header. Example: `USD 0.01`.
	Price *string `parquet:"price,dict" rowio:"maybe"`
	// Name of the header that names the price, or a licence; `body` if that does. Null without one. Example:
	// `crawler-price`.
	PriceHeader *string `parquet:"price_header,dict"`
}

// RobotsPath is the path of answers for robots.txt.
const RobotsPath = "/robots.txt"

// IsPage reports whether a path of answers is one of a page. Runs of earlier versions asked for
// none, and do not say the path.
func IsPage(path string) bool { return path != "" && path != RobotsPath }
