package schema

import "time"

// Row types of counters, comparisons and series.

// Count is a row of `summary`: an additive counter. Rows with equal labels add up,
// over parts and runs.
type Count struct {
	// What is counted (below). Example: `policy`.
	Metric string `parquet:"metric,dict"`
	// Band of rank: `1-1000`, `1001-10000`, …, `unranked`. Bands are exclusive and add up.
	Stratum string `parquet:"stratum,dict"`
	// Agent that the counter is about. Null if it is about none.
	Agent *string `parquet:"agent,dict"`
	// Its category. Null without an agent or category.
	Category *string `parquet:"category,dict"`
	// Profile whose reading is counted. Null if none matters, or for the first profile's reading.
	Profile *string `parquet:"profile,dict"`
	// Value that is counted. Null if the metric has no key. Example: `disallow_all`.
	Key *string `parquet:"key,dict"`
	// Hosts, lines or verdicts, as the metric says. Example: `18`.
	Count int64 `parquet:"count"`
}

// The labels that need no list: they follow from the answer.
const (
	LabelTLD = "tld"
	LabelCDN = "cdn"
)

// IsOwnLabel reports whether a name is that of a label that needs no list.
func IsOwnLabel(name string) bool { return name == LabelTLD || name == LabelCDN }

// Label is a row of `labels`: what is known of a target beside its answer.
type Label struct {
	// Number of the target; joins the tables. Example: `17`.
	Seq int64 `parquet:"seq"`
	// Canonical host name: lower case, ASCII (IDNA). Example: `news.example`.
	Host string `parquet:"host,dict"`
	// Scheme, host and port whose robots.txt is read; a default port is left out. Example:
	// `https://news.example`.
	Origin string `parquet:"origin,dict"`
	// Name of the column, or `tld` or `cdn`. Example: `sector`.
	Label string `parquet:"label,dict"`
	// Value as the list gives it. Example: `news`.
	Value string `parquet:"value,dict"`
}

// LabelCount is a row of `label_counts`: an additive counter of the hosts with a value of a
// label. A host counts once for each of its labels, so counters add up within a label.
type LabelCount struct {
	// As in `summary`. Example: `policy`.
	Metric string `parquet:"metric,dict"`
	// Label whose values are counted. Example: `sector`.
	Label string `parquet:"label,dict"`
	// Value of the label; `other` for all but the 1,000 most frequent, and for top-level
	// domains that are neither in the public suffix list nor reserved, such as `nosuchtld`:
	// anybody may write names of domains that do not exist. Example: `news`.
	Value string `parquet:"value,dict"`
	// As in `summary`. Null if it is about no agent. Example: `GPTBot`.
	Agent *string `parquet:"agent,dict"`
	// As in `summary`. Null without an agent or category.
	Category *string `parquet:"category,dict"`
	// As in `summary`. Null if none matters, or for the first profile's reading.
	Profile *string `parquet:"profile,dict"`
	// As in `summary`. Null if the metric has no key. Example: `disallow_all`.
	Key *string `parquet:"key,dict"`
	// Hosts, lines or verdicts, as the metric says. Example: `18`.
	Count int64 `parquet:"count"`
}

// Example is a row of `examples`: one of a bounded few hosts that a counter of summary
// counts, or one of the largest and slowest.
type Example struct {
	// As in `summary`. Example: `line_class`.
	Metric string `parquet:"metric,dict"`
	// As in `summary`. Example: `typo`.
	Key string `parquet:"key,dict"`
	// Canonical host name: lower case, ASCII (IDNA). Example: `news.example`.
	Host string `parquet:"host,dict"`
	// Rank of the host as the input or `--ranks` gives it: `www.example.com` has that of `example.com`,
	// and the reverse, where `--ranks` has only the other. Null if it gives none. Example: `464`.
	Rank *int64 `parquet:"rank"`
	// Line of the file. Null if it is about no line. Example: `12`.
	Line *int32 `parquet:"line"`
	// Text of the line or value, cut at 200 bytes. Example: `Disalow: /`.
	Text string `parquet:"text,dict"`
}

