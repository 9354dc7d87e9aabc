package registry

import (
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/robots/template"
)

// ParseTemplates parses a list of templates in YAML. An unknown key or kind, and an entry
// without a signature, are errors with their line.
func ParseTemplates(path string, text []byte) ([]template.Template, error) {
	nodes, err := userfile.List(path, text, "template")
	if err != nil {
		return nil, err
	}
	var out []template.Template
	type entry struct {
		ID        string   `yaml:"id"`
		Kind      string   `yaml:"kind"`
		Version   string   `yaml:"version"`
		Begin     string   `yaml:"begin"`
		End       string   `yaml:"end"`
		Line      string   `yaml:"line"`
		Comment   string   `yaml:"comment"`
		Has       string   `yaml:"has"`
		Digest    string   `yaml:"digest"`
		Agent     string   `yaml:"agent"`
		Disallows []string `yaml:"disallows"`
	}
	err = userfile.Each(path, nodes, func(entry *entry, _ int) error {
		t := template.Template(*entry)
		if err := t.Validate(); err != nil {
			return err
		}
		out = append(out, t)
		return nil
	})
	return out, err
}
