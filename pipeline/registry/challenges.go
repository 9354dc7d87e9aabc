package registry

import (
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/robots"
)

// ParseChallenges parses a list of marks of walls in YAML. An unknown key or vendor, and
// an entry without a mark or a source, are errors with their line.
func ParseChallenges(path string, text []byte) (robots.Challenges, error) {
	nodes, err := userfile.List(path, text, "mark")
	if err != nil {
		return nil, err
	}
	type entry struct {
		Vendor string   `yaml:"vendor"`
		Status []int    `yaml:"status"`
		Header string   `yaml:"header"`
		Value  string   `yaml:"value"`
		Body   []string `yaml:"body"`
		Source string   `yaml:"source"`
	}
	var out robots.Challenges
	err = userfile.Each(path, nodes, func(e *entry, _ int) error {
		c := robots.Challenge{Vendor: e.Vendor, Statuses: e.Status, Header: e.Header, Value: e.Value, Body: e.Body, Source: e.Source}
		out = append(out, c)
		return c.Validate()
	})
	return out, err
}
