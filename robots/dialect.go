package robots

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/dialect"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// The parsers that crawlers run read otherwise than any document says. A profile that
// has one of the fields of package dialect is a dialect: groups.go makes of its files the
// same groups, rules and verdicts as of any other's. The zero value of each field is what
// the documents have in common, so profiles that older programs recorded mean what they
// did.

// isDialect reports whether the profile has a field of a dialect about files or URLs.
//
// Each has an agent_value, which is quick to ask for.
func (p *Profile) isDialect() bool { return p.AgentValue != "" }

// dialectField returns the yaml name of the first field of a dialect that is set, if any is.
func (p *Profile) dialectField() string {
	for _, fields := range []any{p.Lines.Lines, p.Groups.Groups, p.Matching.Matching} {
		v := reflect.ValueOf(fields)
		for i := range v.NumField() {
			f := v.Field(i)
			if !f.IsZero() && !(f.Kind() == reflect.Slice && f.Len() == 0) { // an empty list is none
				name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
				return name
			}
		}
	}
	return ""
}

// transforms reports whether the dialect compares another form of a path than that which
// the URL has.
func (p *Profile) transforms() bool {
	return dialect.RewriterOf(&p.Matching.Matching) != (rewrite.Rewriter{})
}

// dots says how the dialect resolves dot segments before it compares a path, if it does.
func (p *Profile) dots() rewrite.Compared {
	if p.Compared == rewrite.ComparedPath {
		return ""
	}
	return p.Compared
}

// checkDialect returns an error for the first field of a dialect with another value
// than those above, by its yaml name.
func (p *Profile) checkDialect() error {
	for _, f := range []struct {
		name   string
		value  string
		values []string
	}{
		{"bom", string(p.BOM), []string{"keep", "lines", "utf16"}},
		{"line_ends", string(p.LineEnds), []string{"lf", "unicode", "python", "lf_nul"}},
		{"invalid_bytes", string(p.InvalidBytes), []string{"drop", "replace", "refuse", "refuse_nul"}},
		{"comments", string(p.Comments), []string{"after_space"}},
		{"strip_tags", string(p.StripTags), []string{"always", "html"}},
		{"white_space", string(p.WhiteSpace), []string{"ascii", "control", "python", "ecmascript"}},
		{"colon", string(p.Colon), []string{"tight", "exact", "or_space", "or_space_lower", "or_words"}},
		{"list_ends", string(p.ListEnds), []string{"delay", "delay_rate", "any", "any_colon", "agent"}},
		{"exists", string(p.Exists), []string{"delay", "delay_rate"}},
		{"agent_value", string(p.AgentValue), []string{"whole", "before_slash", "whole_or_token", "whole_and_unstarred"}},
		{"agent_is", string(p.AgentIs), []string{"first_part", "longest_part", "longest_word", "equal_or_part",
			"longest_prefix", "beginning"}},
		{"order", string(p.Order), []string{"first", "longest_first", "longest_introsort"}},
		{"length", string(p.Length), []string{"match_end", "expression"}},
		{"index", string(p.Index), []string{"allow", "allow_only", "both"}},
		{"stars", string(p.Stars), []string{"first_place", "unanchored"}},
		{"dollar", string(p.Dollar), []string{"letter_too", "anywhere", "cuts", "voids"}},
		{"compared", string(p.Compared), []string{"path", "dots", "whatwg"}},
		{"requote", string(p.Requote), []string{"path", "through", "query", "unreserved", "unfit", "valid", "plain",
			"harmless", "whole"}},
		{"unauthorized", string(p.Unauthorized), []string{"full_disallow"}},
		{"refused", string(p.Refused), []string{"full_allow", "full_disallow"}},
	} {
		var value string
		if f.value == "" {
			continue
		}
		if err := oneOf(&value, []byte(f.value), f.values...); err != nil {
			return fmt.Errorf("profile %s: %s: %w", p.Name, f.name, err)
		}
	}
	if p.MaxCrawlDelay < 0 {
		return fmt.Errorf("profile %s: max_crawl_delay: %v is negative; 0 is none", p.Name, p.MaxCrawlDelay)
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"max_line", p.MaxLine}, {"rule_bytes", p.RuleBytes}, {"max_pattern", p.MaxPattern}} {
		if f.value < 0 {
			return fmt.Errorf("profile %s: %s: %d is negative; 0 is none", p.Name, f.name, f.value)
		}
	}
	for _, f := range []struct {
		name   string
		fields []string
	}{{"agent_fields", p.AgentFields}, {"allow_fields", p.AllowFields}, {"disallow_fields", p.DisallowFields},
		{"site_fields", p.SiteFields}} {
		for _, field := range f.fields {
			if field == "" || field != strings.ToLower(strings.TrimSpace(field)) || strings.ContainsAny(field, ":#\r\n") {
				return fmt.Errorf("profile %s: %s: %q is no field in lower case, such as site-map", p.Name, f.name, field)
			}
		}
	}
	switch {
	case p.Anywhere && p.Wildcards:
		return fmt.Errorf("profile %s: anywhere: needs wildcards: false", p.Name)
	case p.PatternIsURL && p.Requote != rewrite.RequotePath:
		return fmt.Errorf("profile %s: pattern_is_url: has no effect without requote: %s", p.Name, rewrite.RequotePath)
	case len(p.SiteFields) > 0 && !p.ListEnds.Has(dialect.EndsAny):
		return fmt.Errorf("profile %s: site_fields: has no effect without list_ends: %s or %s", p.Name, dialect.EndsAny,
			dialect.EndsAnyColon)
	}
	switch {
	case !p.isDialect() && p.dialectField() != "":
		return fmt.Errorf("profile %s: %s: only dialects read it; derive the profile from one, or say by agent_value "+
			"what of a user-agent line counts", p.Name, p.dialectField())
	case !p.isDialect():
		return nil
	}
	return p.checkRead()
}

// readToo are the fields of documents that dialects read too, by their yaml names.
var readToo = []string{"reading", "allow_field", "ignores_star", "delay_scope", "wildcards", "add_slash",
	"robots_txt_allowed"}

// checkRead returns an error for the first field of documents with another value than in
// all dialects, of those that they do not read.
func (p *Profile) checkRead() error {
	common := dialectNamed(p.Name)
	for _, of := range [][2]any{{p.Lines, common.Lines}, {p.Groups, common.Groups}, {p.Matching, common.Matching}} {
		got, want := reflect.ValueOf(of[0]), reflect.ValueOf(of[1])
		for i := range got.NumField() {
			f := got.Type().Field(i)
			name := f.Tag.Get("yaml")
			if !f.Anonymous && !slices.Contains(readToo, name) && !reflect.DeepEqual(got.Field(i).Interface(),
				want.Field(i).Interface()) {
				return fmt.Errorf("profile %s: %s: does not apply to a dialect, which has fields of its own; say %v, or derive "+
					"the profile from a dialect", p.Name, name, want.Field(i))
			}
		}
	}
	return nil
}
