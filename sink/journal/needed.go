package journal

import (
	"fmt"
	"slices"
	"strings"
)

// What it takes to judge the answers of a run again. A run may have been published
// without some of its columns.

// needed are the columns without which a run cannot be re-evaluated: what is not there
// would be taken for a fact. The others are made anew from these, or are shown and
// counted and decide nothing.
var needed = []string{
	"fetches.seq", "fetches.host", "fetches.rank", "fetches.scheme", "fetches.port", "fetches.source",
	"fetches.fetch_time", "fetches.reason", "fetches.status", "fetches.hops", "fetches.error_class",
	"fetches.fallback_error_class", "fetches.attempts", "fetches.body_bytes", "fetches.body_truncated",
	"fetches.content_digest", "bodies.content_digest", "bodies.body",
}

// laterNeeded are needed too, except of a run that is older than these columns.
var laterNeeded = []string{
	"fetches.answers_since", "fetches.copy_time", "fetches.copy_digest", "fetches.kept_truncated",
	"fetches.probe_front_status", "fetches.probe_random_status",
	"fetches.front_page", "fetches.front_hops", "fetches.front_error_class", "fetches.front_headers",
	"fetches.challenge",
}

// Later are the columns, as table.column, that came after SchemaVersion last changed. The
// parts of an older program lack them, and readers take them for null.
var Later = append(slices.Clone(laterNeeded),
	"changes.before_run", "changes.use", "changes.template_before", "changes.template_after", "changes.template",
	"changes.identity", "changes.document", "fetches.cdn", "fetches.vantage", "preferences.header",
	"preferences.document", "answers.path", "answers.text_digest", "answers.paper", "answers.verdict", "answers.remark",
	"answers.price", "answers.price_header",
	"agents.binds", "agents.checked", "agents.ips", "agents.verifies")

// madeAnew are the columns of fetches that are made of the needed ones.
var madeAnew = []string{
	"fetches.origin", "fetches.registered_domain", "fetches.tld", "fetches.robots_url", "fetches.outcome",
	"fetches.final_url", "fetches.has_bom", "fetches.is_utf8", "fetches.is_html", "fetches.only_comments",
	"fetches.stale_since", "fetches.unreachable_since", "fetches.lines", "fetches.groups", "fetches.rules",
	"fetches.sitemaps", "fetches.invalid_lines",
}

// Needed returns the columns, as table.column, without which a run cannot be
// re-evaluated, of those that it was published without. With tables, it returns those of
// them alone.
func Needed(without []string, tables ...string) (lost []string) {
	for _, name := range without {
		table, _, _ := strings.Cut(name, ".")
		if (slices.Contains(needed, name) || slices.Contains(laterNeeded, name)) &&
			(len(tables) == 0 || slices.Contains(tables, table)) {
			lost = append(lost, name)
		}
	}
	return lost
}

// NeededByType returns the columns, as table.column, of those that a run was published without, that
// a profile needs which reads a body by its type. Without the second, a header that is not there is
// one that is not known.
func NeededByType(without []string) (lost []string) {
	for _, name := range []string{"fetches.content_type", "fetches.http_version"} {
		if slices.Contains(without, name) {
			lost = append(lost, name)
		}
	}
	return lost
}

// Lacking returns the error of a run that cannot be re-evaluated without columns, nil if
// there are none.
func Lacking(columns []string) error {
	if len(columns) == 0 {
		return nil
	}
	return fmt.Errorf("cannot be re-evaluated without %s", strings.Join(columns, ", "))
}

// NeededBut returns the columns of a table, as table.column, that every part needs for
// re-evaluating, without those that has reports.
func NeededBut(table string, has func(column string) bool) (lost []string) {
	for _, name := range needed {
		if of, column, _ := strings.Cut(name, "."); of == table && !has(column) {
			lost = append(lost, name)
		}
	}
	return lost
}

// Shown returns the columns of fetches, as table.column, of those that a run was
// published without, that cannot be made anew, and that re-evaluating does not need.
func Shown(without []string) (lost []string) {
	for _, name := range without {
		if strings.HasPrefix(name, "fetches.") && len(Needed([]string{name})) == 0 && !slices.Contains(madeAnew, name) {
			lost = append(lost, name)
		}
	}
	return lost
}

// answersNeeded are the columns of answers without which the answers to identities cannot
// be re-evaluated.
var answersNeeded = []string{
	"answers.seq", "answers.identity", "answers.is_control", "answers.user_agent", "answers.agent", "answers.fetch_time",
	"answers.hops",
	"answers.error_class", "answers.body_bytes", "answers.body_truncated", "answers.content_digest", "answers.challenge",
	"answers.path", "answers.treatment", "answers.remark", // of pages, whose answers are taken as they are
}

// HasAnswers reports whether the answers to identities of a run can be re-evaluated.
func (m *Manifest) HasAnswers() bool {
	return slices.Contains(m.Tables, "answers") &&
		!slices.ContainsFunc(answersNeeded, func(column string) bool { return slices.Contains(m.Without, column) })
}

// LacksAnswers reports whether identities may have had answers that cannot be re-evaluated.
func (m *Manifest) LacksAnswers() bool { return !m.HasAnswers() && m.mayHave("answers", "also-as") }

// LacksDocuments reports whether hosts may have been asked for documents of consent: no run keeps
// their bodies.
func (m *Manifest) LacksDocuments() bool { return m.mayHave("documents", "documents") }

// LacksURLs reports whether hosts may list pages that cannot be judged again.
func (m *Manifest) LacksURLs() bool { return !m.HasURLs() && m.mayHave("sitemap_files", "sitemaps") }

// mayHave reports whether a table of the run has rows, or had some before it was left out: a
// setting asked for them, or the stored answers may have them.
func (m *Manifest) mayHave(table, setting string) bool {
	if slices.Contains(m.Tables, table) {
		return m.RowsOf(table) > 0
	}
	asked, _ := m.Configuration[setting].(string)
	list, _ := m.Configuration[setting].([]any)
	source := StoredIn(m.Inputs)
	return asked != "" || len(list) > 0 || source != nil && (source.HasCaptures || source.Value == "")
}

// HasLabels reports whether the run says which hosts have its labels.
func (m *Manifest) HasLabels() bool {
	return slices.Contains(m.Tables, "labels") &&
		!slices.ContainsFunc([]string{"labels.host", "labels.label", "labels.value"},
			func(column string) bool { return slices.Contains(m.Without, column) })
}

// HasURLs reports whether the pages that the hosts of a run list can be judged again.
func (m *Manifest) HasURLs() bool {
	return slices.Contains(m.Tables, "sitemap_files") && slices.Contains(m.Tables, "urls") &&
		!slices.ContainsFunc(m.Without, func(column string) bool {
			return strings.HasPrefix(column, "sitemap_files.") || strings.HasPrefix(column, "urls.")
		})
}

// NamesURLs reports whether the verdicts of a run say which URLs its hosts have.
func (m *Manifest) NamesURLs() bool {
	return slices.Contains(m.Tables, "verdicts") && !slices.Contains(m.Without, "verdicts.url")
}
