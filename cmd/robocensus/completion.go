package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/suggest"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/store"
)

const completionHelp = `Prints a script that makes a shell complete commands, flags, and the names of runs,
tables, profiles and agents.`

const completionExamples = `  source <(robocensus completion bash)
  robocensus completion zsh > "${fpath[1]}/_robocensus"
  robocensus completion fish > ~/.config/fish/completions/robocensus.fish`

var shells = []string{"bash", "zsh", "fish"}

func completionCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "Print a completion script for a shell", Long: completionHelp, Example: completionExamples,
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				remark := ""
				if len(args) > 0 {
					remark = suggest.Remark(args[0], shells)
				}
				return usagef("name one shell: bash, zsh or fish%s", remark)
			}
			switch out := c.OutOrStdout(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			default:
				return root.GenFishCompletion(out, true)
			}
		},
	}
}

const noFiles = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder

// completeFlag completes the values of a flag from words.
func completeFlag(c *cobra.Command, name string, words ...string) {
	c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, noFiles)) // the only error is an unknown flag
}

// completeList does the same for a flag that takes a list of words with commas.
func completeList(c *cobra.Command, name string, words []string) {
	c.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, typed string) (out []string, _ cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		for _, word := range words {
			if !slices.Contains(strings.Split(before, ","), word) {
				out = append(out, before+word)
			}
		}
		return out, noFiles | cobra.ShellCompDirectiveNoSpace
	})
}

// completeMeaning completes the flags of addMeaning.
func completeMeaning(c *cobra.Command) {
	completeList(c, "profile", robots.ProfileNames())
	for _, name := range []string{"agents", "config"} {
		c.MarkFlagFilename(name, "yaml", "yml")
	}
}

// completeRuns completes up to n arguments with the runs in the folder --out, in
// descending order of their names.
func completeRuns(n int) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		dir, err := c.Flags().GetString("out")
		if err != nil || dir == "" || len(args) >= n {
			return nil, noFiles
		}
		words := []string{latest, previous}
		in, err := store.Open(c.Context(), dir)
		if err != nil {
			return nil, noFiles
		}
		defer in.Close()
		for _, run := range slices.Backward(runNames(in)) {
			words = append(words, run)
		}
		return words, noFiles
	}
}

// completeAgents completes a flag with the agents of the registry.
func completeAgents(c *cobra.Command, name string, f *commonFlags) {
	c.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		agents, _, err := f.readAgents(context.Background())
		if err != nil {
			return nil, noFiles
		}
		var words []string
		for _, a := range agents {
			words = append(words, cobra.CompletionWithDesc(a.Name, a.Category))
		}
		return words, noFiles
	})
}
