package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
)

const completionHelp = `Prints a script that makes a shell complete commands, flags, and the names of runs,
tables, profiles and agents.`

const completionExamples = `  source <(robocensus completion bash)
  robocensus completion zsh > "${fpath[1]}/_robocensus"
  robocensus completion fish > ~/.config/fish/completions/robocensus.fish`

var shells = []string{"bash", "zsh", "fish"}

func completionCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "Print a completion script for a shell", Long: completionHelp,
		Example:   completionExamples,
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				remark := ""
				if len(args) > 0 {
					remark = flags.Suggest(args[0], shells)
				}
				return cli.Usagef("name one shell: bash, zsh or fish%s", remark)
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
