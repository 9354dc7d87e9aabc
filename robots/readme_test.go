package robots

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/answer"
)

var update = flag.Bool("update", false, "write the table of profiles anew")

// The tables of profiles in README.md have a row for each field of Profile, in order,
// and the values of the built-in profiles: one the documents, the others the dialects and
// the programs with the fields that only they have. That of programs has those of answers too
// in which one of them is not google-2019.
func TestProfileTable(t *testing.T) {
	const sorted = "matching.sorted_query" // of a program alone
	documented, of2019 := reflect.ValueOf(google()), reflect.ValueOf(google2019())
	answering := slices.Concat(programs, []func() Profile{heritrix, wget, httrack})
	for _, table := range []struct {
		profiles []func() Profile
		has      func(f profileField) bool
	}{
		{documents, func(f profileField) bool { return !f.dialect }},
		{dialects, func(f profileField) bool { return f.dialect && !f.isOfPrograms(documented) && f.name != sorted }},
		{answering, func(f profileField) bool {
			of2019 := of2019.FieldByIndex(f.index).Interface()
			differs := func(p func() Profile) bool {
				return !reflect.DeepEqual(reflect.ValueOf(p()).FieldByIndex(f.index).Interface(), of2019)
			}
			return f.isOfPrograms(documented) || f.name == sorted || (strings.HasPrefix(f.name, "answers.") ||
				f.name == "max_redirects") && slices.ContainsFunc(answering, differs)
		}},
	} {
		checkTable(t, table.profiles, table.has)
	}
}

func checkTable(t *testing.T, profiles []func() Profile, has func(profileField) bool) {
	var names []string
	for _, p := range profiles {
		names = append(names, p().Name)
	}
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	head := "| field | meaning | " + strings.Join(names, " | ") + " |\n" + strings.Repeat("|---", len(names)+2) + "|\n"
	before, rest, ok := strings.Cut(string(content), head)
	table, after, end := strings.Cut(rest, "\n\n")
	if !ok || !end {
		t.Fatalf("README.md lacks the table\n%s", head)
	}
	lines := strings.Split(table, "\n")
	var want []string
	for _, f := range fieldsOfProfile(reflect.TypeFor[Profile](), "", nil) {
		if !has(f) {
			continue
		}
		if n := len(want); n >= len(lines) || !strings.HasPrefix(lines[n], "| `"+f.name+"` | ") {
			t.Fatalf("row %d of README.md is not about %s: say in its second cell what the field means", n+1, f.name)
		}
		meaning := strings.Split(lines[len(want)], " | ")[1]
		row := "| `" + f.name + "` | " + meaning + " |"
		for _, p := range profiles {
			row += " " + cell(reflect.ValueOf(p()).FieldByIndex(f.index).Interface()) + " |"
		}
		want = append(want, row)
	}
	got := strings.Join(want, "\n")
	if got == table {
		return
	}
	if !*update {
		t.Fatalf("README.md is not current (go test ./robots -run ProfileTable -update rewrites it): it has\n%s\n"+
			"and the profiles have\n%s", table, got)
	}
	if err := os.WriteFile("README.md", []byte(before+head+got+"\n\n"+after), 0o666); err != nil {
		t.Fatal(err)
	}
}

// profileField is a field of [Profile]. Its name begins with that of its group.
type profileField struct {
	name    string
	index   []int
	dialect bool // only dialects have it
}

// isOfPrograms reports whether it is a field of [answer.Program] in a profile.
func (f profileField) isOfPrograms(p reflect.Value) bool {
	return p.FieldByIndex(f.index[:len(f.index)-1]).Type() == reflect.TypeFor[answer.Program]()
}

func fieldsOfProfile(of reflect.Type, group string, at []int) (all []profileField) {
	for i := range of.NumField() {
		f, index := of.Field(i), append(slices.Clone(at), i)
		tag, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch name := group + tag; {
		case options == "inline":
			all = append(all, fieldsOfProfile(f.Type, group, index)...)
		case f.Anonymous:
			all = append(all, fieldsOfProfile(f.Type, name+".", index)...)
		case name != "name":
			all = append(all, profileField{name, index, options == "omitempty"})
		}
	}
	return all
}

func cell(value any) string {
	switch v := fmt.Sprint(value); v {
	case "true":
		return "yes"
	case "false":
		return "no"
	case "", "[]", "0":
		return "–"
	default:
		v = strings.Trim(v, "[]")
		return strings.Replace(v, "720h0m0s", "30 days", 1)
	}
}

