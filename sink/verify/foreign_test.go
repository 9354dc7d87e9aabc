package verify

import (
	"reflect"
	"slices"
	"testing"

	"github.com/robocensus/robocensus/sink/schema"
)

// ours are the columns of text, beside the enumerated ones, that hold what the program, its
// registry or its user says, and not what a host wrote. Of verdicts.url the absolute URLs
// are published as hashes.
var ours = []string{
	"fetches.tld", "fetches.cdn", "fetches.http_version", "fetches.tls_version", "fetches.content_digest",
	"fetches.copy_digest", "fetches.answers_since", "fetches.vantage",
	"signals.field", "lines.parser", "policies.category", "policies.template", "groups.template", "groups.digest",
	"templates.template", "templates.version", "verdicts.url",
	"answers.identity", "answers.user_agent", "answers.category", "answers.content_digest",
	"sitemap_files.content_digest", "sitemap_files.remark", "coverage.category",
	"answers.path", "answers.text_digest", "answers.price_header",
	"documents.document", "documents.content_digest", "documents.remark", "preferences.document",
	"agents.category", "agents.operator", "agents.tokens", "agents.falls_back_to", "agents.user_agent", "agents.uses",
	"agents.policy_tokens", "agents.reads_as", "agents.source",
	"agents.binds", "agents.checked", "agents.ips", "agents.verifies",
	"summary.metric", "summary.stratum", "summary.category", "summary.key", "examples.metric", "examples.key",
}

// With hashes for hosts, every text that a host wrote is left out: a column of text is
// hashed, foreign, or named here.
func TestEveryTextIsForeignOrOurs(t *testing.T) {
	for _, table := range schema.TableNames {
		info := schema.Describe(table)
		if info.AllForeign {
			continue
		}
		for i := range info.Row().NumField() {
			field := info.Row().Field(i)
			column := schema.ColumnOf(field)
			if !hasText(field.Type) || slices.Contains([]string{"host", "registered_domain", "agent", "profile", "judged_by"},
				column) || slices.Contains(info.Foreign, column) || slices.Contains(ours, table+"."+column) ||
				values[table][column] != nil {
				continue
			}
			t.Errorf("%s.%s is text: if a host may have written it, it is Foreign (tables.go of package schema), and "+
				"otherwise one of ours, here", table, column)
		}
	}
}

func hasText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return t.Elem().Kind() == reflect.Uint8 || hasText(t.Elem())
	case reflect.Struct:
		return slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
			return f.IsExported() && hasText(f.Type)
		})
	}
	return t.Kind() == reflect.String
}
