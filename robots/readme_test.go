package robots

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of profiles anew")

// The table of profiles in README.md has a row for each field of Profile, in
// order, and the values of the built-in profiles.
func TestProfileTable(t *testing.T) {
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	head := "| field | meaning | " + strings.Join(ProfileNames(), " | ") + " |\n" + strings.Repeat("|---", len(ProfileNames())+2) + "|\n"
	before, rest, ok := strings.Cut(string(content), head)
	table, after, end := strings.Cut(rest, "\n\n")
	if !ok || !end {
		t.Fatalf("README.md lacks the table\n%s", head)
	}
	lines := strings.Split(table, "\n")
	var want []string
	fields := reflect.TypeFor[Profile]()
	for i := range fields.NumField() {
		name := fields.Field(i).Tag.Get("yaml")
		if name == "name" {
			continue
		}
		if n := len(want); n >= len(lines) || !strings.HasPrefix(lines[n], "| `"+name+"` | ") {
			t.Fatalf("row %d of README.md is not about %s: say in its second cell what the field means", n+1, name)
		}
		meaning := strings.Split(lines[len(want)], " | ")[1]
		row := "| `" + name + "` | " + meaning + " |"
		for _, f := range builtin {
			row += " " + cell(reflect.ValueOf(f()).Field(i).Interface()) + " |"
		}
		want = append(want, row)
	}
	got := strings.Join(want, "\n")
	if got == table {
		return
	}
	if !*update {
		t.Fatalf("README.md is not current (go test ./robots -run ProfileTable -update rewrites it): it has\n%s\nand the profiles have\n%s", table, got)
	}
	if err := os.WriteFile("README.md", []byte(before+head+got+"\n\n"+after), 0o666); err != nil {
		t.Fatal(err)
	}
}

func cell(value any) string {
	switch v := fmt.Sprint(value); v {
	case "true":
		return "yes"
	case "false":
		return "no"
	case "":
		return "–"
	default:
		return strings.Replace(v, "720h0m0s", "30 days", 1)
	}
}
