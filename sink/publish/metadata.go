package publish

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/journal"
)

// Metadata is what only its makers know of a data set: the file of --words.
type Metadata struct {
	Title       string   `yaml:"title" json:"title"`
	Description string   `yaml:"description" json:"description"`
	Creators    []string `yaml:"creators" json:"creators"`         // "Family name, Given names", or an organisation
	Licence     string   `yaml:"licence" json:"licence"`           // an SPDX identifier in licences, or a URL
	Contact     string   `yaml:"contact" json:"contact,omitempty"` // an address of mail or a URL
	URL         string   `yaml:"url" json:"url,omitempty"`         // where the data set will be
	DOI         string   `yaml:"doi" json:"doi,omitempty"`
	Version     string   `yaml:"version" json:"version"`
	Date        string   `yaml:"date" json:"date"` // of publication
	Keywords    []string `yaml:"keywords" json:"keywords"`
	Publisher   string   `yaml:"publisher" json:"publisher,omitempty"` // an organisation, such as a repository
	Funding     []string `yaml:"funding" json:"funding,omitempty"`     // funders, with the numbers of grants

	// Makers says more of creators, by name.
	Makers map[string]Maker `yaml:"-" json:"makers,omitempty"`

	Answers `yaml:",inline"`
}

// Maker says who a creator is.
type Maker struct {
	ORCID       string `yaml:"orcid" json:"orcid,omitempty"` // as in 0000-0002-1825-0097
	Affiliation string `yaml:"affiliation" json:"affiliation,omitempty"`
}

// ErrMetadata reports metadata that is missing or wrong.
var ErrMetadata = errors.New("the words of the data set")

// ParseMetadata reads the file of --words.
func ParseMetadata(path string, text []byte) (w Metadata, err error) {
	root, err := userfile.Parse(path, text)
	if err != nil || root == nil {
		return w, err
	}
	if err := userfile.CheckKeys(path, root, "title", "description", "creators", "licence", "contact", "url", "doi",
		"version", "date", "keywords",
		"publisher", "funding", "motivation", "ethics", "uses", "maintenance"); err != nil {
		return w, err
	}
	for key, value := range userfile.Pairs(root) {
		if key.Value == "creators" {
			if w.Makers, err = makers(path, value); err != nil {
				return w, err
			}
		}
		if slices.Contains(ofSeveralLines, key.Value) {
			continue
		}
		for _, node := range append([]*yaml.Node{value}, value.Content...) {
			if text := strings.TrimSpace(node.Value); node.Kind == yaml.ScalarNode && !IsLine(text) {
				return w, &userfile.Error{Path: path, Line: int64(node.Line), Err: fmt.Errorf("%s %q: write it on one line",
					key.Value, text)}
			}
		}
	}
	if err := userfile.Decode(path, root, &w); err != nil {
		return w, err
	}
	for _, word := range []*string{&w.Title, &w.Description, &w.Licence, &w.Contact, &w.URL, &w.DOI, &w.Version, &w.Date,
		&w.Publisher, &w.Motivation, &w.Ethics, &w.Uses, &w.Maintenance} {
		*word = strings.TrimSpace(*word) // a folded text of YAML ends with a line break
	}
	for _, list := range [][]string{w.Creators, w.Keywords, w.Funding} {
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
	}
	return w, nil
}

// ofSeveralLines are the words that may have paragraphs.
var ofSeveralLines = []string{"description", "motivation", "ethics", "uses", "maintenance"}

// makers takes what is said of creators beside their names out of the list, which holds
// only names afterwards.
func makers(path string, creators *yaml.Node) (map[string]Maker, error) {
	all := make(map[string]Maker)
	for _, node := range creators.Content {
		if node.Kind != yaml.MappingNode {
			continue
		}
		if err := userfile.CheckKeys(path, node, "name", "orcid", "affiliation"); err != nil {
			return nil, err
		}
		var said struct {
			Name  string `yaml:"name"`
			Maker `yaml:",inline"`
		}
		if err := userfile.Decode(path, node, &said); err != nil {
			return nil, err
		}
		for _, text := range []*string{&said.Name, &said.ORCID, &said.Affiliation} {
			if *text = strings.TrimSpace(*text); !IsLine(*text) {
				return nil, &userfile.Error{Path: path, Line: int64(node.Line),
					Err: fmt.Errorf("creators %q: write it on one line", *text)}
			}
		}
		if said.Name == "" {
			return nil, &userfile.Error{Path: path, Line: int64(node.Line),
				Err: errors.New(`creators: has no name, as in name: "Doe, Jane"`)}
		}
		if said.Maker != (Maker{}) {
			all[said.Name] = said.Maker
		}
		*node = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: said.Name, Line: node.Line, Column: node.Column}
	}
	return all, nil
}

