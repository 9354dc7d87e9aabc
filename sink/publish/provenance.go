package publish

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// provenance says how the tables of a data set came about.
type provenance struct {
	Tool        string            `json:"tool"`
	ToolVersion string            `json:"tool_version"` // of the program that published
	Build       map[string]string `json:"build"`        // of that program
	HostsHashed bool              `json:"hosts_hashed"`
	Without     []string          `json:"without"` // columns that the tables lack
	Metadata    Metadata          `json:"words"`
	Runs        []*Run            `json:"runs"`
}

// Run says how a run came about.
type Run struct {
	Run                 string                    `json:"run"`
	Date                time.Time                 `json:"date"`
	Started             time.Time                 `json:"started"`
	Finished            time.Time                 `json:"finished"`
	ToolVersion         string                    `json:"tool_version"`
	SchemaVersion       int                       `json:"schema_version"`
	ManifestSHA256      string                    `json:"manifest_sha256"` // of the run that was published
	Configuration       journal.Values            `json:"configuration"`   // paths are names of files only
	ConfigurationDigest string                    `json:"configuration_digest"`
	Adjustable          journal.Values            `json:"pace"`
	Inputs              []journal.Input           `json:"inputs"`
	Earlier             []journal.Choice          `json:"earlier,omitempty"` // see journal.Plan
	Profiles            []string                  `json:"profiles"`
	ProfileFields       map[string]map[string]any `json:"profile_fields"`
	// file of the registry; "" if it is not at hand
	Agents     string `json:"agents,omitempty"`
	URLSamples string `json:"url_samples,omitempty"` // file of the URL samples; "" if it is not at hand
	// file of labels about use; the configuration has others
	Uses          string           `json:"uses,omitempty"`
	Templates     string           `json:"templates,omitempty"`     // file of the program's templates
	OwnTemplates  string           `json:"own_templates,omitempty"` // file of the templates that come before these
	Tables        map[string]int64 `json:"tables"`                  // rows by table
	TablesLeftOut []string         `json:"tables_left_out,omitempty"`
	journal.Tally

	Texts []Document `json:"-"` // the files of judging
}

// fileOf returns the name of the file in which a data set has an input that judging takes,
// and the place for it in r; nil for other inputs.
func (r *Run) fileOf(in journal.Input) (name string, at *string) {
	switch in.Role {
	case "agents":
		name, at = "agents.yaml", &r.Agents
	case "urls":
		name, at = "urls.txt", &r.URLSamples
	case "uses":
		name, at = "uses.yaml", &r.Uses
	case "templates":
		name, at = "templates.yaml", &r.Templates
		if !isBuiltIn(in) {
			name, at = "own-templates.yaml", &r.OwnTemplates
		}
	default:
		return "", nil
	}
	return layout.RunFile(r.Run, name), at
}

// lacksInput reports whether an input that judging takes is not in the data set.
func (r *Run) lacksInput(in journal.Input) bool {
	_, at := r.fileOf(in)
	return at != nil && *at == ""
}

// Lacks reports whether the data set lacks a file that judging the answers again takes:
// agents, URL samples, labels about use, templates. A run may be older than the last two.
func (r *Run) Lacks() bool {
	return r.Agents == "" || r.URLSamples == "" || slices.ContainsFunc(r.Inputs, r.lacksInput)
}

func provenanceOf(w Metadata, toolVersion string, s selection) provenance {
	build := make(map[string]string)
	if info, ok := debug.ReadBuildInfo(); ok {
		build["go"] = info.GoVersion
		for _, setting := range info.Settings {
			switch setting.Key {
			case "GOOS", "GOARCH", "CGO_ENABLED", "vcs.revision", "vcs.time", "vcs.modified":
				build[setting.Key] = setting.Value
			}
		}
	}
	return provenance{Tool: "robocensus", ToolVersion: toolVersion, Build: build, HostsHashed: s.Hash,
		Without: append([]string{}, s.names()...), Metadata: w}
}

// add adds a run. text returns the text of an input that judging takes, which the data set
// has in a file of that name, nil if it is not at hand.
func (p *provenance) add(s selection, m *journal.Manifest, text func(name string, in journal.Input) []byte) *Run {
	r := &Run{
		Run: m.Run, Date: m.Date, Started: m.Started, Finished: *m.Finished, ToolVersion: m.ToolVersion,
		SchemaVersion:  m.SchemaVersion,
		ManifestSHA256: m.Digest(), Configuration: published(m.Configuration, s.Hash),
		ConfigurationDigest: m.ConfigurationDigest,
		Adjustable:          published(m.Adjustable, s.Hash), Profiles: m.Profiles, ProfileFields: m.ProfileFields,
		Tables: make(map[string]int64), Tally: m.Tally,
	}
	for _, in := range m.Inputs {
		if name, at := r.fileOf(in); at != nil {
			namesHosts := func(content []byte) bool { return in.Role == "urls" && bytes.Contains(content, []byte("://")) }
			if content := text(name, in); content != nil && !(s.Hash && namesHosts(content)) {
				*at = name
				r.Texts = append(r.Texts, Document{name, content})
			}
		}
		r.Inputs = append(r.Inputs, nameless(in, s.Hash))
	}
	for _, choice := range m.Earlier {
		choice.Inputs = slices.Clone(choice.Inputs)
		for i, in := range choice.Inputs {
			choice.Inputs[i] = nameless(in, s.Hash)
		}
		r.Earlier = append(r.Earlier, choice)
	}
	for _, table := range m.Tables {
		if !s.has(table) {
			r.TablesLeftOut = append(r.TablesLeftOut, table)
			continue
		}
		r.Tables[table] = 0
		for _, part := range m.PartsOf(table) {
			r.Tables[table] += part.Rows
		}
	}
	p.Runs = append(p.Runs, r)
	return r
}

