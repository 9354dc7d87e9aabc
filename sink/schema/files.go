package schema

import (
	"crypto/sha1" // the digest of archives
	"encoding/base32"
)

// Group is a row of `groups`.
type Group struct {
	// Number of the target within the run; it joins the tables. The input alone determines it: of a host
	// list it is the ordinal of the target's first row, of an archive it counts archives and records.
	// Example: `17`.
	Seq int64 `parquet:"seq"`
	// Canonical host name: lower case, ASCII (IDNA). Example: `news.example`.
	Host string `parquet:"host,dict"`
	// Scheme, host and port whose robots.txt is read; a default port is left out. Example:
	// `https://news.example`.
	Origin string `parquet:"origin,dict"`
	// Index of the group within the file, from 0. Example: `2`.
	GroupIndex int32 `parquet:"group_index"`
	// Line of the group's first user-agent. Example: `12`.
	Line int32 `parquet:"line"`
	// Values of its user-agent lines, as written. Example: `[GPTBot, CCBot]`.
	Agents []string `parquet:"agents,list" parquet-element:",dict"`
	// The lines of these. Example: `[12, 13]`.
	AgentLines []int32 `parquet:"agent_lines,list"`
	// Product tokens by which the group is found, in lower case. Example: `[gptbot, ccbot]`.
	Tokens []string `parquet:"tokens,list" parquet-element:",dict"`
	// Allow lines.
	AllowRules int32 `parquet:"allow_rules"`
	// Disallow lines.
	DisallowRules int32 `parquet:"disallow_rules"`
	// First crawl-delay, in seconds, which may be for some of its agents only: `policies` says for which. Null
	// if the group has none, or none that is a number. Example: `10`.
	CrawlDelay *float64 `parquet:"crawl_delay"`
	// What the group's rules mean: `allow_all`, `disallow_all`, `partial`, `empty` (no rules).
	Class string `parquet:"class,dict"`
	// Its list of agents continues after a line that is not a rule: other parsers see two groups there.
	Joined bool `parquet:"joined"`
	// Template whose words the group is: it stands in a region of the template, or has its digest or
	// rules. Null if it is the file's own, or nobody knows. Example: `cloudflare-managed`.
	Template *string `parquet:"template,dict"`
	// Digest of the group as normalized: the first 32 digits of `sha256('user-agent: ' || token || '\n' …
	// 'disallow: ' || path || '\n' …)`, with the tokens in lower case and sorted, then the rules in the
	// order of the file. A block that a product writes has one digest on all hosts.
	Digest string `parquet:"digest,dict"`
}

// Rule is a row of `rules`: an allow or disallow line.
type Rule struct {
	// Number of the target within the run; it joins the tables. The input alone determines it: of a host
	// list it is the ordinal of the target's first row, of an archive it counts archives and records.
	// Example: `17`.
	Seq int64 `parquet:"seq"`
	// Canonical host name: lower case, ASCII (IDNA). Example: `news.example`.
	Host string `parquet:"host,dict"`
	// Scheme, host and port whose robots.txt is read; a default port is left out. Example:
	// `https://news.example`.
	Origin string `parquet:"origin,dict"`
	// Index of the group within the file, from 0; joins `groups`. Null for a line before any group.
	// Example: `2`.
	GroupIndex *int32 `parquet:"group_index"`
	// Line of the file, from 1. Example: `12`.
	Line int32 `parquet:"line"`
	// `allow` or `disallow`.
	Kind string `parquet:"kind,dict"`
	// Pattern as written. Example: `/private/*`.
	Pattern string `parquet:"pattern,dict"`
	// Pattern as it is matched, escapes made equal. Example: `/priv%C3%A9/*`.
	Normalized string `parquet:"normalized,dict" dictionary:"pattern"`
	// The pattern has a `*`.
	HasWildcard bool `parquet:"has_wildcard"`
	// The pattern ends in `$`.
	HasAnchor bool `parquet:"has_anchor"`
	// The rule can decide a verdict. It cannot if it is empty, before any group, or without a leading
	// slash.
	Effective bool `parquet:"effective"`
}

// Sitemap is a row of `sitemaps`.
type Sitemap struct {
	// Number of the target within the run; it joins the tables. The input alone determines it: of a host
	// list it is the ordinal of the target's first row, of an archive it counts archives and records.
	// Example: `17`.
	Seq int64 `parquet:"seq"`
	// Canonical host name: lower case, ASCII (IDNA). Example: `news.example`.
	Host string `parquet:"host,dict"`
	// Scheme, host and port whose robots.txt is read; a default port is left out. Example:
	// `https://news.example`.
	Origin string `parquet:"origin,dict"`
	// Line of the file, from 1. Example: `12`.
	Line int32 `parquet:"line"`
	// URL as written. Example: `https://news.example/sitemap.xml`.
	URL string `parquet:"url,dict"`
	// The URL has a scheme and a host.
	IsAbsolute bool `parquet:"is_absolute"`
	// It is on the host of the file. False if the value is quoted, or has another URL or field in it
	// (class `sitemap_value` of `lines`).
	IsSameHost bool `parquet:"is_same_host"`
}

