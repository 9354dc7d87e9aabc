package schema

// Row types of the tables about agents.

// Policy is a row of `policies`: one target, agent and profile.
type Policy struct {
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
	// Category of the agent in the registry. Example: `ai-training`.
	Category string `parquet:"category,dict"`
	// Profile under which the file is read. Example: `google`.
	Profile string `parquet:"profile,dict"`
	// Profile that judges. It differs from `profile` only where that is `own`: the one that the registry
	// gives the agent as `reads_as`, or `google`. Example: `crawler-commons`.
	JudgedBy string `parquet:"judged_by,dict"`
	// As in `fetches`, under this row's profile.
	Outcome string `parquet:"outcome,dict"`
	// Token whose group the agent follows, or `*`. Null if no group does. Example: `Googlebot`.
	GroupAgent *string `parquet:"group_agent,dict"`
	// Line where that group begins. Null if there is none. Example: `12`.
	GroupLine *int32 `parquet:"group_line" rowio:"maybe"`
	// How the agent came to that group: `own` (one of its own tokens), `fallback` (a token that it falls
	// back to), `star`, `none`. Null if no file decides.
	Match *string `parquet:"match,dict"`
	// `match` is `own`: the file names the agent.
	IsExplicit bool `parquet:"is_explicit"`
	// What the content means for the agent: `allow_all`, `disallow_all`, `partial`; `allow_all` for
	// `full_allow`; `unknown` for `full_disallow` and `undefined`, so that an outage is not a policy.
	Class string `parquet:"class,dict"`
	// How the agent's own group compares with the file's group for `*`, by its meaning on every path:
	// `equal`, `stricter` (it forbids all that the other does, and more), `looser`, `mixed`; `undecided`
	// if too many wildcards interact, or a program sorts queries. A file without a group for `*` allows
	// all. Null unless `match` is `own`.
	VersusStar *string `parquet:"versus_star,dict"`
	// Whether the rules mean the same for the agent under this row's profile as under the run's first, on
	// every path but `/robots.txt`: `equal`; `escapes_only` (they differ, but not on a
	// normalized URL, which has neither needless escapes nor dot segments: on `/%61dmin`, not
	// on `/admin`); `different`; `undecided`. Null for the first profile, and where the two do
	// not judge the same body by its rules.
	VersusFirst *string `parquet:"versus_first,dict"`
	// Whether the file means the same for the agent as the agent's own parser reads it (`reads_as`) and as
	// google does, whatever the profile of the row, on every path but `/robots.txt`: `equal`;
	// `escapes_only` (as above); `undecided`; `different`; of the different ones `let_in` (shut out as
	// google reads it, and not by its parser) and `kept_out` (the other way round). `lines` says why. Null
	// where no group names the agent, and for agents without a parser of their own.
	Parity *string `parquet:"parity,dict"`
	// Template whose words its groups are, if all have the same one. Null beside a `group_line` means the
	// file's own words, or that nobody knows; null without one, that no group decides. Example:
	// `cloudflare-managed`.
	Template *string `parquet:"template,dict"`
	// Crawl-delay for the agent, in seconds: of its groups, that for the agents listed since the rule or
	// crawl-delay before; which of several counts, the profile says (`delay_scope`). Null if there is none,
	// also where other agents of its group have one. Example: `10`.
	CrawlDelay *float64 `parquet:"crawl_delay"`
	// What the file says to the agent about training AI: `allow`, `disallow`, `partial` (it depends on the
	// path; paths that it may not fetch do not count). Null if nothing is stated, and if it is shut out.
	AITrain *string `parquet:"ai_train,dict"`
	// The same about input of AI, to ground its answers. Null as for `ai_train`.
	AIInput *string `parquet:"ai_input,dict"`
	// The same about search. Null as for `ai_train`.
	Search *string `parquet:"search,dict"`
}

