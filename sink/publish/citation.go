package publish

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// citation is CITATION.cff, after the Citation File Format 1.2.0.
type citation struct {
	Version     string              `yaml:"cff-version"`
	Message     string              `yaml:"message"`
	Type        string              `yaml:"type"`
	Title       string              `yaml:"title"`
	Abstract    string              `yaml:"abstract"`
	Authors     []map[string]string `yaml:"authors"`
	Contact     []map[string]string `yaml:"contact,omitempty"`
	Keywords    []string            `yaml:"keywords"`
	DataVersion string              `yaml:"version"`
	Released    string              `yaml:"date-released"`
	Licence     string              `yaml:"license,omitempty"`
	LicenceURL  string              `yaml:"license-url,omitempty"`
	DOI         string              `yaml:"doi,omitempty"`
	URL         string              `yaml:"url,omitempty"`
}

func (p *dataSet) citation() []byte {
	w := p.Provenance.Metadata
	c := citation{
		Version: "1.2.0", Message: "If you use this data set, please cite it as below.", Type: "dataset", Title: w.Title,
		Abstract: w.Description,
		Keywords: w.Keywords, DataVersion: w.Version, Released: w.Date, DOI: w.DOI, URL: w.URL,
	}
	for _, name := range w.Creators {
		author, maker := citationAuthor(name), w.Makers[name]
		for key, text := range map[string]string{"orcid": maker.url(), "affiliation": maker.Affiliation} {
			// which the format gives persons alone
			if _, isOrganisation := author["name"]; text != "" && !(isOrganisation && key == "affiliation") {
				author[key] = text
			}
		}
		c.Authors = append(c.Authors, author)
	}
	if w.Contact != "" {
		contact := citationAuthor(w.Creators[0])
		if isMail(w.Contact) {
			contact["email"] = w.Contact
		} else {
			contact["website"] = w.Contact
		}
		c.Contact = []map[string]string{contact}
	}
	if licences[w.Licence] != "" {
		c.Licence = w.Licence
	} else {
		c.LicenceURL = w.Licence
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(c); err != nil {
		panic("CITATION.cff: " + err.Error()) // all are texts
	}
	return out.Bytes()
}

func citationAuthor(name string) map[string]string {
	if family, given, ok := person(name); ok {
		return map[string]string{"family-names": family, "given-names": given}
	}
	return map[string]string{"name": name}
}

// tex escapes text for BibTeX, which counts braces, even those after a backslash.
var tex = strings.NewReplacer("{", `\textbraceleft `, "}", `\textbraceright `, `\`, `\textbackslash `, "&", `\&`, "%",
	`\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"~", `\textasciitilde `, "^", `\textasciicircum `)

// bibtex returns the citation for croissant.json.
func (w *Metadata) bibtex() string {
	var names []string
	for _, name := range w.Creators {
		_, _, ok := person(name)
		name = tex.Replace(name)
		if !ok || strings.Contains(name, " and ") {
			name = "{" + name + "}" // an organisation is not split into names
		}
		names = append(names, name)
	}
	text := fmt.Sprintf("@misc{crawl-policies-%s, author = {%s}, title = {%s}, year = {%.4s}, version = {%s}", w.Date,
		strings.Join(names, " and "), tex.Replace(w.Title), w.Date, tex.Replace(w.Version))
	if w.DOI != "" {
		text += ", doi = {" + w.DOI + "}"
	}
	if w.URL != "" {
		text += ", url = {" + strings.NewReplacer("{", "%7B", "}", "%7D").Replace(w.URL) + "}"
	}
	return text + "}"
}
