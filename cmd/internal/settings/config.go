package settings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// ApplyConfig sets the flags that the configuration file names and the command line
// does not, and reads its sections profiles and uses. A key that is not a flag of run is
// an error with its line; flags that this command does not have are skipped.
func (f *Shared) ApplyConfig(ctx context.Context) (err error) {
	if f.Labels, err = registry.ParseUses("built-in uses.yaml", configs.Uses, nil); err != nil || f.ConfigFile == "" {
		return err
	}
	text, err := cli.ReadInput(ctx, f.ConfigFile)
	if err != nil {
		return err
	}
	path := remote.Name(f.ConfigFile)
	input := cli.InputOf("configuration", path, text, 0)
	f.ConfigInput = &input
	root, err := userfile.Parse(path, text)
	if err != nil {
		return err
	}
	if root == nil {
		return nil // an empty file sets nothing
	}
	if root.Kind != yaml.MappingNode {
		return configError(path, root, "expected `flag: value` pairs, such as `hosts: hosts.csv`")
	}
	f.FromFile = make(map[string]int64)
	seen := make(map[string]bool)
	for key, value := range userfile.Pairs(root) {
		if seen[key.Value] {
			return configError(path, key, "key %q is given twice", key.Value)
		}
		seen[key.Value] = true
		if key.Value == "profiles" {
			if f.Own, err = readOwnProfiles(path, value); err != nil {
				return err
			}
			if err := userfile.Decode(path, value, &f.OwnAsWritten); err != nil {
				return err
			}
			continue
		}
		if key.Value == "uses" {
			if value.Kind != yaml.SequenceNode {
				return configError(path, value,
					"expected a list of labels, as in `- {mechanism: content-usage, label: …, use: ai-train}`")
			}
			if f.Labels, err = registry.ReadUses(path, value.Content, f.Labels); err != nil {
				return err
			}
			if err := userfile.Decode(path, value, &f.LabelsAsWritten); err != nil {
				return err
			}
			continue
		}
		if !isFlagOfRun(key.Value) || key.Value == "config" {
			return configError(path, key, "unknown key %q; the keys are the names of the flags, profiles, and uses", key.Value)
		}
		flag := f.Set.Lookup(key.Value)
		if flag == nil || flag.Changed {
			continue
		}
		if err := setFlag(f.Set, flag, value); err != nil {
			return configError(path, value, "%s: %w", key.Value, err)
		}
		f.FromFile[key.Value] = int64(key.Line)
	}
	return nil
}

var flagsNamed = regexp.MustCompile(`^--([a-z-]+)(?: and --([a-z-]+) exclude)?`)

// InFile returns an error that begins with a flag, or with two that exclude each other, as one
// of the line of the configuration file that has set it.
func (f *Shared) InFile(err error) error {
	usage, ok := err.(cli.UsageError)
	if !ok {
		return err
	}
	for _, flag := range flagsNamed.FindStringSubmatch(err.Error()) {
		if line := f.FromFile[flag]; line > 0 {
			return &userfile.Error{Path: remote.Name(f.ConfigFile), Line: line, Err: usage.Err}
		}
	}
	return err
}

func configError(path string, node *yaml.Node, format string, args ...any) error {
	return &userfile.Error{Path: path, Line: int64(node.Line), Err: fmt.Errorf(format, args...)}
}

// readOwnProfiles reads the user's profiles: for each name, a base and the fields
// that differ from it.
func readOwnProfiles(path string, section *yaml.Node) (map[string]*robots.Profile, error) {
	if section.Kind != yaml.MappingNode {
		return nil, configError(path, section, "expected `name: {base: google, ...}`")
	}
	out := make(map[string]*robots.Profile)
	for name, fields := range userfile.Pairs(section) {
		if strings.ContainsAny(name.Value, ", \t") {
			return nil, configError(path, name, "a profile's name cannot hold a comma or a space")
		}
		if _, ok := robots.ProfileNamed(name.Value); ok || out[name.Value] != nil || name.Value == "" {
			return nil, configError(path, name, "the name %q is taken; choose another", name.Value)
		}
		p, err := readOwnProfile(path, name.Value, fields)
		if err != nil {
			return nil, err
		}
		out[name.Value] = p
	}
	return out, nil
}

