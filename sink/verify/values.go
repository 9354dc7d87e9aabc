package verify

import (
	"fmt"
	"maps"
	"slices"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/robots/portable"
	"github.com/robocensus/robocensus/robots/template"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// values holds the enumerated columns of tables with their values. Another value, but for
// the empty text, is of a file that somebody else wrote, and could stand for anything.
var values = func() map[string]map[string][]string {
	kinds := []string{robots.Allow.String(), robots.Disallow.String()}
	outcomes := texts(answer.Outcomes[:])
	classes := summary.ClassNames[:]
	stances := named[robots.Stance](int(robots.StancePartial) + 1)[1:]
	errors := texts(answer.ErrorClasses)
	return map[string]map[string][]string{
		"fetches": {
			"scheme": {"https", "http", "ftp"}, "source": sources(), "outcome": outcomes,
			"reason": texts(answer.Reasons), "error_class": errors, "fallback_error_class": errors,
			"answers_since": texts(answer.Classes), // its kind
			"challenge":     answer.Vendors, "front_page": texts(usage.PageOutcomes), "front_error_class": errors,
		},
		"answers": {
			"outcome": outcomes, "reason": texts(answer.Reasons), "remark": consent.TreatmentReasons, "error_class": errors,
			"challenge": answer.Vendors, "class": classes, "paper": summary.Papers, "verdict": summary.ValueNames[:],
			"policy":    append([]string{summary.ClassNames[summary.ClassUnknown]}, summary.RelationNames[:]...),
			"treatment": append(texts(consent.Treatments), summary.TreatmentNames[:]...),
		},
		"sitemap_files": {"kind": summary.SitemapKinds, "outcome": summary.SitemapOutcomes, "error_class": errors},
		"coverage":      {"class": classes},
		"groups":        {"class": append([]string{summary.ClassEmpty}, named[robots.Class](int(robots.DisallowAll)+1)...)},
		"rules":         {"kind": kinds},
		"lines": {"class": named[robots.RemarkClass](int(robots.NumRemarkClasses)),
			"cause": slices.Concat(slices.Sorted(maps.Keys(portable.CauseTexts)),
				named[portable.LighthouseFault](portable.LighthouseFaults))},
		"policies": {"outcome": outcomes, "match": named[robots.Match](int(robots.OwnGroup) + 1), "class": classes,
			"versus_star": summary.RelationNames[:], "versus_first": summary.VersusFirstNames[:], "parity": summary.ParityNames,
			"ai_train": stances, "ai_input": stances, "search": stances},
		"preferences": {
			"scope":     {"group", "file", "trailing", "orphan", "page", "document"},
			"mechanism": named[usage.Mechanism](int(usage.TrustTxt) + 1)[1:],
			"header":    append(slices.Clone(usage.PageHeaders), usage.MetaRobots), "use": named[usage.Use](usage.NumUses),
			"preference": named[usage.Preference](int(usage.Priced) + 1)[1:],
			"level":      named[usage.Level](int(usage.LevelFull) + 1)[1:],
			"remark": append([]string{usage.RemarkNotParsed, usage.RemarkNoStatement, usage.RemarkUnknownLabel,
				usage.RemarkOldLabel, usage.RemarkUnknownValue, usage.RemarkRepeated, usage.RemarkNotURL,
				usage.RemarkUnknownToken, usage.RemarkTooLong}, consent.Remarks...),
		},
		"documents": {"outcome": texts(consent.Outcomes)},
		"changes":   {"use": named[usage.Use](usage.NumUses)},
		"templates": {"kind": template.Kinds},
		"agents":    {"kind": {"crawler", "token"}},
		"summary":   {"stratum": summary.StratumNames()},
		"verdicts": {"verdict": summary.ValueNames[:], "reason": named[robots.Reason](int(robots.ReasonChallenge) + 1),
			"rule_kind": kinds},
	}
}()

// sources returns where answers come from.
func sources() []string {
	out := []string{"network", "cache"}
	for _, s := range journal.StoredSources {
		if s.Value != "" {
			out = append(out, s.Value)
		}
	}
	return out
}

func texts[T ~string](values []T) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

// named returns the names of the first n values of a type.
func named[T interface {
	~uint8
	String() string
}](n int) (out []string) {
	for i := range n {
		out = append(out, T(i).String())
	}
	return out
}

// CheckFetch returns an error for a row of fetches with a value that its columns do not
// have.
func CheckFetch(row *schema.Fetch) error {
	if err := checkValues("fetches", row.Seq, []cell{
		{"scheme", &row.Scheme}, {"source", &row.Source}, {"outcome", &row.Outcome}, {"reason", &row.Reason},
		{"error_class", row.ErrorClass}, {"fallback_error_class", row.FallbackErrorClass}, {"challenge", row.Challenge},
		{"front_page", row.FrontPage}, {"front_error_class", row.FrontErrorClass},
	}); err != nil {
		return err
	}
	if n := len(row.AnswersSince); n > answer.MaxSeen {
		return fmt.Errorf("seq %d: column %s has %d answers, and memory holds %d", row.Seq, seenColumn, n, answer.MaxSeen)
	}
	for _, a := range row.AnswersSince {
		if err := checkSeen(a.Kind, a.Redirects); err != nil {
			return fmt.Errorf("seq %d: %w", row.Seq, err)
		}
	}
	return nil
}

// CheckAnswer returns an error for a row of answers with a value that its columns do not
// have.
func CheckAnswer(row *schema.Answer) error {
	return checkValues("answers", row.Seq, []cell{
		{"outcome", row.Outcome}, {"reason", row.Reason}, {"error_class", row.ErrorClass}, {"challenge", row.Challenge},
		{"class", &row.Class}, {"policy", &row.Policy}, {"treatment", &row.Treatment},
		{"paper", row.Paper}, {"verdict", row.Verdict}, {"remark", row.Remark},
	})
}

// CheckSitemapFile returns an error for a row of sitemap_files with a value that its columns
// do not have.
func CheckSitemapFile(row *schema.SitemapFile) error {
	return checkValues("sitemap_files", row.Seq, []cell{{"kind", &row.Kind}, {"outcome", &row.Outcome},
		{"error_class", row.ErrorClass}})
}

// cell is a value of an enumerated column, nil for null.
type cell struct {
	column string
	value  *string
}

func checkValues(table string, seq int64, cells []cell) error {
	for _, c := range cells {
		if c.value != nil && *c.value != "" && !slices.Contains(values[table][c.column], *c.value) {
			return fmt.Errorf("seq %d: %w", seq, unknownValue(c.column, *c.value))
		}
	}
	return nil
}

// checkSeen returns an error for an answer of answers_since that memory does not have.
func checkSeen(kind string, redirects int32) error {
	if !slices.Contains(values["fetches"][seenColumn], kind) {
		return unknownValue(seenColumn, kind)
	}
	if redirects < 0 {
		return fmt.Errorf("column %s has %d redirects", seenColumn, redirects)
	}
	return nil
}

// seenColumn is a list of answers, of which the kind is enumerated.
const seenColumn = "answers_since"

func unknownValue(column, value string) error {
	return fmt.Errorf("column %s has %.40q, which is not one of its values", column, value)
}
