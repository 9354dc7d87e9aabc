package sink

import "time"

// SchemaVersion changes when a column changes its name, type or meaning.
const SchemaVersion = 2

// Row types, one per table. A nullable column is a pointer, never a plain value
// with the tag "optional": parquet-go 0.32 writes some of the nulls of such a
// column as zeros (where a run of values ends inside a word of its bitmap).

// Fetch is a row of `fetches`: what one target's robots.txt answered.
type Fetch struct {
	Seq                int64      `parquet:"seq"`
	Input              string     `parquet:"input,dict"`
	Host               string     `parquet:"host,dict"`
	Rank               *int64     `parquet:"rank"`
	Origin             string     `parquet:"origin,dict"`
	Scheme             string     `parquet:"scheme,dict"`
	Port               int32      `parquet:"port"`
	RegisteredDomain   *string    `parquet:"registered_domain,dict"`
	TLD                *string    `parquet:"tld,dict"`
	RobotsURL          string     `parquet:"robots_url,dict"`
	Source             string     `parquet:"source,dict"`
	FetchTime          time.Time  `parquet:"fetch_time,timestamp(microsecond)"`
	Outcome            string     `parquet:"outcome,dict"`
	Reason             string     `parquet:"reason,dict"`
	Status             *int32     `parquet:"status"`
	Hops               []Hop      `parquet:"hops,list"`
	FinalURL           *string    `parquet:"final_url,dict"`
	ErrorClass         *string    `parquet:"error_class,dict"`
	Error              *string    `parquet:"error,dict"`
	FallbackErrorClass *string    `parquet:"fallback_error_class,dict"`
	Attempts           int32      `parquet:"attempts"`
	RemoteAddress      *string    `parquet:"remote_address,dict"`
	HTTPVersion        *string    `parquet:"http_version,dict"`
	TLSVersion         *string    `parquet:"tls_version,dict"`
	ContentType        *string    `parquet:"content_type,dict"`
	ContentEncoding    *string    `parquet:"content_encoding,dict"`
	Server             *string    `parquet:"server,dict"`
	ETag               *string    `parquet:"etag,dict"`
	LastModified       *string    `parquet:"last_modified,dict"`
	CacheControl       *string    `parquet:"cache_control,dict"`
	RetryAfter         *string    `parquet:"retry_after,dict"`
	DNSMicros          *int64     `parquet:"dns_us"`
	ConnectMicros      *int64     `parquet:"connect_us"`
	TLSMicros          *int64     `parquet:"tls_us"`
	FirstByteMicros    *int64     `parquet:"first_byte_us"`
	TotalMicros        *int64     `parquet:"total_us"`
	BodyBytes          *int64     `parquet:"body_bytes"`
	BodyTruncated      bool       `parquet:"body_truncated"`
	ContentDigest      *string    `parquet:"content_digest,dict"`
	HasBOM             bool       `parquet:"has_bom"`
	IsUTF8             bool       `parquet:"is_utf8"`
	IsHTML             bool       `parquet:"is_html"`
	StaleSince         *time.Time `parquet:"stale_since,timestamp(microsecond)"`
	UnreachableSince   *time.Time `parquet:"unreachable_since,timestamp(microsecond)"`
	Lines              int32      `parquet:"lines"`
	Groups             int32      `parquet:"groups"`
	Rules              int32      `parquet:"rules"`
	Sitemaps           int32      `parquet:"sitemaps"`
	InvalidLines       int32      `parquet:"invalid_lines"`
	WARCFile           *string    `parquet:"warc_file,dict"`
	WARCOffset         *int64     `parquet:"warc_offset"`
	WARCLength         *int64     `parquet:"warc_length"`
}

// Hop is one request of a chain of redirects. Status is null where the
// request got no answer.
type Hop struct {
	URL    string `parquet:"url,dict"`
	Status *int32 `parquet:"status"`
}

// Group is a row of `groups`.
type Group struct {
	Seq           int64    `parquet:"seq"`
	Host          string   `parquet:"host,dict"`
	Origin        string   `parquet:"origin,dict"`
	GroupIndex    int32    `parquet:"group_index"`
	Line          int32    `parquet:"line"`
	Agents        []string `parquet:"agents,list" parquet-element:",dict"`
	AgentLines    []int32  `parquet:"agent_lines,list"`
	Tokens        []string `parquet:"tokens,list" parquet-element:",dict"`
	AllowRules    int32    `parquet:"allow_rules"`
	DisallowRules int32    `parquet:"disallow_rules"`
	CrawlDelay    *float64 `parquet:"crawl_delay"`
	Class         string   `parquet:"class,dict"`
	Joined        bool     `parquet:"joined"`
}

// Rule is a row of `rules`: an allow or disallow line.
type Rule struct {
	Seq         int64  `parquet:"seq"`
	Host        string `parquet:"host,dict"`
	Origin      string `parquet:"origin,dict"`
	GroupIndex  *int32 `parquet:"group_index"`
	Line        int32  `parquet:"line"`
	Kind        string `parquet:"kind,dict"`
	Pattern     string `parquet:"pattern,dict"`
	Normalized  string `parquet:"normalized,dict"`
	HasWildcard bool   `parquet:"has_wildcard"`
	HasAnchor   bool   `parquet:"has_anchor"`
	Effective   bool   `parquet:"effective"`
}

