package past

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// Profile returns a profile of a run as it was when the run was made: by the fields
// that the run records. Only for a run that records none is it the built-in profile of
// that name, or the one that the run's configuration derives from a built-in one.
func Profile(m *journal.Manifest, name string) (*robots.Profile, error) {
	if fields, ok := m.ProfileFields[name]; ok {
		p, err := Recorded(name, fields)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", m.Run, err)
		}
		return p, nil
	}
	if p, ok := robots.ProfileNamed(name); ok {
		return p, nil
	}
	all, _ := m.Configuration["profiles"].(map[string]any)
	own, ok := all[name].(map[string]any)
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

// Face returns the name of the profile whose reading the tables of content show.
func Face(m *journal.Manifest) string {
	if name := m.FirstProfile(); name != robots.Own {
		return name
	}
	return robots.DefaultReader
}

// JudgedBy returns the profile that judges an agent under a profile of a run: under own,
// the one that the run's registry names.
func JudgedBy(m *journal.Manifest, p *robots.Profile, agent *schema.Agent) (*robots.Profile, error) {
	if !p.ByAgent {
		return p, nil
	}
	return Profile(m, registry.Reader(agent))
}

// Recorded returns the profile that has recorded fields, by their names in a
// configuration file. A field that this program does not know is an error, because it
// may decide. One that is missing is off: the program that made the record did not have
// it.
func Recorded(name string, fields map[string]any) (*robots.Profile, error) {
	text, err := yaml.Marshal(fields)
	p := new(robots.Profile)
	if err == nil {
		d := yaml.NewDecoder(bytes.NewReader(text))
		d.KnownFields(true)
		err = d.Decode(p)
	}
	if err == nil {
		p.Name = name
		err = p.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", name, err)
	}
	return p, nil
}

// isOff reports whether a recorded field is off, as one is that the record lacks (see
// [Recorded]).
func isOff(value any) bool {
	list, ok := value.([]any)
	return value == nil || value == false || value == 0.0 || value == "" || value == "0s" || ok && len(list) == 0
}

// fieldsOf returns the recorded fields of a profile without their groups, or nil if
// there is no record. Older runs record no groups (see [robots.Profile.UnmarshalYAML]).
func fieldsOf(recorded map[string]any) map[string]any {
	if recorded == nil {
		return nil
	}
	fields := make(map[string]any)
	for name, value := range recorded {
		group, ok := value.(map[string]any)
		switch {
		case ok:
			maps.Copy(fields, group)
		case name == "lines":
			fields["reading"] = value
		default:
			fields[name] = value
		}
	}
	return fields
}
