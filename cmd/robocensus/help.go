package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
)

func init() { cobra.EnableCommandSorting = false }

// prepared gives all commands of a tree the same help and errors.
func prepared(root *cobra.Command) *cobra.Command {
	root.SilenceErrors, root.SilenceUsage, root.DisableFlagsInUseLine = true, true, true
	root.CompletionOptions.DisableDefaultCmd = true // completionCommand replaces it
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { showHelp(c) })
	root.SetFlagErrorFunc(func(c *cobra.Command,
		err error) error {
		return cli.UsageError{Err: flags.Explain(c.Flags(), err)}
	})
	for _, c := range root.Commands() {
		c.Flags().SortFlags, c.DisableFlagsInUseLine = false, true
	}
	return root
}

// helpWidth is the width of --help.
const helpWidth = 100

// showHelp prints the help of a command. mainCode reports a failed write.
func showHelp(c *cobra.Command) {
	out := c.OutOrStdout()
	fmt.Fprintf(out, "Usage: %s\n\n%s\n", c.UseLine(), c.Long)
	if c.Example != "" {
		fmt.Fprintf(out, "\nExamples:\n%s\n", c.Example)
	}
	for _, g := range c.Groups() {
		fmt.Fprintf(out, "\n%s:\n", g.Title)
		for _, sub := range c.Commands() {
			if sub.GroupID == g.ID {
				fmt.Fprintf(out, "  %-10s  %s\n", sub.Name(), sub.Short)
			}
		}
	}
	var headings []string
	sets := make(map[string]*pflag.FlagSet)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		heading := "Flags"
		if given := f.Annotations[cli.GroupKey]; given != nil {
			heading = given[0]
		}
		if sets[heading] == nil {
			headings = append(headings, heading)
			sets[heading] = pflag.NewFlagSet(heading, pflag.ContinueOnError)
			sets[heading].SortFlags = false
		}
		sets[heading].AddFlag(f)
	})
	for _, heading := range headings {
		if sets[heading].HasAvailableFlags() {
			fmt.Fprintf(out, "\n%s:\n%s", heading, flags.Usages(sets[heading], helpWidth))
		}
	}
	if c.HasSubCommands() {
		fmt.Fprintf(out, "\n%s COMMAND --help and %[1]s help COMMAND show the help of a command.\n", c.Name())
	}
}

// names returns the names of a command's subcommands.
func names(c *cobra.Command) (out []string) {
	for _, sub := range c.Commands() {
		out = append(out, sub.Name())
	}
	return out
}

func helpCommand(root *cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: "help [COMMAND]", Short: "Show the help of a command",
		Long: "Prints the same as COMMAND --help, and details where there are some.",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return names(root), cli.NoFiles
		},
		RunE: func(c *cobra.Command, args []string) error {
			about := root
			for _, name := range args {
				i := slices.Index(names(about), name)
				if i < 0 {
					return cli.Usagef("no command %q%s; see robocensus --help", strings.Join(args, " "),
						flags.Suggest(name, names(about)))
				}
				about = about.Commands()[i]
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			showHelp(about)
			if details := about.Annotations[cli.DetailsKey]; details != "" {
				fmt.Fprintf(about.OutOrStdout(), "\n%s\n", details)
			}
			return nil
		},
	}
	root.SetHelpCommand(c)
	return c
}
