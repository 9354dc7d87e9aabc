package flags

import (
	"errors"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestParse(t *testing.T) {
	for _, row := range []struct {
		args []string
		want string // "" for none
	}{
		{[]string{"--hosts", "f", "--n", "3"}, ""},
		{[]string{"--hosts", "-hosts"}, ""},
		{[]string{"-h"}, pflag.ErrHelp.Error()},
		{[]string{"--help"}, pflag.ErrHelp.Error()},
		{[]string{"-hosts", "f"}, "-hosts: a flag begins with two dashes: --hosts"},
		{[]string{"-hosts=f"}, "-hosts: a flag begins with two dashes: --hosts"},
		{[]string{"-n", "3"}, "-n: a flag begins with two dashes: --n"},
		{[]string{"-zz"}, "no flag -zz; see --help"},
		{[]string{"--zz"}, "no flag --zz; see --help"},
		{[]string{"--hots", "f"}, "no flag --hots (did you mean --hosts?); see --help"},
		{[]string{"-out", "f"}, "-out: a flag begins with two dashes: --out"},
		{[]string{"-o", "-out", "--hosts=x", "--b", "--", "-out"}, ""},
		{[]string{"--b", "-out", "f"}, "-out: a flag begins with two dashes: --out"},
		{[]string{"--hosts"}, "--hosts needs a value"},
		{[]string{"--=x"}, "--=x is not a flag; see --help"},
		{[]string{"--n", "x"}, `--n "x": expected a whole number`},
		{[]string{"--n", "99999999999999999999"},
			`--n "99999999999999999999": expected a whole number that is not too large`},
		{[]string{"--f", "x"}, `--f "x": expected a number`},
		{[]string{"--b=maybe"}, `--b "maybe": expected true or false`},
		{[]string{"--d", "5"}, `--d "5": expected a time with its unit, such as 30s, 5m or 24h`},
		{[]string{"--opt", "all"}, "--opt all: write --opt=all: all would be an argument of its own"},
		{[]string{"--opt", "ai.txt"}, "--opt ai.txt: write --opt=ai.txt: ai.txt would be an argument of its own"},
		{[]string{"--opt", "site.example"}, ""},
		{[]string{"--opt", "--b"}, ""},
		{[]string{"--opt=all", "x"}, ""},
		{[]string{"--b", "all"}, ""},
		{[]string{"--l", `a"b`}, `--l "a\"b": expected words separated by commas`},
	} {
		set := pflag.NewFlagSet("test", pflag.ContinueOnError)
		set.Usage = func() {}
		set.String("hosts", "", "")
		set.StringP("out", "o", "", "")
		set.Int("n", 0, "")
		set.Float64("f", 0, "")
		set.Bool("b", false, "")
		set.Duration("d", time.Second, "")
		set.StringSlice("l", nil, "")
		set.String("opt", "", "")
		set.Lookup("opt").NoOptDefVal = "some"
		err := Parse(set, row.args)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != row.want || (row.want == pflag.ErrHelp.Error()) != errors.Is(err, pflag.ErrHelp) {
			t.Errorf("%q: %q, want %q", row.args, got, row.want)
		}
	}
}

// Values that may be left out stand in brackets behind the name.
func TestUsages(t *testing.T) {
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	set.SortFlags = false
	set.Bool("there", false, "is it")
	set.String("opt", "", "take some; with --opt=`all` all")
	set.Lookup("opt").NoOptDefVal = "some"
	set.StringSlice("list", nil, "of `NAMES`")
	set.Lookup("list").NoOptDefVal = "all"
	set.String("name", "x", "a `NAME`")
	want := `      --there           is it
      --opt[=all]       take some; with --opt=all all
      --list[=NAMES]    of NAMES
      --name NAME       a NAME (default "x")
`
	if got := Usages(set, 0); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
