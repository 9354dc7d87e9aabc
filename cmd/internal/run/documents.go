package run

import (
	"context"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// allDocuments is the value of --documents without names.
const allDocuments = "all"

// readDocuments reads the documents that hosts may be asked for, and asks for those of
// --documents. Stored answers are read by the same list.
func (f *Flags) readDocuments(ctx context.Context, c *pipeline.Config) (err error) {
	const builtIn = "built-in documents.yaml"
	list, err := registry.ParseDocuments(builtIn, configs.Documents, nil)
	if err != nil {
		return err
	}
	path, text := builtIn, configs.Documents
	if f.documentList != "" {
		if text, err = cli.ReadInput(ctx, f.documentList); err != nil {
			return err
		}
		path = remote.Name(f.documentList)
		if list, err = registry.ParseDocuments(path, text, list); err != nil {
			return err
		}
	}
	c.Evaluate.Documents = list
	if !f.Set.Changed("documents") {
		return nil
	}
	names := f.documents
	if len(names) == 1 && names[0] == allDocuments {
		names = nil
	} else if len(names) == 0 {
		return cli.Usagef("--documents= names none: leave the value out for all")
	}
	selected, err := list.Select(names)
	if err != nil {
		return cli.Usagef("--documents: %w", err)
	}
	c.Inputs = append(c.Inputs, cli.InputOf("documents", path, text, len(list)))
	c.Fetch.Further = append(c.Fetch.Further, selected.Plan())
	f.asked = selected
	return nil
}
