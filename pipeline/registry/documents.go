package registry

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch/documents"
)

// ParseDocuments parses a list of documents in YAML, and adds it to one: an entry with a
// name of that list replaces it. An unknown key or kind, and two entries of one name, are
// errors with their line.
func ParseDocuments(path string, text []byte, to documents.List) (documents.List, error) {
	nodes, err := userfile.List(path, text, "document")
	if err != nil {
		return nil, err
	}
	out := slices.Clone(to)
	lines := make(map[string]int)
	type entry struct {
		documents.Document `yaml:",inline"`
		Source             string `yaml:"source"`
	}
	err = userfile.Each(path, nodes, func(entry *entry, line int) error {
		d := entry.Document
		d.Redirects = cmp.Or(d.Redirects, documents.WithinDomain)
		if err := d.Validate(); err != nil {
			return err
		}
		if lines[d.Name] > 0 {
			return fmt.Errorf("document %s is already in line %d", d.Name, lines[d.Name])
		}
		lines[d.Name] = line
		if i := slices.IndexFunc(out, func(other documents.Document) bool { return other.Name == d.Name }); i >= 0 {
			out[i] = d
		} else if out = append(out, d); len(out) > documents.MaxDocuments {
			return fmt.Errorf("more than %d documents: each is one more request to every host", documents.MaxDocuments)
		}
		return nil
	})
	return out, err
}
