package schema

import "time"

// SitemapFile is a row of `sitemap_files`: a sitemap that a host was asked for.
type SitemapFile struct {
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
	// `https://news.example`.
	Origin string `parquet:"origin,dict"`
	// URL of the sitemap. Example: `https://news.example/sitemap.xml`.
	URL string `parquet:"url"`
	// URL of the index that lists it. Null for one that robots.txt names, or that nobody names.
	Parent *string `parquet:"parent,dict"`
	// Line of robots.txt that names it, as the first profile reads the file. Null if none does. Example: `12`.
	Line *int32 `parquet:"line"`
	// URL of the last answer, after redirects. Null if there is none.
	FinalURL *string `parquet:"final_url"`
	// Time of the request, in UTC. Null if there was none.
	FetchTime *time.Time `parquet:"fetch_time,timestamp(microsecond)"`
	// What the document is: `urlset`, `index`, `text`, `rss`, `atom`; `none` if it is no sitemap, or was not
	// read.
	Kind string `parquet:"kind,dict"`
	// HTTP status of the last hop. Null if it gave no answer. Example: `200`.
	Status *int32 `parquet:"status"`
	// Class of the failure, as in `fetches`. Null without one. Example: `timeout`.
	ErrorClass *string `parquet:"error_class,dict"`
	// What came of it: `ok`; `damaged` (no sitemap, or one that breaks the format: what came before counts);
	// `absent` (404, 410 or another 4xx); `refused` (401, 402, 403, 429, 451, or a wall); `unavailable` (a 5xx,
	// another status, or no answer); `disallowed` (robots.txt does not let this census fetch it, or where it
	// redirects to); `elsewhere` (it redirects to another domain); `uncaptured` (archives of another program hold
	// no capture of it, or of where it redirects to); `spared` (nobody was asked for it, or for what it redirects to,
	// because that origin wants to be left alone for longer than the census waits, or too many others ask it).
	Outcome string `parquet:"outcome,dict"`
	// Pages that it lists, as far as it was read: with URLs of http or https, each as often as it stands there.
	URLs int64 `parquet:"urls"`
	// Of them, those of the host's own origin: `coverage` samples them.
	URLsRead int64 `parquet:"urls_read"`
	// Of these, those that the host has listed nowhere before, neither here nor in a sitemap that was
	// read earlier: their sum is `listed` of `coverage`. Exact up to 8,192 different pages of a host, beyond
	// that an estimate with a standard error below 0.02 of it.
	URLsNew int64 `parquet:"urls_new"`
	// Of the pages, those of other origins (another scheme, host or port), which count for nobody here.
	Outside int64 `parquet:"outside"`
	// Of the pages of the host, those that are not below the folder of the sitemap. They are sampled; whether
	// a line of robots.txt vouches for them is said nowhere. 0 for a sitemap on another host.
	BeyondFolder int64 `parquet:"beyond_folder"`
	// Sitemaps that it lists.
	Sitemaps int64 `parquet:"sitemaps"`
	// Of them, those that were asked for; see `parent`. What robots.txt closes was not.
	SitemapsRead int64 `parquet:"sitemaps_read"`
	// Bytes of the document, unpacked, as far as it was read.
	Bytes int64 `parquet:"bytes"`
	// SHA-1 of the unpacked document in bare base32. Null unless all of it was read.
	ContentDigest *string `parquet:"content_digest"`
	// The latest date of a page or sitemap that it lists. Null if none has one.
	LastModNewest *time.Time `parquet:"lastmod_newest,timestamp(microsecond)"`
	// What is odd about it, in short names, with spaces between. Of damage: `empty`, `html`, `other` (XML or text of
	// another kind), `cut`, `tags`, `ampersand`, `entity`, `limit` (longer than the limit of bytes). Else:
	// `outside`, `beyond_folder`, `index-in-index`, `too_many` (over 50,000), `too_large` (over 50 MB), `lastmod` (a date
	// of another form), `depth` (what it lists is too deep), `relative`, `scheme`, `space`, `long`, `case`, `mixed`,
	// `trailing`. Null if nothing is.
	Remark *string `parquet:"remark,dict"`
}

// Coverage is a row of `coverage`: how much of what a host lists an agent may fetch.
type Coverage struct {
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
	// `https://news.example`.
	Origin string `parquet:"origin,dict"`
	// Name of the agent in the registry. Example: `GPTBot`.
	Agent string `parquet:"agent,dict"`
	// Its category. Example: `ai-training`.
	Category string `parquet:"category,dict"`
	// Profile whose reading decides. Example: `google`.
	Profile string `parquet:"profile,dict"`
	// The profile that judged: it differs from `profile` only where that is `own`.
	JudgedBy string `parquet:"judged_by,dict"`
	// Class of the agent's policy, as in `policies`.
	Class string `parquet:"class,dict"`
	// Different pages of the host that its sitemaps list, as far as they were read: the sum of
	// `urls_new`. It is `sampled` where all of them were judged.
	Listed int64 `parquet:"listed"`
	// Different pages that were judged: those of the least hash, at most `--sitemap-sample`.
	Sampled int32 `parquet:"sampled"`
	// Of them, those that the agent may fetch.
	Allowed int32 `parquet:"allowed"`
	// Those that it may not.
	Disallowed int32 `parquet:"disallowed"`
	// Those of which the profile leaves it open.
	Undefined int32 `parquet:"undefined"`
	// Line of the rule that closes most of them; of several, the first. Null if no rule closes any.
	RuleLine *int32 `parquet:"rule_line"`
	// Path of that rule, as written. Null without one.
	RulePattern *string `parquet:"rule_pattern,dict"`
	// A page that is listed and closed, by that rule if there is one: the one of the least hash. Null if
	// none is.
	Example *string `parquet:"example,dict"`
}

// ListedURL is a row of `urls`: a page of the sample of what a host lists.
type ListedURL struct {
	// Number of the target within the run; it joins the tables. The input alone determines it: of a host
	// list it is the ordinal of the target's first row, of an archive it counts archives and records.
	// Example: `17`.
	Seq int64 `parquet:"seq"`
	// Canonical host name: lower case, ASCII (IDNA). Example: `news.example`.
	Host string `parquet:"host,dict"`
	// Scheme, host and port whose robots.txt is read; a default port is left out. Example:
	// `https://news.example`.
	Origin string `parquet:"origin,dict"`
	// URL of the page: as the sitemap writes it, with the origin in its usual form and without a fragment.
	URL string `parquet:"url"`
	// URL of the sitemap that lists it; of several, the first that was read.
	Sitemap string `parquet:"sitemap,dict"`
	// Its date there, as written. Null without one. Example: `2026-05-06`.
	LastMod *string `parquet:"lastmod"`
}
