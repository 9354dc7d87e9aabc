package schema

import (
	"time"

	"github.com/robocensus/robocensus/robots/answer"
)

// Row types, one per table. A nullable column is a pointer, never a plain value
// with the tag "optional": parquet-go 0.32 writes some of the nulls of such a
// column as zeros (where a run of values ends inside a word of its bitmap).

// OfFile are the columns of fetches that say what a file has. Where nobody has read one they
// mean nothing, and views show null.
var OfFile = []string{"is_utf8", "lines", "groups", "rules", "sitemaps", "invalid_lines"}

// Fetch is a row of `fetches`: what one target's robots.txt answered.
type Fetch struct {
	// Number of the target within the run; it joins the tables. The input alone determines it: of a host
	// list it is the ordinal of the target's first row, of an archive it counts archives and records.
	// Example: `17`.
	Seq int64 `parquet:"seq"`
	// Field of the input that named the target, as given. Example: `https://news.example/`.
	Input string `parquet:"input,dict"`
	// Canonical host name: lower case, ASCII (IDNA). Example: `news.example`.
	Host string `parquet:"host,dict"`
	// Rank of the host as the input or `--ranks` gives it: `www.example.com` has that of `example.com`,
	// and the reverse, where `--ranks` has only the other. Null if it gives none. Example: `464`.
	Rank *int64 `parquet:"rank"`
	// Scheme, host and port whose robots.txt is read; a default port is left out. Example:
	// `https://news.example`. If https gave no answer and http did, this is the http origin.
	Origin string `parquet:"origin,dict"`
	// `https`, `http` or `ftp`.
	Scheme string `parquet:"scheme,dict"`
	// TCP port. Example: `443`.
	Port int32 `parquet:"port"`
	// Domain that was registered, by the Public Suffix List. Null for an IP address and for a public
	// suffix. Example: `news.example`.
	RegisteredDomain *string `parquet:"registered_domain,dict"`
	// Top-level domain. Null for an IP address. Example: `example`.
	TLD *string `parquet:"tld,dict"`
	// URL that was asked first. Example: `https://news.example/robots.txt`.
	RobotsURL string `parquet:"robots_url,dict"`
	// Where the answer comes from: `network` (asked in this run), `cache` (`--state`), `warc`, `body` (a
	// stored file).
	Source string `parquet:"source,dict"`
	// When the answer was fetched, in UTC; of a WARC capture, when the archive fetched it; of a stored
	// file, when the file was last changed. Example: `2026-11-20 10:15:02.123456`.
	FetchTime time.Time `parquet:"fetch_time,timestamp(microsecond)"`
	// Where the request was made from, as `--vantage` calls it. Null if it was not given. Example:
	// `frankfurt`.
	Vantage *string `parquet:"vantage,dict"`
	// What the answer means under the first profile: `conditional_allow` (the rules decide), `full_allow`,
	// `full_disallow`, `undefined`.
	Outcome string `parquet:"outcome,dict"`
	// Why: `success`, `client_error`, `unauthorized` (a 401, 403 or other 4xx, under a profile that obeys it),
	// `not_read` (under a profile of a program that reads no such answer), `error_body` (under one that reads the
	// body of this error or redirect as a file), `server_error`, `misconfigured_server`, `redirect_limit`,
	// `redirect_loop`, `redirect_invalid`, `redirect_unsupported`, `redirect_unresolved`, `revisit_unresolved`,
	// `html_redirect`, `network_failure`, `invalid_response`, `incomplete_body`, `stale_copy`,
	// `unreachable_too_long`, `address_blocked`, `no_route`.
	Reason string `parquet:"reason,dict"`
	// HTTP status of the last hop, or the last reply of FTP. Null if there was no answer. Example: `200`.
	Status *int32 `parquet:"status"`
	// Requests in order, redirects and all, each with `url` and `status`. Example: `[{url:
	// http://a.example/robots.txt, status: 301}, …]`.
	Hops []Hop `parquet:"hops,list"`
	// URL of the last hop. Null if it did not answer, for a redirect that an archive does not resolve, and
	// for a stored file. Example: `https://www.news.example/robots.txt`.
	FinalURL *string `parquet:"final_url,dict"`
	// What went wrong: `dns_not_found`, `dns_no_address` (the name exists), `dns_failure`, `address_blocked`, `no_route`,
	// `connect_refused`, `connect_timeout`, `connect_failure`, `tls`, `timeout`, `reset`, `protocol`, `undecodable_body`
	// (not in its content encoding), `ftp_refused` (before the file was asked for), `truncated_body`,
	// `header_too_large`, `redirect_invalid`, `redirect_unsupported`, `redirect_loop`, `redirect_limit`,
	// `server_error`, `unexpected_status`. Null if nothing did.
	ErrorClass *string `parquet:"error_class,dict"`
	// The same in words. Beside a null `error_class` it is a remark: a line of the header is no field and was
	// dropped, a body is text and not in its content encoding, or that is unknown, the file is packed, a stored body
	// contradicts its digest. Null if there is nothing to say. Example: `header: connection reset by peer`.
	Error *string `parquet:"error,dict"`
	// Why https was given up for http. Null if it was not. Example: `connect_failure`.
	FallbackErrorClass *string `parquet:"fallback_error_class,dict"`
	// Number of times that the target was asked, retries included. Example: `1`.
	Attempts int32 `parquet:"attempts"`
	// IP address that answered last. Null for a stored answer and if no connection was made. Example:
	// `192.0.2.7`.
	RemoteAddress *string `parquet:"remote_address,dict"`
	// Version of HTTP. Null if there was no answer. Example: `1.1`.
	HTTPVersion *string `parquet:"http_version,dict"`
	// Version of TLS. Null without TLS. Example: `1.3`.
	TLSVersion *string `parquet:"tls_version,dict"`
	// Header Content-Type of the last hop. Null if absent. Example: `text/plain; charset=utf-8`.
	ContentType *string `parquet:"content_type,dict"`
	// Header Content-Encoding, as the server sent it (X-Crawler-Content-Encoding of a Common Crawl
	// capture). Null if absent. Example: `gzip`.
	ContentEncoding *string `parquet:"content_encoding,dict"`
	// Header Server. Null if absent. Example: `nginx`.
	Server *string `parquet:"server,dict"`
	// Header ETag. Null if absent.
	ETag *string `parquet:"etag,dict"`
	// Header Last-Modified, as sent. Null if absent.
	LastModified *string `parquet:"last_modified,dict"`
	// Header Cache-Control. Null if absent. Example: `max-age=3600`.
	CacheControl *string `parquet:"cache_control,dict"`
	// Header Retry-After, as sent. Null if absent. Example: `120`.
	RetryAfter *string `parquet:"retry_after,dict"`
	// Time to look the name up, last hop, in microseconds. Null if it was not looked up. Example: `12800`.
	DNSMicros *int64 `parquet:"dns_us"`
	// Time to connect, last hop, in microseconds. Null if no connection was made.
	ConnectMicros *int64 `parquet:"connect_us"`
	// Time of the TLS handshake, last hop, in microseconds. Null without TLS.
	TLSMicros *int64 `parquet:"tls_us"`
	// Time from the request to the first byte of the answer, last hop, in microseconds. Null if there was
	// none.
	FirstByteMicros *int64 `parquet:"first_byte_us"`
	// Duration of the fetch with all hops and retries, without waits for politeness, in microseconds. Null
	// for a stored answer, unless `--warc-out` has stored it. Example: `215000`.
	TotalMicros *int64 `parquet:"total_us"`
	// Bytes of the decoded body as kept, or of what came of one that broke off. Of the copy, if that is judged
	// instead. Null if there is no body. Example: `1337`.
	BodyBytes *int64 `parquet:"body_bytes"`
	// The body was cut at the profile's size limit. The last line does not count unless its end (CR or LF)
	// lies within.
	BodyTruncated bool `parquet:"body_truncated"`
	// SHA-1 of the decoded body as kept, in bare base32: joins `bodies` and Common Crawl's index. Null if
	// there is no body. Example: `5S2OB6LKHJKZ4QZUPDK7BQSNDX7BPAGZ`.
	ContentDigest *string `parquet:"content_digest,dict"`
	// The body begins with a byte order mark.
	HasBOM bool `parquet:"has_bom"`
	// The body is valid UTF-8. Null if there is no body; an earlier version wrote false there.
	IsUTF8 *bool `parquet:"is_utf8"`
	// The body looks like HTML.
	IsHTML bool `parquet:"is_html"`
	// The body has a comment and no line that is a record. Such files are served where there used to be
	// none.
	OnlyComments bool `parquet:"only_comments"`
	// Vendor of the wall that answered in place of a robots.txt: `cloudflare`, `aws-waf`, `akamai`, `datadome`,
	// `imperva`, `human`, or `generic` (of nobody known). The host counts as unread: the class of all its
	// policies is `unknown`. Null if no mark of a wall was found. Example: `cloudflare`.
	Challenge *string `parquet:"challenge,dict" rowio:"maybe"`
	// Network that delivered the answer, by its headers: `cloudflare`, `cloudfront`, `fastly`, `akamai` and others
	// of configs/cdns.yaml. Null if no header names one. Example: `fastly`.
	CDN *string `parquet:"cdn,dict"`
	// When the judged copy was fetched, in UTC, if it stands in for an unreachable file (reason
	// `stale_copy`). Null if the answer itself is judged.
	StaleSince *time.Time `parquet:"stale_since,timestamp(microsecond)"`
	// Start of the origin's outage, by the memory of `--state`, in UTC. Null if it answers, or
	// without `--state`.
	UnreachableSince *time.Time `parquet:"unreachable_since,timestamp(microsecond)"`
	// Kinds of answers that the memory of `--state` holds, each in the place where it was last seen, up to
	// this answer: what any profile needs to know since when the origin is unreachable, and whether the
	// earlier copy still stands. Empty without `--state`, and if no profile could count this answer as
	// unreachable. Example: `[{since: 2026-03-01 04:00:00, kind: success, redirects: 0}, {since: 2026-03-08
	// 04:00:00, kind: server_error, redirects: 0}]`.
	AnswersSince []Seen `parquet:"answers_since,list"`
	// When the last whole copy of the file was fetched, in UTC, by the memory of `--state`, whether or not the
	// first profile judges it. Null without one, and if no profile could need it.
	CopyTime *time.Time `parquet:"copy_time,timestamp(microsecond)"`
	// SHA-1 of that copy, as in `content_digest`: joins `bodies`. Without a `copy_time`, that of the page of an
	// error, if another profile than the first may read it. Null without either.
	CopyDigest *string `parquet:"copy_digest,dict"`
	// The body that the row names, its own or the copy, is all that was kept of a longer one; false if only
	// the first profile reads less of it. Null if neither is so.
	KeptTruncated *bool `parquet:"kept_truncated"`
	// Status of the front page, asked for with `--probe-misconfigured` after a 5xx or 429. Null if it was not asked
	// for, or gave no answer. Example: `200`.
	ProbeFrontStatus *int32 `parquet:"probe_front_status"`
	// Status of a page that cannot exist, asked for if the front page exists: the host is misconfigured if it
	// is that of the robots.txt. Null if it was not asked for, or gave no answer. Example: `503`.
	ProbeRandomStatus *int32 `parquet:"probe_random_status"`
	// What came of the request for the front page, with `--front-page`: `read` (a 2xx, its headers are below),
	// `status` (any other answer), `challenge` (a wall), `elsewhere` (a redirect to another registered domain,
	// which was not asked), `failed` (no answer), `disallowed` (robots.txt shuts this census out of it), `unread`
	// (robots.txt does not say whether it may be asked), `spared` (the host, or another that it redirects to, is
	// busy or wants to be left alone for longer than the census waits), `uncaptured` (no archive holds it). Null
	// if nobody looked: without the flag, and if robots.txt was not answered in this run.
	FrontPage *string `parquet:"front_page,dict"`
	// Requests for the front page in order, redirects and all, each with `url` and `status`. Empty if it was
	// not asked for.
	FrontHops []Hop `parquet:"front_hops,list"`
	// Why the front page failed, as in `error_class`. Null if it did not.
	FrontErrorClass *string `parquet:"front_error_class,dict"`
	// Headers about use of a front page that was read, each with `name`, in lower case, and `value`:
	// Content-Usage, X-Robots-Tag, TDM-Reservation, TDM-Policy, at most 32 lines; the value of one longer than
	// 2 KiB is null. One named `:escaped`, without a value, follows a line of which bytes that are not UTF-8
	// are written as `%E9`: a dictionary does not parse with them. Example: `[{name: x-robots-tag, value: noai}]`.
	FrontHeaders []HeaderLine `parquet:"front_headers,list"`
	// Lines of the file; a line end begins none, so that an empty file has 0. Example: `42`.
	Lines int32 `parquet:"lines"`
	// Groups of the file.
	Groups int32 `parquet:"groups"`
	// Allow and disallow lines.
	Rules int32 `parquet:"rules"`
	// Sitemap lines.
	Sitemaps int32 `parquet:"sitemaps"`
	// Lines that are neither blank, comment, nor a field and a value.
	InvalidLines int32 `parquet:"invalid_lines"`
	// Archive that holds the capture, as `--warc`, the list of `--warc-paths` or the index of
	// `--cdx` names it: without `--warc-base`, so that it joins with `warc_filename` of Common
	// Crawl's index. The query of a URL, which may be a signature, is left out; `#2` ends the
	// second name that is the same without it. With `--last-capture` it is that of the
	// robots.txt, whatever that redirects to. Null for other sources. Example:
	// `crawl-0001.warc.gz`.
	WARCFile *string `parquet:"warc_file,dict"`
	// Offset of its record in the archive as stored, in bytes; of the first record of its fetch, if `--warc-out`
	// has stored it. Null for other sources.
	WARCOffset *int64 `parquet:"warc_offset"`
	// Length of the record, or of these records, as stored, in bytes. Null for other sources,
	// and if the compression gives no length.
	WARCLength *int64 `parquet:"warc_length"`
}