// Change is a row of `changes`: one difference between two runs of a host.
type Change struct {
	// Canonical host name: lower case, ASCII (IDNA). Example: `news.example`.
	Host string `parquet:"host,dict" json:"host"`
	// Scheme, host and port whose robots.txt is read; a default port is left out. Example:
	// `https://news.example`.
	Origin string `parquet:"origin,dict" json:"origin"`
	// Rank in the later run. Null if it has none. Example: `464`.
	Rank *int64 `parquet:"rank" json:"rank"`
	// What changed: `policy_class`, `verdict`, `rules` (a policy means something else, on any path),
	// `preference` (what the file, or a document of `--documents`, states about a use), `outcome`, `group`,
	// `signal`, `sitemap`, `crawl_delay`, `redirect`, `answer` (what the host answers to an identity of `--also-as`),
	// `page` (what the identity meets on a page, `--pages`), `document` (whether the host has a document of consent),
	// `coverage` (how much of what it lists in sitemaps an agent may fetch), `reachability`, `host_new`, `host_gone`,
	// `text` (nothing but the text).
	Kind string `parquet:"kind,dict" json:"kind"`
	// `critical`, `major`, `minor`, `cosmetic`. For `text`, cosmetic means proven: no verdict
	// differs, on any path, for any agent; minor means undecided. For `document`, cosmetic means another text.
	Severity string `parquet:"severity,dict" json:"severity"`
	// Agent, or token of a group. Null if the change is about none. Example: `GPTBot`.
	Agent *string `parquet:"agent,dict" json:"agent"`
	// Category of the agent. Null without an agent.
	Category *string `parquet:"category,dict" json:"category"`
	// Profile under which it changed. Null if none matters.
	Profile *string `parquet:"profile,dict" json:"profile"`
	// URL whose verdict flipped; of `rules`, the shortest path on which the policies differ; of
	// `sitemap`, its URL. Null for other kinds.
	URL *string `parquet:"url,dict" json:"url"`
	// Value before, in the run `before_run`. Null if there was none. Of `preference`: `allow`, `disallow`,
	// `partial`, of documents also `priced`, or null if nothing was stated. Of `answer`: `alike` (a file that means
	// the same to the identity's agent as the host's own answer, or that there is none), `stricter`, `looser`,
	// `mixed` and `undecided` (another file, by its meaning), or the `treatment` of `answers`: `other`,
	// `challenged`, `rate_limited`, `payment`, `refused`, `failing`, `unreached`. Of `page`, its `treatment` of a
	// page. Of `document`: `present`, `absent` (also where a page stands for everything), `invalid`, `refused`. Of
	// `coverage`, pages of the sample that the agent may fetch, such as `196/200`. Example: `partial`.
	Before *string `parquet:"before,dict" json:"before"`
	// Value in the later run. Null if there is none. Of `rules`, what the change does: `closes`, `opens`,
	// `both` (line and URL show what it closes), or `undecided`; so of `preference` where it depended on the
	// path and still does, by other lines, and of `answer` where the file is another one and its relation to
	// the host's own is the same. Of `document` `other_text`, where it is there as before. Example: `disallow_all`.
	After *string `parquet:"after,dict" json:"after"`
	// Line that decided before; of `coverage`, of the rule that closes most. Null if none did, and of `policy_class`.
	LineBefore *int32 `parquet:"line_before" json:"line_before"`
	// Line that decides now, likewise. Null if none does.
	LineAfter *int32 `parquet:"line_after" json:"line_after"`
	// ID of the run that the state before is from: the first of the two or, for a host that it
	// could not read, the latest run before it that did. Null for `host_new`, and where
	// an older program compared. Example: `20261113T101500Z`.
	BeforeRun *string `parquet:"before_run,dict" json:"before_run"`
	// Use that a `preference` is about: `ai-train`, `ai-input`, `search`. Null for other kinds.
	Use *string `parquet:"use,dict" json:"use"`
	// Of `policy_class`, `rules` and `preference`, for an agent of the registry: the template whose words
	// decided before, as `template` of `policies` has it. Null if they were the file's own, or nothing decided.
	// Example: `cloudflare-managed`.
	TemplateBefore *string `parquet:"template_before,dict" json:"template_before"`
	// The same of what decides now. Null likewise.
	TemplateAfter *string `parquet:"template_after,dict" json:"template_after"`
	// Template whose words the change is: of the groups that decide now (of `preference`, the lines that state it)
	// and did not stand in the file before or, if all did, of those that decided before and are gone. Null if some are
	// the file's own words or they are of several templates, where the whole file is gone, and
	// for other kinds. Example: `cloudflare-managed`.
	Template *string `parquet:"template,dict" json:"template"`
	// Identity that an `answer` or a `page` is about, as `--also-as` names it; of the control there are no rows. Null
	// for other kinds. Example: `gptbot`.
	Identity *string `parquet:"identity,dict" json:"identity"`
	// Document of consent that a `document` is about, or that states a `preference`, as in `documents`. Null for other
	// kinds, and for what robots.txt states. Example: `tdmrep`.
	Document *string `parquet:"document,dict" rowio:"maybe" json:"document"`
}