// nameless returns an input with the name of its file alone.
func nameless(in journal.Input, hidden bool) journal.Input {
	if in.Role != "run" && in.Path != journal.NamedHosts && !isBuiltIn(in) {
		in.Path = fileName(in.Path, in.Role, hidden)
	}
	return in
}

// isBuiltIn reports whether an input is a file of the program.
func isBuiltIn(in journal.Input) bool { return strings.HasPrefix(in.Path, "built-in ") }

// filesOfProgram are the files of the program, by role.
var filesOfProgram = map[string][]byte{"agents": configs.Agents, "urls": configs.URLs, "uses": configs.Uses,
	"templates": configs.Templates}

// textOf returns the bytes of an input, nil if they are not at hand or have changed. A
// data set that is published again has them itself, under a name.
func textOf(dir, name string, in journal.Input, builtIn []byte) []byte {
	if digestOf(builtIn) == in.SHA256 {
		return builtIn
	}
	for _, file := range []string{filepath.Join(dir, filepath.FromSlash(name)), in.Path} {
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if text, err := os.ReadFile(file); err == nil && digestOf(text) == in.SHA256 {
			return text
		}
	}
	return nil
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// fileName returns the last element of a path or URL, or the role of the file if its
// name may be that of a host. A URL may have a password in it, or a signature.
func fileName(name, role string, hidden bool) string {
	if hidden {
		return role
	}
	if _, rest, ok := strings.Cut(name, "://"); ok {
		u, err := url.Parse(name)
		if store.IsURL(name) || err != nil { // the name of an object has no escapes
			_, name, _ = strings.Cut(rest, "/")
			name, _, _ = strings.Cut(name, "?")
		} else {
			name = u.Path
		}
	}
	if base := path.Base(filepath.ToSlash(name)); base != "/" && base != "." {
		return base
	}
	return role
}

// isGiven reports whether a setting has a value, or had one when it was published first.
func isGiven(value any) bool { return value != nil && value != "" && value != false }

// published returns what a data set says of settings: nothing of the operator's network
// and machine.
func published(settings journal.Values, hidden bool) journal.Values {
	out := make(journal.Values)
	for name, value := range settings {
		setting, _ := journal.SettingNamed(name)
		switch setting.Published {
		case journal.NotPublished:
			continue
		case journal.ItsValue:
		case journal.ItsFileName:
			switch v := value.(type) {
			case string:
				if v != "" {
					value = fileName(v, name, hidden)
				}
			case []any:
				var names []any
				for _, one := range v {
					text, _ := one.(string)
					names = append(names, fileName(text, name, hidden))
				}
				value = names
			}
		case journal.ItsArchive:
			if base, _ := value.(string); base != "" {
				value = archiveName(base)
			}
		default:
			value = isGiven(value)
		}
		out[name] = value
	}
	return out
}

// manifest returns the manifest of the run as published.
func (r *Run) manifest(m *journal.Manifest, s selection) *journal.Manifest {
	out := *m
	out.Configuration, out.Adjustable, out.Inputs, out.Earlier = r.Configuration, r.Adjustable, r.Inputs, r.Earlier
	out.WARC = nil // not published
	if f := m.WARCFile; f != nil {
		out.WARCFile = &journal.WARCFile{Path: path.Base(filepath.ToSlash(f.Path)), Digest: f.Digest}
	}
	out.RejectedFile, out.Lists, out.Repeated, out.Records, out.Without = nil, nil, nil, []journal.RecordName{}, s.names()
	for _, of := range []struct {
		out *[]journal.Part
		in  []journal.Part
	}{{&out.RunParts, m.RunParts}, {&out.Parts, m.Parts}} {
		*of.out = slices.DeleteFunc(slices.Clone(of.in), func(p journal.Part) bool { return !s.has(p.Table) })
	}
	out.Tables = slices.DeleteFunc(slices.Clone(m.Tables), func(table string) bool { return !s.has(table) })
	return &out
}

// indented encodes a description. Keys of maps are sorted.
func indented(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("a description as JSON: " + err.Error()) // all are texts, numbers and flags
	}
	return out.Bytes()
}

// archiveName returns the name of an archive without a folder of this machine, and
// without what may be secret in a URL. Relative paths, as published lists of archives
// have them, stay.
func archiveName(name string) string {
	switch {
	case strings.Contains(name, "://"):
		return remote.Name(name)
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return path.Base(name)
	}
	return name
}