func readOwnProfile(path, name string, fields *yaml.Node) (*robots.Profile, error) {
	if fields.Kind != yaml.MappingNode {
		return nil, configError(path, fields, "profile %s: expected `base: google` and the fields that differ", name)
	}
	fields, err := withoutGroups(path, name, fields)
	if err != nil {
		return nil, err
	}
	base := "google"
	for key, value := range userfile.Pairs(fields) {
		if key.Value == "base" {
			if base = value.Value; value.Kind != yaml.ScalarNode {
				return nil, configError(path, value, "profile %s: base: expected a word, got %s", name, userfile.Found(value))
			}
		}
	}
	from, ok := robots.ProfileNamed(base)
	if !ok {
		return nil, configError(path, fields, "profile %s: no base %q; use one of %s", name, base,
			strings.Join(slices.Concat(robots.ProfileNames(), robots.ProgramNames()), ", "))
	}
	p := *from
	lines := make(map[string]*yaml.Node)
	for field, value := range userfile.Pairs(fields) {
		if lines[field.Value] != nil {
			return nil, configError(path, field, "profile %s: field %q stands twice, in its group and outside; remove one",
				name, field.Value)
		}
		lines[field.Value] = field
		one := *fields // a field at a time, so that an error names it
		one.Content = []*yaml.Node{field, value}
		var input *userfile.Error
		if err := userfile.Decode(path, &one, &p); errors.As(err, &input) {
			input.Err = fmt.Errorf("profile %s: %s: %w", name, field.Value, input.Err)
			input.Line = cmp.Or(input.Line, int64(field.Line))
			return nil, input
		} else if err != nil {
			return nil, err
		}
	}
	p.Name = name
	if err := p.Validate(); err != nil {
		field, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "profile "+name+": "), ":")
		return nil, configError(path, cmp.Or(lines[field], fields), "%w", err)
	}
	for i, s := range p.ServerErrorStages {
		// Stages of the base may begin too late: a shorter limit leaves them out.
		if field := lines["server_error_stages"]; field != nil && s.After >= p.UnreachableLimit {
			return nil, configError(path, field, "profile %s: server_error_stages: stage %d is after %v and never begins: "+
				"unreachable_limit is %v", name, i+1, s.After, p.UnreachableLimit)
		}
	}
	return &p, nil
}

// withoutGroups returns the fields of a profile as they stand outside their groups,
// after it has checked their names.
func withoutGroups(path, name string, fields *yaml.Node) (*yaml.Node, error) {
	groups, known := make(map[string][]string), []string{"base"} // names of fields
	profile := reflect.TypeFor[robots.Profile]()
	for i := range profile.NumField() {
		field := profile.Field(i)
		key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if key == "name" {
			continue
		}
		if field.Anonymous {
			groups[key] = userfile.Keys(field.Type)
			known = append(known, groups[key]...)
		}
		known = append(known, key)
	}
	check := func(key *yaml.Node, known []string) error {
		if !slices.Contains(known, key.Value) {
			return configError(path, key, "profile %s: unknown field %q; the fields are %s", name, key.Value,
				strings.Join(known, ", "))
		}
		return nil
	}
	out := *fields
	out.Content = nil
	for key, value := range userfile.Pairs(fields) {
		if err := check(key, known); err != nil {
			return nil, err
		}
		if groups[key.Value] == nil || value.Kind != yaml.MappingNode {
			out.Content = append(out.Content, key, value)
			continue
		}
		for inner := range userfile.Pairs(value) {
			if err := check(inner, groups[key.Value]); err != nil {
				return nil, err
			}
		}
		out.Content = append(out.Content, value.Content...)
	}
	return &out, nil
}

func setFlag(set *pflag.FlagSet, flag *pflag.Flag, value *yaml.Node) error {
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	if value.Tag == "!!null" {
		return errors.New("has no value")
	}
	if list, ok := flag.Value.(pflag.SliceValue); ok && value.Kind != yaml.ScalarNode {
		var items []string
		if err := value.Decode(&items); err != nil {
			got := userfile.Found(value)
			if value.Kind == yaml.SequenceNode {
				got = "one that holds other things"
			}
			return fmt.Errorf("expected a list of words, got %s", got)
		}
		flag.Changed = true
		return list.Replace(items)
	}
	if value.Kind != yaml.ScalarNode {
		return fmt.Errorf("expected %s, got %s", cmp.Or(flags.Kind(flag), "one value"), userfile.Found(value))
	}
	err := set.Set(flag.Name, value.Value)
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return fmt.Errorf("%w, got %q", flags.Wanted(invalid), value.Value)
	}
	return err
}