// The specification names every field of profiles where it says what the field holds, and
// no other; the package comment names every file.
func TestSpecificationNamesFields(t *testing.T) {
	content, err := os.ReadFile("SPECIFICATION.md")
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, f := range fieldsOfProfile(reflect.TypeFor[Profile](), "", nil) {
		known[f.name] = true
		if !strings.Contains(string(content), "`"+f.name+"`") {
			t.Errorf("SPECIFICATION.md does not name %s", f.name)
		}
	}
	for _, name := range regexp.MustCompile("`((?:lines|groups|matching|answers)\\.[a-z0-9_]+)`").FindAllStringSubmatch(
		string(content), -1) {
		if !known[name[1]] {
			t.Errorf("SPECIFICATION.md names %s, which is not a field", name[1])
		}
	}
	comment, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") && name != "doc.go" && !strings.Contains(string(comment), "\t"+name+" ") {
			t.Errorf("the package comment has no line for %s", name)
		}
	}
}

// The table of parsers in README.md agrees with the recorded answers, of which half are
// at hand: none parts more often in them than in all, or much less often than in half.
func TestMatrixOfParsers(t *testing.T) {
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewScanner(gunzipped(t, recordedAnswers+"questions.tsv.gz"))
	r.Buffer(nil, 1<<20)
	token := regexp.MustCompile("^[A-Za-z_-]+$")
	var head []string
	counts := make(map[string][2]int) // questions that a parser allows and Google's forbids, and those the other way round
	for r.Scan() {
		cells := strings.Split(r.Text(), "\t")
		if head == nil {
			head = cells
			continue
		}
		if !token.MatchString(cells[2]) {
			continue // not in the table
		}
		google := cells[slices.Index(head, "google-cpp")]
		for i, column := range head {
			if n := counts[column]; google == "0" && cells[i] == "1" {
				counts[column] = [2]int{n[0] + 1, n[1]}
			} else if google == "1" && cells[i] == "0" {
				counts[column] = [2]int{n[0], n[1] + 1}
			}
		}
	}
	for column, row := range map[string]string{
		"grobotstxt": "grobotstxt", "robots-parser": "robots-parser", "crawler-commons": "crawler-commons",
		"temoto": "temoto/robotstxt", "heritrix-lower": "Heritrix, agent in lower case",
		"rep-cpp": "rep-cpp", "folyd": "folyd", "robots-txt-parser": "robots-txt-parser (npm)",
		"urllib-main": "urllib, CPython main", "protego": "protego", "spatie": "spatie",
		"manifoldcf": "ManifoldCF", "crawler4j": "crawler4j", "wget2": "wget2", "wget": "wget",
		"www-robotrules": "WWW::RobotRules", "urllib-3.14": "urllib, CPython 3.14.2", "urllib-3.11": "urllib, CPython 3.11.7",
	} {
		found := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(row) +
			` \| [^|]+ \| ([0-9.]+) % \| (\d+) \| (\d+) \|`).FindStringSubmatch(string(content))
		if found == nil {
			t.Errorf("README.md has no row for %s", row)
			continue
		}
		var share float64
		var all [2]int
		fmt.Sscan(strings.Join(found[1:], " "), &share, &all[0], &all[1])
		for way, n := range counts[column] {
			if n > all[way] || 10*(n+3) < 3*all[way] {
				t.Errorf("%s: %d of %d answers of a kind are in the half at hand", row, n, all[way])
			}
		}
		if got := 100 * float64(all[0]+all[1]) / 11936; got-share > 0.006 || share-got > 0.006 {
			t.Errorf("%s: %d and %d of 11,936 are %.2f %%, not %.2f", row, all[0], all[1], got, share)
		}
	}
}

// Tests cite sections of SPECIFICATION.md that exist: those of dialects the one about
// dialects.
func TestCitedSectionsExist(t *testing.T) {
	sections := sectionsOfSpecification(t)
	files, _ := filepath.Glob("*_test.go")
	inner, _ := filepath.Glob("*/*_test.go")
	cited := 0
	for _, name := range append(files, inner...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\bSPEC ([0-9]+)`).FindAllStringSubmatch(string(text), -1) {
			cited++
			if title := sections[m[1]]; title == "" || strings.Contains(name, "dialect") && !strings.HasPrefix(title,
				"Dialects\n") {
				t.Errorf("%s cites SPEC %s, which is %q", name, m[1], strings.SplitN(title, "\n", 2)[0])
			}
		}
	}
	if cited < 10 {
		t.Errorf("%d sections are cited", cited)
	}
}

// The section about dialects has a clause for each field that only they have.
func TestSpecificationHasFieldsOfDialects(t *testing.T) {
	section := sectionsOfSpecification(t)["9"]
	for _, f := range fieldsOfProfile(reflect.TypeFor[Profile](), "", nil) {
		if f.dialect && !strings.Contains(section, "`"+f.name+"`") {
			t.Errorf("SPECIFICATION.md, section 9, does not describe %s", f.name)
		}
	}
}

// sectionsOfSpecification returns title and text of each section by its number.
func sectionsOfSpecification(t *testing.T) map[string]string {
	content, err := os.ReadFile("SPECIFICATION.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := make(map[string]string)
	for _, section := range strings.Split(string(content), "\n## ")[1:] {
		number, text, _ := strings.Cut(section, ". ")
		sections[number] = text
	}
	return sections
}
