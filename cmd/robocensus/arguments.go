package main

import "context"

// An argument is one that a command needs: its name, and what to give.
type argument struct{ name, give string }

// checkArguments checks that a command has --out, and its arguments and no others.
func checkArguments(ctx context.Context, out string, args []string, want ...argument) error {
	if out == "" {
		return errNoOut
	}
	if len(args) >= len(want) {
		return checkNoMore(args, len(want))
	}
	missing, runs := want[len(args)], ""
	if missing.name == "RUN" {
		runs = thereAre(ctx, out)
	}
	return usagef("%s is missing: give %s%s", missing.name, missing.give, runs)
}

// checkNoMore checks that there are no more than n arguments.
func checkNoMore(args []string, n int) error {
	if len(args) > n {
		return usagef("unexpected argument %q", args[n])
	}
	return nil
}