// IsLine reports whether a text has neither line breaks nor other control characters,
// which would end a heading of Markdown or a field of BibTeX.
func IsLine(text string) bool {
	return utf8.ValidString(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
}

// licences maps the SPDX identifiers of licences for data to their URLs.
var licences = map[string]string{
	"CC0-1.0":         "https://creativecommons.org/publicdomain/zero/1.0/",
	"CC-BY-4.0":       "https://creativecommons.org/licenses/by/4.0/",
	"CC-BY-SA-4.0":    "https://creativecommons.org/licenses/by-sa/4.0/",
	"CC-BY-NC-4.0":    "https://creativecommons.org/licenses/by-nc/4.0/",
	"CC-BY-ND-4.0":    "https://creativecommons.org/licenses/by-nd/4.0/",
	"CC-BY-NC-SA-4.0": "https://creativecommons.org/licenses/by-nc-sa/4.0/",
	"CC-BY-NC-ND-4.0": "https://creativecommons.org/licenses/by-nc-nd/4.0/",
	"ODbL-1.0":        "https://opendatacommons.org/licenses/odbl/1-0/",
	"ODC-By-1.0":      "https://opendatacommons.org/licenses/by/1-0/",
	"PDDL-1.0":        "https://opendatacommons.org/licenses/pddl/1-0/",
}

// LicenceNames returns the identifiers of licences, sorted.
func LicenceNames() []string { return slices.Sorted(maps.Keys(licences)) }

// licenceURL returns the URL of the licence.
func (w *Metadata) licenceURL() string {
	if known := licences[w.Licence]; known != "" {
		return known
	}
	return w.Licence
}

// complete checks the words and sets those that follow from the runs and their tables.
func (w *Metadata) complete(runs []*journal.Manifest, s selection) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrMetadata, fmt.Sprintf(format, args...))
	}
	if len(runs) == 0 {
		return bad("no run is named")
	}
	first, last, finished := runs[0].Date, runs[0].Date, *runs[0].Finished
	for _, m := range runs {
		if m.Date.Before(first) {
			first = m.Date
		}
		if m.Date.After(last) {
			last = m.Date
		}
		if m.Finished.After(finished) {
			finished = *m.Finished
		}
	}
	if w.Date == "" { // not today: the data set must not depend on the time
		w.Date = finished.UTC().Format(time.DateOnly)
	}
	if w.Title == "" {
		w.Title = "Census of crawl policies, " + first.UTC().Format(time.DateOnly)
		if !first.Equal(last) {
			w.Title += " to " + last.UTC().Format(time.DateOnly)
		}
	}
	if w.Description == "" {
		w.Description = s.description()
	}
	if w.Version == "" {
		w.Version = "1.0.0"
	}
	if len(w.Keywords) == 0 {
		w.Keywords = []string{"crawl policies", "robots.txt", "web crawling"}
	}
	if _, err := time.Parse(time.DateOnly, w.Date); err != nil {
		return bad("date %q: give a day such as 2026-11-20", w.Date)
	}
	if len(w.Creators) == 0 || slices.ContainsFunc(w.Creators,
		func(name string) bool { return strings.TrimSpace(name) == "" }) {
		return bad("no creator: say who made it, as in \"Doe, Jane\", or name an organisation")
	}
	switch {
	case w.Licence == "":
		return bad("no licence: give one of %s, or a URL", strings.Join(LicenceNames(), ", "))
	case licences[w.Licence] == "" && !isURL(w.Licence):
		return bad("licence %q is neither a URL nor one of %s", w.Licence, strings.Join(LicenceNames(), ", "))
	case w.URL != "" && !isURL(w.URL):
		return bad("url %q: give a URL such as https://example.org/census", w.URL)
	case w.Contact != "" && !isURL(w.Contact) && !isMail(w.Contact):
		return bad("contact %q: give an address of mail or a URL", w.Contact)
	case slices.ContainsFunc(slices.Collect(maps.Values(w.Makers)),
		func(m Maker) bool { return m.ORCID != "" && !isORCID(m.ORCID) }):
		return bad("orcid: give it without a URL, as in 0000-0002-1825-0097")
	case w.DOI != "" && !doi.MatchString(w.DOI):
		return bad("doi %q: give it without a URL, as in 10.5281/zenodo.1234", w.DOI)
	}
	return nil
}

// doi is the pattern of the Citation File Format.
var doi = regexp.MustCompile(`^10\.\d{4,9}(\.\d+)?/[A-Za-z0-9:/_;\-.()\[\]\\]+$`)

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && !strings.ContainsAny(text, " \t\n")
}

func isMail(text string) bool {
	name, domain, ok := strings.Cut(text, "@")
	return ok && name != "" && strings.Contains(domain, ".") && !strings.ContainsAny(text, " \t\n\"<>") &&
		!strings.Contains(domain, "@")
}

// isORCID reports whether a text is an ORCID, by its digits and the last one, which is
// made of the others (ISO 7064, MOD 11-2).
func isORCID(text string) bool {
	if !orcid.MatchString(text) {
		return false
	}
	sum := 0
	digits := strings.ReplaceAll(text, "-", "")
	for _, d := range digits[:15] {
		sum = (sum + int(d-'0')) * 2
	}
	return "0123456789X"[(12-sum%11)%11] == digits[15]
}

var orcid = regexp.MustCompile(`^\d{4}-\d{4}-\d{4}-\d{3}[\dX]$`)

// url returns the URL of the ORCID, "" without one.
func (m Maker) url() string {
	if m.ORCID == "" {
		return ""
	}
	return "https://orcid.org/" + m.ORCID
}

// person splits "Family, Given"; ok is false for an organisation.
func person(name string) (family, given string, ok bool) {
	family, given, ok = strings.Cut(name, ",")
	family, given = strings.TrimSpace(family), strings.TrimSpace(given)
	return family, given, ok && family != "" && given != ""
}
