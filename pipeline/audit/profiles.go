package audit

import (
	"encoding/json"
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// profileOf returns the profile of a run with a name: a built-in one, or one that
// the run's configuration defines.
func profileOf(m *sink.Manifest, name string) (*robots.Profile, error) {
	if p, ok := robots.ProfileNamed(name); ok {
		return p, nil
	}
	own, ok := ownProfile(m, name)
	if !ok {
		return nil, fmt.Errorf("run %s does not say what profile %s is", m.Run, name)
	}
	base := robots.ProfileNames()[0]
	if b, ok := own["base"].(string); ok {
		base = b
	}
	p, ok := robots.ProfileNamed(base)
	if !ok {
		return nil, fmt.Errorf("run %s bases profile %s on %q, which this program does not know", m.Run, name, base)
	}
	text, err := json.Marshal(own) // JSON is YAML
	if err == nil {
		err = yaml.Unmarshal(text, p)
	}
	p.Name = name
	if err == nil {
		err = p.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: profile %s: %w", m.Run, name, err)
	}
	return p, nil
}

// ownProfile returns the definition of a profile in the configuration of a run.
func ownProfile(m *sink.Manifest, name string) (map[string]any, bool) {
	all, _ := m.Configuration["profiles"].(map[string]any)
	own, ok := all[name].(map[string]any)
	return own, ok
}

// withoutLimit returns a copy of a profile that reads files of any size.
func withoutLimit(p *robots.Profile) *robots.Profile {
	roomy := *p
	roomy.SizeLimit = math.MaxInt
	return &roomy
}