// Line is a row of `lines`: a line worth a remark.
type Line struct {
	// Number of the target within the run; it joins the tables. The input alone determines it: of a host
	// list it is the ordinal of the target's first row, of an archive it counts archives and records.
	// Example: `17`.
	Seq int64 `parquet:"seq"`
	// Canonical host name: lower case, ASCII (IDNA). Example: `news.example`.
	Host string `parquet:"host,dict"`
	// Scheme, host and port whose robots.txt is read; a default port is left out. Example:
	// `https://news.example`.
	Origin string `parquet:"origin,dict"`
	// Line of the file, from 1. Example: `12`.
	Line int32 `parquet:"line"`
	// Index of the group within the file, from 0; joins `groups`. Null for a line before any group.
	// Example: `2`.
	GroupIndex *int32 `parquet:"group_index"`
	// Field as written. Null if the line has none. Example: `Disalow`.
	Field *string `parquet:"field,dict"`
	// Value as written, or the line if it has no field; of `not_portable` and `lighthouse`, the line.
	// Example: `/private`.
	Value string `parquet:"value,dict"`
	// What is remarkable: `extension`, `unknown_field`, `typo`, `key_prefix`, `missing_colon`,
	// `spaced_colon`, `orphan_rule`, `no_field`, `too_long`, `nul`, `truncated` (it ends beyond the size
	// limit and does not count), `sitemap_value` (a sitemap whose value is quoted, or has another URL or
	// field in it), `comment` (with `--keep-comments`), `not_portable` (because of it, the
	// file means something else to a crawler that it names, as the crawler's own parser reads it),
	// `lighthouse` (the audit of robots.txt in Lighthouse 13.5 calls it an error). Lines
	// with `typo`, `key_prefix`, `missing_colon` or `spaced_colon` may be accepted all the same.
	Class string `parquet:"class,dict"`
	// Crawler that a line of class `not_portable` is about. Null for other classes. Example: `CCBot`.
	Agent *string `parquet:"agent,dict"`
	// Profile of the crawler's parser. Null without an agent. Example: `crawler-commons`.
	Parser *string `parquet:"parser,dict"`
	// Why the parser reads the file otherwise than google (below). Of class `lighthouse`, what is wrong:
	// unknown_directive, syntax (no colon), pattern (a rule that begins with neither slash nor star),
	// inner_dollar, sitemap, no_agent or rule_before_agent. Null for other classes. Example:
	// `text_behind_name`.
	Cause *string `parquet:"cause,dict"`
	// How many causes it takes together; each is exact where it is 1. Null without an agent.
	Causes *int32 `parquet:"causes"`
}

// Signal is a row of `signals`: one key and value of a typed extension.
type Signal struct {
	// Number of the target within the run; it joins the tables. The input alone determines it: of a host
	// list it is the ordinal of the target's first row, of an archive it counts archives and records.
	// Example: `17`.
	Seq int64 `parquet:"seq"`
	// Canonical host name: lower case, ASCII (IDNA). Example: `news.example`.
	Host string `parquet:"host,dict"`
	// Scheme, host and port whose robots.txt is read; a default port is left out. Example:
	// `https://news.example`.
	Origin string `parquet:"origin,dict"`
	// Line of the file, from 1. Example: `12`.
	Line int32 `parquet:"line"`
	// Index of the group within the file, from 0; joins `groups`. Null for a line before any group.
	// Example: `2`.
	GroupIndex *int32 `parquet:"group_index"`
	// Extension, in lower case: `content-signal`, `content-usage`, `license`, `request-rate`,
	// `visit-time`, `clean-param`, `host`, `noindex`.
	Field string `parquet:"field,dict"`
	// Path that the signal is about. Null if it is about the whole group or site. Example: `/forum/`.
	Path *string `parquet:"path,dict"`
	// Key of the signal. Null if the extension has no keys. Example: `ai-train`.
	Key *string `parquet:"key,dict"`
	// Value as written. Example: `no`.
	Value string `parquet:"value,dict"`
}

// ContentDigest returns the content digest of a body: its SHA-1 in bare base32, as in
// Common Crawl's index.
func ContentDigest(body []byte) string {
	sum := sha1.Sum(body)
	return base32.StdEncoding.EncodeToString(sum[:])
}

// Body is a row of `bodies`: a distinct body of the run's part, byte for byte.
type Body struct {
	// As in `fetches`.
	ContentDigest string `parquet:"content_digest,dict"`
	// The decoded body as kept, byte for byte.
	Body []byte `parquet:"body"`
}
