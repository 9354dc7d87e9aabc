// Package flags explains errors in the flags of a command, finds what a mistyped name stands for,
// and writes the files that flags name.
package flags

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Parse parses args into set. Its error is [pflag.ErrHelp] if help is asked for.
func Parse(set *pflag.FlagSet, args []string) error {
	if err := CheckDashes(set, args); err != nil {
		return err
	}
	if err := set.Parse(args); err != nil {
		return Explain(set, err)
	}
	return nil
}

// CheckDashes refuses a long flag with one dash. Pflag would read -out DIR as the
// short flag -o with the value ut. It also refuses a blank before a value that may be left out,
// which pflag takes for an argument.
func CheckDashes(set *pflag.FlagSet, args []string) error {
	takesValue := func(f *pflag.Flag) bool { return f != nil && f.NoOptDefVal == "" }
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		if name, long := strings.CutPrefix(args[i], "--"); long {
			switch f := set.Lookup(name); {
			case takesValue(f):
				i++
			case mayTake(f) && i+1 < len(args) && isNoHost(args[i+1]):
				return fmt.Errorf("--%s %s: write --%s=%s: %s would be an argument of its own", name, args[i+1], name,
					args[i+1], args[i+1])
			}
			continue
		}
		short, ok := strings.CutPrefix(args[i], "-")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(short, "=")
		if set.Lookup(name) != nil {
			return fmt.Errorf("-%s: a flag begins with two dashes: --%s", name, name)
		}
		if len(short) == 1 && takesValue(set.ShorthandLookup(short)) {
			i++
		}
	}
	return nil
}

// mayTake reports whether a flag has a value that may be left out.
func mayTake(f *pflag.Flag) bool { return f != nil && f.NoOptDefVal != "" && f.Value.Type() != "bool" }

// isNoHost reports whether a word is rather the value of a flag than a host or a folder.
func isNoHost(word string) bool {
	return word != "" && !strings.HasPrefix(word, "-") && !strings.ContainsAny(word, "./:\\") ||
		slices.Contains([]string{".txt", ".json", ".xml"}, path.Ext(word)) && !strings.ContainsAny(word, "/\\")
}

// Usages returns the help of the flags of set, in lines of at most width columns, 0 for any.
// One that is there or not is named as people type it, and so is one whose value may be left out:
// pflag adds [=true|false] to the first, and what the second is without a value to its name.
func Usages(set *pflag.FlagSet, width int) string {
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	shown.SortFlags = false // set has an order
	set.VisitAll(func(f *pflag.Flag) {
		copied := *f
		switch {
		case f.Value.Type() == "bool":
			copied.Value, copied.NoOptDefVal = typed{f.Value, ""}, ""
		case mayTake(f):
			value := ""
			value, copied.Usage = pflag.UnquoteUsage(f)
			copied.Value, copied.NoOptDefVal, copied.DefValue = typed{f.Value, "[=" + value + "]"}, "", ""
		}
		shown.AddFlag(&copied)
	})
	return besideItsName.ReplaceAllString(shown.FlagUsagesWrapped(width), "$1 ")
}

// besideItsName finds a value that may be left out, which pflag parts from the name of its flag.
var besideItsName = regexp.MustCompile(` (\[=[^ \]]+\])`)

// typed is a value of another type for the help of its flag.
type typed struct {
	pflag.Value
	of string
}

func (t typed) Type() string { return t.of }

// Explain explains why set could not parse its arguments, and suggests a flag.
func Explain(set *pflag.FlagSet, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return pflag.ErrHelp
	}
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var syntax *pflag.InvalidSyntaxError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("no flag -%s; see --help", unknown.GetSpecifiedShortnames())
	case errors.As(err, &unknown):
		var names []string
		set.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		name := "--" + unknown.GetSpecifiedName()
		return fmt.Errorf("no flag %s%s; see --help", name, Suggest(name, names))
	case errors.As(err, &missing):
		return fmt.Errorf("--%s needs a value", missing.GetSpecifiedName())
	case errors.As(err, &syntax):
		return fmt.Errorf("%s is not a flag; see --help", syntax.GetSpecifiedFlag())
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s %q: %w", invalid.GetFlag().Name, invalid.GetValue(), Wanted(invalid))
	}
	return err
}

// Wanted describes the value that a flag takes.
func Wanted(invalid *pflag.InvalidValueError) error {
	kind := Kind(invalid.GetFlag())
	switch {
	case kind == "":
		return invalid.Unwrap() // a type of our own says it
	case kind == "a whole number" && strings.Trim(invalid.GetValue(), "-0123456789") == "":
		kind += " that is not too large"
	}
	return errors.New("expected " + kind)
}

// Kind says what values a flag takes, "" if its type alone knows.
func Kind(flag *pflag.Flag) string {
	switch flag.Value.Type() {
	case "bool":
		return "true or false"
	case "int", "int64":
		return "a whole number"
	case "float64":
		return "a number"
	case "duration":
		return "a time with its unit, such as 30s, 5m or 24h"
	case "stringSlice":
		return "words separated by commas"
	}
	return ""
}