// Sitemap is a row of `sitemaps`.
type Sitemap struct {
	Seq        int64  `parquet:"seq"`
	Host       string `parquet:"host,dict"`
	Origin     string `parquet:"origin,dict"`
	Line       int32  `parquet:"line"`
	URL        string `parquet:"url,dict"`
	IsAbsolute bool   `parquet:"is_absolute"`
	IsSameHost bool   `parquet:"is_same_host"`
}

// Line is a row of `lines`: a line worth a remark.
type Line struct {
	Seq        int64   `parquet:"seq"`
	Host       string  `parquet:"host,dict"`
	Origin     string  `parquet:"origin,dict"`
	Line       int32   `parquet:"line"`
	GroupIndex *int32  `parquet:"group_index"`
	Field      *string `parquet:"field,dict"`
	Value      string  `parquet:"value,dict"`
	Class      string  `parquet:"class,dict"`
}

// Signal is a row of `signals`: one key and value of a typed extension.
type Signal struct {
	Seq        int64   `parquet:"seq"`
	Host       string  `parquet:"host,dict"`
	Origin     string  `parquet:"origin,dict"`
	Line       int32   `parquet:"line"`
	GroupIndex *int32  `parquet:"group_index"`
	Field      string  `parquet:"field,dict"`
	Path       *string `parquet:"path,dict"`
	Key        *string `parquet:"key,dict"`
	Value      string  `parquet:"value,dict"`
}

// Policy is a row of `policies`: one target, agent and profile.
type Policy struct {
	Seq        int64    `parquet:"seq"`
	Host       string   `parquet:"host,dict"`
	Rank       *int64   `parquet:"rank"`
	Origin     string   `parquet:"origin,dict"`
	Agent      string   `parquet:"agent,dict"`
	Category   string   `parquet:"category,dict"`
	Profile    string   `parquet:"profile,dict"`
	Outcome    string   `parquet:"outcome,dict"`
	GroupAgent *string  `parquet:"group_agent,dict"`
	GroupLine  *int32   `parquet:"group_line"`
	Match      *string  `parquet:"match,dict"`
	IsExplicit bool     `parquet:"is_explicit"`
	Class      string   `parquet:"class,dict"`
	CrawlDelay *float64 `parquet:"crawl_delay"`
}

// Verdict is a row of `verdicts`: one target, agent, URL and profile.
type Verdict struct {
	Seq         int64   `parquet:"seq"`
	Host        string  `parquet:"host,dict"`
	Rank        *int64  `parquet:"rank"`
	Origin      string  `parquet:"origin,dict"`
	Agent       string  `parquet:"agent,dict"`
	Profile     string  `parquet:"profile,dict"`
	URL         string  `parquet:"url,dict"`
	Verdict     string  `parquet:"verdict,dict"`
	Reason      string  `parquet:"reason,dict"`
	GroupAgent  *string `parquet:"group_agent,dict"`
	RuleKind    *string `parquet:"rule_kind,dict"`
	RulePattern *string `parquet:"rule_pattern,dict"`
	RuleLine    *int32  `parquet:"rule_line"`
}

// Agent is a row of `agents`: an agent of the run's registry. The table has one
// part, which is segment 0's.
type Agent struct {
	Agent         string   `parquet:"agent,dict"`
	Category      string   `parquet:"category,dict"`
	Operator      *string  `parquet:"operator,dict"`
	Tokens        []string `parquet:"tokens,list" parquet-element:",dict"`
	FallsBackTo   []string `parquet:"falls_back_to,list" parquet-element:",dict"`
	UserAgent     *string  `parquet:"user_agent,dict"`
	IgnoresStar   bool     `parquet:"ignores_star"`
	UserTriggered bool     `parquet:"user_triggered"`
}

// Count is a row of `summary`: an additive counter. The sum over parts and
// runs of the rows with equal labels is the figure for the whole.
type Count struct {
	Metric   string  `parquet:"metric,dict"`
	Stratum  string  `parquet:"stratum,dict"`
	Agent    *string `parquet:"agent,dict"`
	Category *string `parquet:"category,dict"`
	Profile  *string `parquet:"profile,dict"`
	Key      *string `parquet:"key,dict"`
	Count    int64   `parquet:"count"`
}

// Example is a row of `examples`: a bounded few of what a counter of summary
// counts, or of what is largest and slowest, in each part.
type Example struct {
	Metric string `parquet:"metric,dict"`
	Key    string `parquet:"key,dict"`
	Host   string `parquet:"host,dict"`
	Rank   *int64 `parquet:"rank"`
	Line   *int32 `parquet:"line"`
	Text   string `parquet:"text,dict"`
}

// Body is a row of `bodies`: a distinct body of the run's part, byte for byte.
type Body struct {
	ContentDigest string `parquet:"content_digest,dict"`
	Body          []byte `parquet:"body"`
}

// Change is a row of `changes`: one difference between two runs of a host.
type Change struct {
	Host       string  `parquet:"host,dict"`
	Origin     string  `parquet:"origin,dict"`
	Rank       *int64  `parquet:"rank"`
	Kind       string  `parquet:"kind,dict"`
	Severity   string  `parquet:"severity,dict"`
	Agent      *string `parquet:"agent,dict"`
	Category   *string `parquet:"category,dict"`
	Profile    *string `parquet:"profile,dict"`
	URL        *string `parquet:"url,dict"`
	Before     *string `parquet:"before,dict"`
	After      *string `parquet:"after,dict"`
	LineBefore *int32  `parquet:"line_before"`
	LineAfter  *int32  `parquet:"line_after"`
}
