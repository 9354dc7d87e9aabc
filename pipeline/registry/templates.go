package registry

import (
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/robots"
)

// ParseTemplates parses a list of templates in YAML. An unknown key or kind, and an entry
// without a signature, are errors with their line.
func ParseTemplates(path string, text []byte) ([]robots.Template, error) {
	nodes, err := userfile.List(path, text, "template")
	if err != nil {
		return nil, err
	}
	type entry struct {
		ID        string   `yaml:"id"`
		Kind      string   `yaml:"kind"`
		Version   string   `yaml:"version"`
		Begin     string   `yaml:"begin"`
		End       string   `yaml:"end"`
		Line      string   `yaml:"line"`
		Has       string   `yaml:"has"`
		Digest    string   `yaml:"digest"`
		Agent     string   `yaml:"agent"`
		Disallows []string `yaml:"disallows"`
	}
	var out []robots.Template
	err = userfile.Each(path, nodes, func(e *entry, _ int) error {
		t := robots.Template(*e)
		out = append(out, t)
		return t.Validate()
	})
	return out, err
}
