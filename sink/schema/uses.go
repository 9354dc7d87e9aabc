package schema

import "strings"

// Preference is a row of `preferences`: one label of one line about use, of robots.txt or of
// the front page's header.
type Preference struct {
	// Number of the target within the run; it joins the tables. The input alone determines it: of a host
	// list it is the ordinal of the target's first row, of an archive it counts archives and records.
	// Example: `17`.
	Seq int64 `parquet:"seq"`
	// Canonical host name: lower case, ASCII (IDNA). Example: `news.example`.
	Host string `parquet:"host,dict"`
	// Rank of the host as the input or `--ranks` gives it. Null if it gives none. Example: `464`.
	Rank *int64 `parquet:"rank"`
	// Scheme, host and port whose robots.txt is read; a default port is left out. Example:
	// `https://news.example`.
	Origin string `parquet:"origin,dict"`
	// For whom: `*` if the group is for all, else the first token of the group, in lower case; of a policy
	// token, its name in the registry; of a header, `*` or the name before the rule. Null for the whole file
	// and for an orphan. Example: `gptbot`.
	GroupAgent *string `parquet:"group_agent,dict"`
	// Where the line stands: `group`; `file` (a licence before any group); `trailing` (a licence after the
	// last rule of the last group: in that group by position, for the whole file by RSL's guide); `orphan`
	// (before any group, so it applies to nobody); `page` (the header of the front page, `--front-page`).
	Scope string `parquet:"scope,dict"`
	// `content-usage`, `content-signal`, `license`, `token` (a disallow rule in the group of a policy
	// token), `header` (of the front page, and not in robots.txt).
	Mechanism string `parquet:"mechanism,dict"`
	// Header that says so: `content-usage`, `x-robots-tag`, `tdm-reservation`, `tdm-policy`. Null for a line of
	// robots.txt.
	Header *string `parquet:"header,dict"`
	// Label as written; of a content signal and of X-Robots-Tag in lower case, of a policy token its name. Empty
	// for a licence and for a line without labels. Example: `train-ai`.
	Label string `parquet:"label,dict"`
	// Use that the label stands for: `ai-train`, `ai-input`, `search`. Null if it stands for none.
	Use *string `parquet:"use,dict"`
	// `allow` or `disallow`. Null if the value says neither.
	Preference *string `parquet:"preference,dict"`
	// Path that the line is about, as written; of a header, the page that it came with, and no other. Null if it is
	// about all paths. Example: `/forum/`.
	Path *string `parquet:"path,dict"`
	// Ceiling that the label `use` of a content signal sets: `immediate`, `reference`, `full`. Null for
	// other labels.
	Level *string `parquet:"level,dict"`
	// Value as written; of a line that states nothing, all of it, and of a rule of X-Robots-Tag without a value,
	// the rule. Example: `n`.
	Value string `parquet:"value,dict"`
	// Line of the file, from 1. Null for a header. Example: `12`.
	Line *int32 `parquet:"line"`
	// Another statement of the same mechanism for the same agent, use and path says the contrary.
	Conflict bool `parquet:"conflict"`
	// What is wrong with it: `not_parsed` (no dictionary of Structured Fields), `no_statement`,
	// `unknown_label`, `old_label` (of an earlier draft), `unknown_value`, `repeated` (an earlier item of
	// the line has the same label, and does not count), `not_url`, `unknown_token` (a token of purpose, `__usage_…`,
	// that the registry lacks), `too_long` (a header of more than 2 KiB, which is not read). Null if nothing is.
	Remark *string `parquet:"remark,dict"`
}

// OfHeader returns a statement of a header as the header has it, such as noai,
// max-snippet: 20 or train-ai=n.
func (p *Preference) OfHeader() string {
	switch {
	case p.Label == "" || p.Header == nil:
	case *p.Header == "content-usage":
		return p.Label + "=" + p.Value
	case *p.Header == "x-robots-tag" && !strings.EqualFold(p.Label, p.Value):
		return p.Label + ": " + p.Value
	}
	return p.Value
}
