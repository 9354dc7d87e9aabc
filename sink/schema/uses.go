package schema

import "strings"

// Preference is a row of `preferences`: one label of one line about use, of robots.txt, of
// the front page, or of a document of consent.
type Preference struct {
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
	// For whom: `*` if the group is for all, else the first token of the group, in lower case; of a policy
	// token, its name in the registry; of a header, `*` or the name before the rule; of a meta element or a document,
	// `*` or the agent's name. Null for the whole file and for an orphan. Example: `gptbot`.
	GroupAgent *string `parquet:"group_agent,dict"`
	// Where the line stands: `group`; `file` (a licence before any group); `trailing` (a licence after the
	// last rule of the last group: in that group by position, for the whole file by RSL's guide); `orphan`
	// (before any group, so it applies to nobody); `page` (the front page, `--front-page` and `--documents`);
	// `document` (`--documents`).
	Scope string `parquet:"scope,dict"`
	// `content-usage`, `content-signal`, `license`, `token` (a disallow rule in the group of a policy
	// token); and elsewhere than in robots.txt `header` and `meta` (of the front page), `tdmrep` (a rule of
	// tdmrep.json), `rsl` (a licence in XML), `ai.txt-spawning` and `ai.txt-car` (ai.txt in robots.txt's grammar, and by
	// draft-car-ai-txt-wellknown), `trust.txt`.
	Mechanism string `parquet:"mechanism,dict"`
	// Document that says so, as in `documents`: `page` of a meta element, or its name there. Null for robots.txt and, with
	// `--front-page`, for a header. Example: `tdmrep`.
	Document *string `parquet:"document,dict"`
	// Header that says so: `content-usage`, `x-robots-tag`, `tdm-reservation`, `tdm-policy`, `content-signal`,
	// `robots-tag`; of a meta element `robots` (or an agent's name), `tdm-reservation`, `tdm-policy`. Null elsewhere.
	Header *string `parquet:"header,dict"`
	// Label as written; of a content signal and of X-Robots-Tag in lower case, of a policy token its name; of a
	// licence in XML the use that it calls so, of other documents their own name for it. Empty
	// for a line of License and for a line without labels. Example: `train-ai`.
	Label string `parquet:"label,dict"`
	// Use that the label stands for: `ai-train`, `ai-input`, `search`. Null if it stands for none.
	Use *string `parquet:"use,dict"`
	// `allow`, `disallow`, or `priced` (of a licence in XML: for money, or with a token to be got first). Null if the
	// value says none of them.
	Preference *string `parquet:"preference,dict"`
	// Path that the line is about, as written; of a header or meta element, the page that it came with, and no other.
	// Null if it is about all paths. Example: `/forum/`.
	Path *string `parquet:"path,dict"`
	// Ceiling that the label `use` of a content signal sets: `immediate`, `reference`, `full`. Null for
	// other labels.
	Level *string `parquet:"level,dict"`
	// Value as written; of a line that states nothing, all of it, and of a rule of X-Robots-Tag without a value,
	// the rule. Example: `n`.
	Value string `parquet:"value,dict"`
	// Line of the file, from 1. Null for a header, a meta element, and what no line of a document says. Example: `12`.
	Line *int32 `parquet:"line"`
	// Another statement of the same mechanism for the same agent, use and path says the contrary.
	Conflict bool `parquet:"conflict"`
	// What is wrong with it: `not_parsed` (no dictionary of Structured Fields), `no_statement`,
	// `unknown_label`, `old_label` (of an earlier draft), `unknown_value`, `repeated` (an earlier item of
	// the line has the same label, and does not count), `not_url`, `unknown_token` (a token of purpose, `__usage_…`,
	// that the registry lacks), `too_long` (a header of more than 2 KiB, which is not read). Of
	// documents: `rule` (no rule), `value` (it says nothing), `order` (never reached: an
	// earlier rule matches, and says otherwise), `absolute` (a URL for a path), `path` (no
	// path), `closed_list` (refused since a list of what is permitted lacks it),
	// `self_contradiction` (what is permitted is prohibited), `payment_type` (of no version),
	// `token` (one must be got first), `other_origin`, `not_associated` (nobody names the
	// document, so it is about nothing), `default` (nobody says so but the document's
	// specification), `conditional` (some paths are allowed), `contradiction` (it says yes and
	// no). Null if nothing is.
	Remark *string `parquet:"remark,dict"`
}

// OfHeader returns a statement of a header as the header has it, such as noai,
// max-snippet: 20 or train-ai=n.
func (p *Preference) OfHeader() string {
	switch {
	case p.Label == "" || p.Header == nil:
	case *p.Header == "content-usage", *p.Header == "content-signal":
		return p.Label + "=" + p.Value
	case (*p.Header == "x-robots-tag" || *p.Header == "robots") && !strings.EqualFold(p.Label, p.Value):
		return p.Label + ": " + p.Value
	}
	return p.Value
}
