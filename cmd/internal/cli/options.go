// Package cli has what the commands share.
//
//   - options.go: flags of several commands, their groups in --help, completion
//   - arguments.go: the arguments that a command needs
//   - names.go: the output folder, and the runs in it that arguments name
//   - inputs.go: files that flags name
//   - dates.go: dates as a user writes them
//   - memory.go: the memory that a command may take
//   - exit.go: exit codes, the errors that lead to them, and signals
//   - screen.go: what people read, as text with styles or Markdown, and JSON for programs
//   - progress.go: the progress of a run, as a bar or as lines
//   - promises.go: the file of --expect, and which expectations hold
package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/sink/store"
)

// CompleteFlag completes the values of a flag from words.
func CompleteFlag(c *cobra.Command, name string, words ...string) {
	c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, NoFiles)) // the only error is an unknown flag
}

// CompleteList does the same for a flag that takes a list of words with commas.
func CompleteList(c *cobra.Command, name string, words []string) {
	c.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, typed string) (out []string,
		_ cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		for _, word := range words {
			if !slices.Contains(strings.Split(before, ","), word) {
				out = append(out, before+word)
			}
		}
		return out, NoFiles | cobra.ShellCompDirectiveNoSpace
	})
}

// CompleteRuns completes up to n arguments with the runs in the folder --out, in
// descending order of their names.
func CompleteRuns(n int) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		dir, err := c.Flags().GetString("out")
		if err != nil || dir == "" || len(args) >= n {
			return nil, NoFiles
		}
		words := []string{Latest, previous}
		in, err := store.Open(c.Context(), dir)
		if err != nil {
			return nil, NoFiles
		}
		defer in.Close()
		for _, run := range slices.Backward(RunNames(in)) {
			words = append(words, run)
		}
		return words, NoFiles
	}
}

const NoFiles = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder

func NewFlagSet(name string) *pflag.FlagSet {
	s := pflag.NewFlagSet(name, pflag.ContinueOnError)
	s.SortFlags = false
	return s
}

// Out adds --out to a command that reads tables.
func Out(c *cobra.Command) *string {
	out := new(string)
	OutVar(c, out)
	return out
}

// OutVar is Out into a variable.
func OutVar(c *cobra.Command, out *string) {
	c.Flags().StringVarP(out, "out", "o", "", "`DIR` of the tables")
	c.MarkFlagDirname("out")
}

// JSONVar adds --json. The argument what describes the output.
func JSONVar(set *pflag.FlagSet, json *bool, what string) {
	set.BoolVar(json, "json", false, "print only JSON to standard output: "+what)
}

// ErrNoOut is the error of a command that needs --out.
var ErrNoOut = Usagef("--out is missing: give the folder of the tables")

// GroupKey annotates a flag with its heading in --help.
const GroupKey = "group"

// Group gives a heading to the flags of set that have none.
func Group(set *pflag.FlagSet, heading string) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[GroupKey] == nil {
			set.SetAnnotation(f.Name, GroupKey, []string{heading})
		}
	})
}

// DetailsKey annotates a command with what its help says after the flags. --help leaves
// it out.
const DetailsKey = "details"

// Incomplete adds the flag --incomplete.
func Incomplete(c *cobra.Command) *bool {
	return c.Flags().Bool("incomplete", false, "read a run that is not complete: what is committed so far")
}

// ToolVersion is the version that make build and make release link, "" for none.
var ToolVersion string