// Point is a row of `series`: a figure of one run in a series over several. It belongs
// to no run; robocensus series writes it to a file.
type Point struct {
	// What is counted, as in `summary`: `policy`, `policy_explicit`, `policy_template`, `category`, `refusal`,
	// `preference`, `template`, `signal`, `field`, `feature`, `body`, `status`, `outcome`, `reason`,
	// `turned_away`, `challenge`, `answer`, `answer_let_in`, `front_page`, `page_preference`, `page_refusal`,
	// `document`, `document_preference`, `page_met`, `targets`, `coverage_closed` (by band alone); or `entered`,
	// `left` and `change` (below). Example: `policy`.
	Metric string `parquet:"metric,dict" json:"metric"`
	// `all` hosts of the run; with `--panel` also `panel`, those in all runs, and `others`, the
	// rest; not of walls, answers to identities, front pages and documents (`turned_away`, `challenge`,
	// `answer`, `answer_let_in`, `front_page`, `page_preference`, `page_refusal`, `page_met`, `document`,
	// `document_preference`) and sitemaps (`coverage_closed`).
	Population string `parquet:"population,dict" json:"population"`
	// Band of rank as in `summary`; `all` of them; `weighted`, all of them by `--weights`.
	Stratum string `parquet:"stratum,dict" json:"stratum"`
	// Agent that the figure is about. Null if it is about none.
	Agent *string `parquet:"agent,dict" json:"agent"`
	// Its category in this run. Null without an agent or category.
	Category *string `parquet:"category,dict" json:"category"`
	// Profile whose reading is counted. Null if none matters, or for the first profile's reading.
	Profile *string `parquet:"profile,dict" json:"profile"`
	// Value that is counted. Of `page_met`, hosts that turn an identity away where robots.txt says something to its
	// agent, as `gptbot open`; and beside it, as `gptbot open control`, those of them that turn the control away when
	// it asks again. Null if the metric has no key. Example: `disallow_all`.
	Key *string `parquet:"key,dict" json:"key"`
	// ID of the run. Example: `20261120T101500Z`.
	Run string `parquet:"run,dict" json:"run"`
	// Date of the run, in UTC. Example: `2026-11-20 10:15:02`.
	Date time.Time `parquet:"date,timestamp(microsecond)" json:"date"`
	// What the share is of: `hosts` of the run; `files`, the hosts whose rules decide; `texts`, the hosts that have
	// a file; `pages`, those whose front page was read; `lists`, those that list pages of their own in sitemaps;
	// `asked`, those that were to be asked for the document; `compared`, those that served the page to the control
	// and of which the identity asked for it; `both`, the hosts that this run and the one before it have; `before`,
	// those of the run before.
	Base string `parquet:"base,dict" json:"base"`
	// Hosts that are counted. Example: `18`.
	Count int64 `parquet:"count" json:"count"`
	// Hosts of the base. Example: `132`.
	Denominator int64 `parquet:"denominator" json:"denominator"`
	// Count by denominator; weighted, the estimate. Null if the denominator is 0. Example: `0.136`.
	Share *float64 `parquet:"share" json:"share"`
	// Lower end of the interval of 95 %. Null without a share, and for a figure that is not an estimate.
	Low *float64 `parquet:"low" json:"low"`
	// Upper end of the interval. Null like `low`.
	High *float64 `parquet:"high" json:"high"`
	// How the interval is computed: `wilson`, `stratified`, `clustered` (below). Null without an interval.
	Method *string `parquet:"method,dict" json:"method"`
	// Variance by that of a simple sample of as many hosts. Null for `wilson`, and if the share is 0 or 1.
	DesignEffect *float64 `parquet:"design_effect" json:"design_effect"`
	// Registered domains of the sample. Null unless the method is `clustered`.
	Clusters *int64 `parquet:"clusters" json:"clusters"`
	// Why the interval may be wrong, with commas between: `few_hosts`, `rare`, `few_clusters`,
	// `uneven_clusters` (below). Null if nothing speaks against it.
	Caution *string `parquet:"caution,dict" json:"caution"`
	// The share can be compared with that of the run before. Null for the first run.
	Comparable *bool `parquet:"comparable" json:"comparable"`
	// Why not, in words. Null if it can, and for the first run.
	WhyNot *string `parquet:"why_not,dict" json:"why_not"`
}
