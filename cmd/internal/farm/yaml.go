package farm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/configs/userfile"
)

// parser reads the values of a faults file from YAML nodes. Its errors begin
// with the file and the line.
type parser struct{ name string }

func (p *parser) errorf(at *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", p.name, at.Line, fmt.Errorf(format, args...))
}

// syntax adds a hint to an error of package userfile.
func (p *parser) syntax(err error) error {
	if text := err.Error(); strings.Contains(text, "anchor") || strings.Contains(text, "alphabetic") {
		return fmt.Errorf("%w (quote names that begin with an asterisk)", err)
	}
	return err
}

// pairs calls do with each key of a map and its value, in order. A key that
// occurs twice is an error.
func (p *parser) pairs(n *yaml.Node, do func(key, value *yaml.Node) error) error {
	n = follow(n)
	if n.Kind != yaml.MappingNode {
		return p.errorf(n, "want a map of keys and values")
	}
	seen := map[string]bool{}
	for key, value := range userfile.Pairs(n) {
		key, value = follow(key), follow(value)
		if key.Kind != yaml.ScalarNode {
			return p.errorf(key, "a key must be a plain word")
		}
		if seen[key.Value] {
			return p.errorf(key, "duplicate key %q; make its value a list of alternatives", key.Value)
		}
		seen[key.Value] = true
		if err := do(key, value); err != nil {
			return err
		}
	}
	return nil
}

// follow resolves an alias.
func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// list returns the values of a list, or one value as a list of it.
func list(v *yaml.Node) []*yaml.Node {
	if v.Kind == yaml.SequenceNode {
		return v.Content
	}
	return []*yaml.Node{v}
}

func (p *parser) schemes(v *yaml.Node) (on [2]bool, err error) {
	for _, n := range list(v) {
		switch follow(n).Value {
		case "http":
			on[overHTTP] = true
		case "https":
			on[overHTTPS] = true
		default:
			return on, p.errorf(n, "want http or https")
		}
	}
	return on, nil
}

func (p *parser) share(v *yaml.Node) (float64, error) {
	number, percent := strings.CutSuffix(v.Value, "%")
	share, err := strconv.ParseFloat(number, 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share > 0 && share <= 1) {
		return 0, p.errorf(v, "share %q: want a share of the hosts such as 10%%", v.Value)
	}
	return share, nil
}

func (p *parser) text(v *yaml.Node) (*string, error) {
	if v.Kind != yaml.ScalarNode {
		return nil, p.errorf(v, "want text")
	}
	return &v.Value, nil
}

func (p *parser) oneOf(to *string, v *yaml.Node, allowed ...string) error {
	if v.Kind != yaml.ScalarNode || !slices.Contains(allowed, v.Value) {
		return p.errorf(v, "want one of %s", strings.Join(allowed, ", "))
	}
	*to = v.Value
	return nil
}

func (p *parser) yes(v *yaml.Node) (on bool, err error) {
	if v.Decode(&on) != nil {
		return false, p.errorf(v, "want true or false")
	}
	return on, nil
}

func (p *parser) number(v *yaml.Node, low, high int) (int, error) {
	n, err := strconv.Atoi(v.Value)
	if v.Kind != yaml.ScalarNode || err != nil || n < low || n > high {
		return 0, p.errorf(v, "want a number from %d to %d", low, high)
	}
	return n, nil
}

// numbers reads a number or a list of them.
func (p *parser) numbers(v *yaml.Node, low, high int) ([]int, error) {
	var out []int
	for _, n := range list(v) {
		i, err := p.number(follow(n), low, high)
		if err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	return out, nil
}

func (p *parser) duration(to *time.Duration, v *yaml.Node) (err error) {
	if *to, err = parseDuration(v.Value); err != nil {
		return p.errorf(v, "%w", err)
	}
	return nil
}

func (p *parser) size(v *yaml.Node, most int) (int, error) {
	units := []struct {
		suffix string
		bytes  float64
	}{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
		{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1},
	}
	for _, u := range units {
		if number, found := strings.CutSuffix(v.Value, u.suffix); found {
			n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil || !(n >= 0 && n*u.bytes <= float64(most)) {
				break
			}
			return int(n * u.bytes), nil
		}
	}
	return 0, p.errorf(v, "%q: want a size such as 512000, 500KiB or 10MB, of at most %d bytes", v.Value, most)
}