// Verdict is a row of `verdicts`: one target, agent, URL and profile.
type Verdict struct {
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
	// Profile under which the file is read. Example: `google`.
	Profile string `parquet:"profile,dict"`
	// Profile that judges. It differs from `profile` only where that is `own`: the one that the registry
	// gives the agent as `reads_as`, or `google`. Example: `crawler-commons`.
	JudgedBy string `parquet:"judged_by,dict"`
	// Path of `--urls`, or absolute URL of the origin's own samples. Example: `/2025/03/a-story.html`.
	URL string `parquet:"url,dict"`
	// `allow`, `disallow`, or `undefined` if the profile leaves a choice open on which it depends, or a wall
	// kept the host from being read.
	Verdict string `parquet:"verdict,dict"`
	// Why: `rule`, `empty_rule`, `no_rule` (its group has none that matches), `no_group`, `robots_txt`
	// (robots.txt itself), `full_allow`, `full_disallow`, `undefined`, `challenge` (a wall answered in place
	// of the file).
	Reason string `parquet:"reason,dict"`
	// As in `policies`.
	GroupAgent *string `parquet:"group_agent,dict"`
	// `allow` or `disallow` of the rule that decided. Null if no rule did.
	RuleKind *string `parquet:"rule_kind,dict"`
	// Its pattern, as written. Null if no rule decided. Example: `/private/*`.
	RulePattern *string `parquet:"rule_pattern,dict"`
	// Its line. Null if no rule decided. Example: `14`.
	RuleLine *int32 `parquet:"rule_line"`
}

// Agent is a row of `agents`: an agent of the run's registry. The table has one
// part, which is segment 0's. An entry of a registry in YAML has the same fields.
type Agent struct {
	// Name of the agent in the registry. Example: `GPTBot`.
	Name string `parquet:"agent,dict" yaml:"name"`
	// Category of the agent in the registry. Example: `ai-training`.
	Category string `parquet:"category,dict" yaml:"category"`
	// Who runs it. Null if the registry does not say. Example: `OpenAI`.
	Operator *string `parquet:"operator,dict" yaml:"operator"`
	// Product tokens that are its own, in order of preference. Example: `[GPTBot]`.
	Tokens []string `parquet:"tokens,list" parquet-element:",dict" yaml:"tokens"`
	// Tokens of other crawlers whose group it follows if none names it. Example: `[Googlebot]`.
	FallsBackTo []string `parquet:"falls_back_to,list" parquet-element:",dict" yaml:"falls_back_to"`
	// User agent that it sends. Null if the registry does not say.
	UserAgent *string `parquet:"user_agent,dict" yaml:"user_agent"`
	// It does not follow a group for `*` (profile `google`): true for AdsBot-Google.
	IgnoresStar bool `parquet:"ignores_star" yaml:"ignores_star"`
	// A user's request triggers it.
	UserTriggered bool `parquet:"user_triggered" yaml:"user_triggered"`
	// `crawler`, or `token`: it crawls nothing, and its group says what the agents that name it may do.
	Kind string `parquet:"kind,dict" yaml:"kind"`
	// What it is for, of `ai-train`, `ai-input`, `search`; of a policy token, what its group refuses.
	Uses []string `parquet:"uses,list" parquet-element:",dict" yaml:"uses"`
	// Policy tokens that bind it. Example: `[Google-Extended]`.
	PolicyTokens []string `parquet:"policy_tokens,list" parquet-element:",dict" yaml:"policy_tokens"`
	// Uses whose agents a policy token binds, whoever names it. Empty for a crawler, and for a token that binds
	// only agents that name it. Example: `[ai-train]`.
	Binds []string `parquet:"binds,list" parquet-element:",dict" yaml:"-"`
	// Profile of the parser that the crawler is documented to use; profile `own` judges by it. Null if the
	// registry names none. Example: `crawler-commons`.
	ReadsAs *string `parquet:"reads_as,dict" yaml:"reads_as"`
	// Page that names it: the operator's or the software's manual; a directory of crawlers where no such page
	// is known. Null if the registry does not say. Example: `https://platform.openai.com/docs/bots`.
	Source *string `parquet:"source,dict" yaml:"source"`
	// Day when that page was last read. Null if the registry does not say. Example: `2026-11-28`.
	Checked *string `parquet:"checked,dict" yaml:"checked"`
	// Address of the list of addresses that the operator publishes for it. Null if the registry names none.
	// Example: `https://openai.com/gptbot.json`.
	IPs *string `parquet:"ips,dict" yaml:"ips"`
	// How the operator says that its requests can be told from those of others that use the name:
	// `reverse_dns`, `signature` (HTTP message signatures), `none`. Null if the registry does not say.
	Verifies *string `parquet:"verifies,dict" yaml:"verifies"`
}
