package cli

import "context"

// An argument is one that a command needs: its name, and what to give.
type Argument struct{ Name, Give string }

// CheckArguments checks that a command has --out, and its arguments and no others.
func CheckArguments(ctx context.Context, out string, args []string, want ...Argument) error {
	if out == "" {
		return ErrNoOut
	}
	if len(args) >= len(want) {
		return CheckNoMore(args, len(want))
	}
	missing, runs := want[len(args)], ""
	if missing.Name == "RUN" {
		runs = ThereAre(ctx, out)
	}
	return Usagef("%s is missing: give %s%s", missing.Name, missing.Give, runs)
}

// CheckNoMore checks that there are no more than n arguments.
func CheckNoMore(args []string, n int) error {
	if len(args) > n {
		return Usagef("unexpected argument %q", args[n])
	}
	return nil
}
