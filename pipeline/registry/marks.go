package registry

import (
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/template"
)

// ParseTemplates parses a list of templates in YAML. An unknown key or kind, and an entry
// without a signature, are errors with their line.
func ParseTemplates(path string, text []byte) ([]template.Template, error) {
	return parse[template.Template](path, text, "template")
}

// ParseChallenges parses a list of marks of walls in YAML. An unknown key or vendor, and
// an entry without a mark or a source, are errors with their line.
func ParseChallenges(path string, text []byte) (answer.Challenges, error) {
	return parse[answer.Challenge](path, text, "mark")
}

// ParseCDNs parses a list of marks of networks in YAML. An unknown key, and an entry without
// a name, a header or a source, are errors with their line.
func ParseCDNs(path string, text []byte) (fetch.CDNs, error) {
	return parse[fetch.CDN](path, text, "mark")
}

// parse parses a list whose entries are all that T says.
func parse[T any, P interface {
	*T
	Validate() error
}](path string, text []byte, kind string) (out []T, err error) {
	nodes, err := userfile.List(path, text, kind)
	if err != nil {
		return nil, err
	}
	err = userfile.Each(path, nodes, func(entry *T, _ int) error {
		out = append(out, *entry)
		return P(entry).Validate()
	})
	return out, err
}
