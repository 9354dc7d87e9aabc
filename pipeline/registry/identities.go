package registry

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/sink/schema"
)

// ParseIdentities parses a list of further identities in YAML. An entry without a user
// agent repeats ours, the control. Unless an entry says `contact: false`, its requests
// name the contact that ours names: a mail address in the header From, a URL behind the
// user agent. An unknown key, an agent that the registry lacks, and what cannot stand in a
// request are errors with their line.
func ParseIdentities(path string, text []byte, ours string, agents []schema.Agent) ([]fetch.Identity, error) {
	nodes, err := userfile.List(path, text, "identity")
	if err != nil {
		return nil, err
	}
	var out []fetch.Identity
	lines := make(map[string]int)
	type entry struct {
		Name      string    `yaml:"name"`
		UserAgent string    `yaml:"user_agent"`
		Agent     string    `yaml:"agent"`
		Contact   *bool     `yaml:"contact"`
		Headers   yaml.Node `yaml:"headers"`
	}
	err = userfile.Each(path, nodes, func(entry *entry, line int) error {
		i := fetch.Identity{Name: entry.Name, UserAgent: entry.UserAgent, Agent: entry.Agent}
		if i.Headers, err = headersOf(path, &entry.Headers); err != nil {
			return err
		}
		if i.UserAgent == "" {
			i.UserAgent, i.IsControl = ours, true
		} else if entry.Contact == nil || *entry.Contact {
			keepContact(&i, ours)
		}
		if err := i.Validate(); err != nil {
			return err
		}
		if first, ok := lines[i.Name]; ok {
			return fmt.Errorf("identity %q is already in line %d", i.Name, first)
		}
		lines[i.Name] = line
		if i.Agent != "" && !slices.ContainsFunc(agents, func(a schema.Agent) bool { return a.Name == i.Agent }) {
			return fmt.Errorf("identity %s: the registry has no agent %q; give its name there, or leave agent out to "+
				"compare for an agent that no group names", i.Name, i.Agent)
		}
		if out = append(out, i); len(out) > fetch.MaxIdentities {
			return fmt.Errorf("more than %d identities: each is one more request to every host", fetch.MaxIdentities)
		}
		return nil
	})
	return out, err
}

// headersOf returns the headers of an entry, in their order.
func headersOf(path string, node *yaml.Node) (headers []fetch.Header, err error) {
	if node.IsZero() {
		return nil, nil
	}
	if node.Kind != yaml.MappingNode {
		return nil, &userfile.Error{Path: path, Line: int64(node.Line), Err: fmt.Errorf("expected `headers: {Name: value}`")}
	}
	for key, value := range userfile.Pairs(node) {
		h := fetch.Header{Name: key.Value}
		if err := userfile.Decode(path, value, &h.Value); err != nil {
			return nil, err
		}
		headers = append(headers, h)
	}
	return headers, nil
}

var (
	mailContact = regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+`)
	linkContact = regexp.MustCompile(`https?://[^\s;,()<>"]+`)
)

// keepContact names in an identity's requests the contact that our user agent names, if
// it names one: somebody who reads a server's log must be able to ask who we are.
func keepContact(i *fetch.Identity, ours string) {
	switch link, mail := linkContact.FindString(ours), mailContact.FindString(ours); {
	case link != "" && !strings.Contains(i.UserAgent, link):
		i.UserAgent += " (+" + link + ")"
	case link == "" && mail != "" &&
		!slices.ContainsFunc(i.Headers, func(h fetch.Header) bool { return strings.EqualFold(h.Name, "From") }):
		i.Headers = append(i.Headers, fetch.Header{Name: "From", Value: mail})
	}
}
