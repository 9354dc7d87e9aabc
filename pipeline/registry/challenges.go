package registry

import (
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/robots/answer"
)

// ParseChallenges parses a list of marks of walls in YAML. An unknown key or vendor, and
// an entry without a mark or a source, are errors with their line.
func ParseChallenges(path string, text []byte) (answer.Challenges, error) {
	nodes, err := userfile.List(path, text, "mark")
	if err != nil {
		return nil, err
	}
	var out answer.Challenges
	type entry struct {
		Vendor string   `yaml:"vendor"`
		Status []int    `yaml:"status"`
		Header string   `yaml:"header"`
		Value  string   `yaml:"value"`
		Body   []string `yaml:"body"`
		Source string   `yaml:"source"`
	}
	err = userfile.Each(path, nodes, func(entry *entry, _ int) error {
		c := answer.Challenge{Vendor: entry.Vendor, Statuses: entry.Status, Header: entry.Header, Value: entry.Value,
			Body: entry.Body, Source: entry.Source}
		if err := c.Validate(); err != nil {
			return err
		}
		out = append(out, c)
		return nil
	})
	return out, err
}