// Shown returns the reason that says what the row shows of the host (see [answer.Shown]).
func (f *Fetch) Shown() answer.Reason {
	return answer.Shown(answer.Reason(f.Reason), f.Challenge != nil)
}

// TurnedAway returns how the answer turns a census away, "" if it does not.
func (f *Fetch) TurnedAway() answer.Reason {
	last := answer.Hop{URL: OrZero(f.FinalURL), Status: int(OrZero(f.Status))}
	return answer.TurnedAway(last, f.RetryAfter != nil)
}

// HasFile reports whether the row's counts of lines, groups, rules and sitemaps are those of
// a file: of an answer without one, and of the page of a wall, nobody has counted any.
func (f *Fetch) HasFile() bool { return f.ContentDigest != nil && f.Challenge == nil }

// KeptDigest returns the digest of the body that stands for the row in `bodies`: that
// which the first profile judges, else the earlier copy; nil for none. An answer that
// may need a copy has no body itself.
func (f *Fetch) KeptDigest() *string {
	if f.ContentDigest != nil {
		return f.ContentDigest
	}
	return f.CopyDigest
}

// Hop is one request of a chain of redirects. Status is null where the
// request got no answer.
type Hop struct {
	URL    string `parquet:"url,dict"`
	Status *int32 `parquet:"status"`
}

// HeaderLine is a line of the header of a front page, or says with the name EscapedLine that
// the value of the one before has escapes for bytes. Value is null for one that is too long.
type HeaderLine struct {
	Name  string  `parquet:"name,dict"`
	Value *string `parquet:"value,dict"`
}

// EscapedLine is no name of a header.
const EscapedLine = ":escaped"

// Seen is a kind of answer in the memory: Since is the date of the first answer after
// those of the kinds before it, Kind what package robots calls its class, such as
// success, server_error or too_many_requests, and Redirects the redirects on its way.
type Seen struct {
	Since     time.Time `parquet:"since,timestamp(microsecond)"`
	Kind      string    `parquet:"kind,dict"`
	Redirects int32     `parquet:"redirects"`
}
