// Package flags says in a user's words what is wrong with the flags of a
// command.
package flags

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// Parse parses args into set. Its error is [pflag.ErrHelp] where help is asked
// for, by -h or --help and nothing else: -hosts is a flag that lacks a dash.
func Parse(set *pflag.FlagSet, args []string) error {
	err := set.Parse(args)
	var unknown *pflag.NotExistError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pflag.ErrHelp), errors.As(err, &unknown):
		for _, arg := range args {
			if arg == "--" {
				break
			}
			name, one := strings.CutPrefix(arg, "-")
			name, _, _ = strings.Cut(name, "=")
			if one && !strings.HasPrefix(name, "-") && set.Lookup(name) != nil {
				return fmt.Errorf("-%s: a flag begins with two dashes: --%s", name, name)
			}
		}
	}
	if errors.Is(err, pflag.ErrHelp) {
		return pflag.ErrHelp
	}
	var missing *pflag.ValueRequiredError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("no flag -%s; see --help", unknown.GetSpecifiedShortnames())
	case errors.As(err, &unknown):
		return fmt.Errorf("no flag --%s; see --help", unknown.GetSpecifiedName())
	case errors.As(err, &missing):
		return fmt.Errorf("--%s needs a value", missing.GetSpecifiedName())
	case errors.As(err, &syntax):
		return fmt.Errorf("%s is no flag; see --help", syntax.GetSpecifiedFlag())
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return fmt.Errorf("--%s %q: %w", invalid.GetFlag().Name, invalid.GetValue(), Wanted(invalid.GetFlag(), invalid.GetValue()))
	}
	return err
}

// Wanted says what kind of value a flag takes, where value is none.
func Wanted(flag *pflag.Flag, value string) error {
	switch flag.Value.Type() {
	case "bool":
		return errors.New("expected true or false")
	case "int", "int64":
		if strings.Trim(value, "-0123456789") == "" {
			return errors.New("expected a whole number that is not too large")
		}
		return errors.New("expected a whole number")
	case "float64":
		return errors.New("expected a number")
	case "duration":
		return errors.New("expected a time with its unit, such as 30s, 5m or 24h")
	case "size":
		return errors.New("expected a size such as 512M or 2G")
	case "stringSlice":
		return errors.New("expected words with commas between them")
	}
	return errors.New("expected another value")
}
