package schema

// Document is a row of `documents`: a document of consent that a host was asked for.
type Document struct {
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
	// Name of the document, as the list of documents gives it. A host that names several licences has a row
	// of `rsl` for each, up to 64. Example: `tdmrep`.
	Document string `parquet:"document,dict"`
	// URL that was asked for. Example: `https://news.example/.well-known/tdmrep.json`.
	URL string `parquet:"url"`
	// HTTP status of the last hop. Null if nothing was asked, or nothing answered. Example: `404`.
	Status *int32 `parquet:"status"`
	// `present`: a 200 that has the shape of its kind, and is not what the host gives at a path of the same folder
	// and extension that cannot exist; `soft_404`: it is; `invalid`: a 200 of another shape; `absent`: 404, 410,
	// an answer without a document, or a redirect that may not be followed; `refused`: another 4xx, or a wall;
	// `unreachable`: a 5xx, or no answer; `not_asked`: the robots.txt of its origin disallows it to the census, or
	// does not say, the host wants to be left alone, or it names, or redirects lead to, more licences than the census
	// asks for: four in its registered domain, and two elsewhere; `uncaptured`: the archives that another program wrote
	// hold no answer. A URL that is named twice is asked for once, and has a row for each document that it is.
	Outcome string `parquet:"outcome,dict"`
	// Media type as sent. Null without one. Example: `application/json`.
	ContentType *string `parquet:"content_type,dict"`
	// Bytes of the decoded body as kept. Null without a body.
	Bytes *int64 `parquet:"bytes"`
	// SHA-1 of the decoded body as kept, in bare base32. Null without one.
	ContentDigest *string `parquet:"content_digest,dict"`
	// URL of the last hop, if redirects led to it. Null otherwise.
	FinalURL *string `parquet:"final_url"`
	// Price that the answer names, as written, a 402 or another 4xx. Null without one. Example: `USD 0.01`.
	Price *string `parquet:"price,dict"`
	// What is odd, between commas: of any outcome what is in its way (`elsewhere`, `redirect`, `disallowed`,
	// `unread`, `beyond` (one licence too many, or with `elsewhere` what a redirect leads to; with `more` the last
	// that has a row, and not the last), `spared` (the host, or another that has it, wants to be left alone for
	// longer than the census waits, or too many others ask that), `challenge`, an error class, `price`), of an
	// invalid one why, of others the grammar of an ai.txt and what `preferences.remark` has, `type` (not the usual
	// media type), `bom`, `truncated`, `limit`, `expired`, `no_control` (nothing to compare it with: nobody knows
	// whether it is a soft 404, as of all that is in archives of another program, which hold no path that cannot
	// exist). Null if nothing is. Example: `type,not_associated`.
	Remark *string `parquet:"remark,dict"`
}
