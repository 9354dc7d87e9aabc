package schema

// Template is a row of `templates`: a region, a file or a group that a template wrote.
type Template struct {
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
	// Which template. Example: `cloudflare-managed`.
	Template string `parquet:"template,dict"`
	// What kind of text it is: `cdn`, `cms`, `plugin`, `list`, `legal`.
	Kind string `parquet:"kind,dict"`
	// Version of its text. Null if it is not known. Example: `2026`.
	Version *string `parquet:"version,dict"`
	// First line, markers included; 1 if a line names the whole file.
	FirstLine int32 `parquet:"first_line"`
	// Last line, markers included; the last of the file if a line names the whole file.
	LastLine int32 `parquet:"last_line"`
	// Groups that begin in these lines.
	Groups int32 `parquet:"groups"`
	// Allow and disallow lines in these lines.
	Rules int32 `parquet:"rules"`
}
