package registry

import (
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
)

// ParseCDNs parses a list of marks of networks in YAML. An unknown key, and an entry without
// a name, a header or a source, are errors with their line.
func ParseCDNs(path string, text []byte) (fetch.CDNs, error) {
	nodes, err := userfile.List(path, text, "mark")
	if err != nil {
		return nil, err
	}
	var out fetch.CDNs
	type entry struct {
		CDN    string `yaml:"cdn"`
		Header string `yaml:"header"`
		Value  string `yaml:"value"`
		Source string `yaml:"source"`
	}
	err = userfile.Each(path, nodes, func(entry *entry, _ int) error {
		c := fetch.CDN{Name: entry.CDN, Header: entry.Header, Value: entry.Value, Source: entry.Source}
		if err := c.Validate(); err != nil {
			return err
		}
		out = append(out, c)
		return nil
	})
	return out, err
}
