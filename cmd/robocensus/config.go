package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/pipeline"
)

// applyConfig sets the flags that the configuration file names and the
// command line does not. An unknown key is an error with its line.
func applyConfig(set *pflag.FlagSet, path string) error {
	text, err := readInput(path)
	if err != nil {
		return err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return pipeline.YAMLError(path, err)
	}
	if len(document.Content) == 0 {
		return nil // an empty file sets nothing
	}
	root := document.Content[0]
	fail := func(node *yaml.Node, format string, args ...any) error {
		return &pipeline.InputError{Path: path, Line: int64(node.Line), Err: fmt.Errorf(format, args...)}
	}
	if root.Kind != yaml.MappingNode {
		return fail(root, "expected `flag: value` pairs, such as `hosts: hosts.csv`")
	}
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		flag := set.Lookup(key.Value)
		if flag == nil || key.Value == "config" || key.Value == "help" {
			return fail(key, "unknown key %q; the keys are the names of the flags", key.Value)
		}
		if flag.Changed {
			continue
		}
		if err := setFlag(set, flag, value); err != nil {
			return fail(value, "%s: %w", key.Value, err)
		}
	}
	return nil
}

func setFlag(set *pflag.FlagSet, flag *pflag.Flag, value *yaml.Node) error {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		var items []string
		if value.Kind == yaml.ScalarNode {
			return set.Set(flag.Name, value.Value)
		}
		if err := value.Decode(&items); err != nil {
			return errors.New("expected a list of words")
		}
		flag.Changed = true
		return list.Replace(items)
	}
	if value.Kind != yaml.ScalarNode {
		return errors.New("expected one value")
	}
	return set.Set(flag.Name, value.Value)
}
