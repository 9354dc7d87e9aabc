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
	for _, node := range nodes {
		var entry struct {
			Vendor string   `yaml:"vendor"`
			Status []int    `yaml:"status"`
			Header string   `yaml:"header"`
			Value  string   `yaml:"value"`
			Body   []string `yaml:"body"`
			Source string   `yaml:"source"`
		}
		if err := userfile.CheckKeys(path, node, "vendor", "status", "header", "value", "body", "source"); err != nil {
			return nil, err
		}
		if err := userfile.Decode(path, node, &entry); err != nil {
			return nil, err
		}
		c := answer.Challenge{Vendor: entry.Vendor, Statuses: entry.Status, Header: entry.Header, Value: entry.Value, Body: entry.Body, Source: entry.Source}
		if err := c.Validate(); err != nil {
			return nil, &userfile.Error{Path: path, Line: int64(node.Line), Err: err}
		}
		out = append(out, c)
	}
	return out, nil
}
