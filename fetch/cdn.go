package fetch

import (
	"fmt"
	"strings"
)

// A CDN is a mark of a network that delivers answers for others: a header that it adds.
type CDN struct {
	Name   string `yaml:"cdn"`
	Header string // its name
	Value  string // text within its values, in any case; "" for any value
	Source string // where the header is documented, or was observed
}

// Validate returns why the mark is none, nil if it is.
func (c *CDN) Validate() error {
	switch {
	case !IsCDN(c.Name):
		return fmt.Errorf("the name %q of a CDN is not of at most 40 lower-case letters, digits and -", c.Name)
	case c.Header == "":
		return fmt.Errorf("a mark of %s names no header", c.Name)
	case c.Source == "":
		return fmt.Errorf("a mark of %s names no source", c.Name)
	}
	return nil
}

// IsCDN reports whether a text can be the name of a network.
func IsCDN(name string) bool {
	return name != "" && len(name) <= 40 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// CDNs are marks of networks. The first that an answer has decides.
type CDNs []CDN

// Names returns the names of the networks, each once.
func (all CDNs) Names() (names []string) {
	known := make(map[string]bool)
	for i := range all {
		if name := all[i].Name; !known[name] {
			known[name] = true
			names = append(names, name)
		}
	}
	return names
}

// Find returns the network that an answer names, "" for none. header returns the values of
// a header.
func (all CDNs) Find(header func(name string) []string) string {
	for i := range all {
		for _, value := range header(all[i].Header) {
			if all[i].Value == "" || strings.Contains(strings.ToLower(value), strings.ToLower(all[i].Value)) {
				return all[i].Name
			}
		}
	}
	return ""
}
