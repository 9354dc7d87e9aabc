// Package publish makes a data set of the runs of a census: a folder that can be put
// into a repository, cited and checked.
//
// The folder holds the parts of the tables, in folders like those of an output folder,
// with a manifest for each run, so that the commands that read tables read it too. It
// describes them for people and for programs: croissant.json, datapackage.json,
// README.md, CITATION.cff, DATASHEET.md, provenance.json. What it holds depends on the
// runs and on [Config] alone: published twice, it is the same to the byte.
//
//   - select.go: which tables and columns there are, and which name hosts
//   - rewrite.go: parts without some columns, or with hashes for hosts
//   - provenance.go: how the tables came about, without paths or passwords
//   - croissant.go, datapackage.go, citation.go, datasheet.go, readme.go: the descriptions
//   - metadata.go, questions.go: what only its makers know
//   - checksums.go, contents.go: what a data set holds is what it says
//   - rebuild.go: its descriptions, made again from its tables and words
//   - compare.go, bodies.go: its tables, beside those that are re-evaluated
package publish

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/views"
)

// Config says what is published.
type Config struct {
	In          store.Store      // the output folder
	Runs        []*sink.Manifest // complete, with their parts, in order
	To          string           // the folder, which must not exist, or be empty
	Metadata    Metadata
	Without     []string // tables, and columns as table.column, to leave out
	HashHosts   bool
	ToolVersion string
}

// Files of a data set.
const (
	croissantName   = "croissant.json"
	packageName     = "datapackage.json"
	citationName    = "CITATION.cff"
	datasheetName   = "DATASHEET.md"
	readmeName      = "README.md"
	provenanceName  = "provenance.json"
	viewsName       = "views.sql"
	checksumsName   = layout.ChecksumsName
	queriesFolder   = "queries"
	mostDescription = 256 << 20 // bytes of a description that is read
)

// publisher writes a data set, or makes again what it writes.
type publisher struct {
	Config
	ctx        context.Context
	out        store.Store
	selection  selection
	runs       []*sink.Manifest // as published
	provenance Provenance
	changes    []sink.Part
	lacking    []sink.Input
	files      []file
}

// document is a file of a data set that follows from its tables and words.
type document struct {
	name string
	text []byte
}

// file is a file of the data set, with its digest.
type file struct {
	name  string // relative, with slashes
	table string // of a part
	store.Digest
}

// Write publishes runs. After an error there is no folder. It returns the files that
// judging takes (see [Run.Lacks]) and that are not at hand: without them, the data set
// cannot be re-evaluated.
func Write(ctx context.Context, c Config) (lacking []sink.Input, err error) {
	s, err := selected(c)
	if err != nil {
		return nil, err
	}
	if err := c.Metadata.complete(c.Runs, s); err != nil {
		return nil, err
	}
	p := &publisher{Config: c, ctx: ctx, selection: s, provenance: provenanceOf(c, s)}
	at, err := store.FolderBeside(c.To, checksumsName)
	if err != nil {
		return nil, fmt.Errorf("create the folder of the data set: %w", err)
	}
	defer at.Discard()
	if p.out, err = store.Open(ctx, at.Path); err != nil {
		return nil, err
	}
	defer p.out.Close()
	if err := p.write(); err != nil {
		return nil, err
	}
	if err := at.Publish(); err != nil {
		return nil, fmt.Errorf("name the folder of the data set: %w", err)
	}
	return p.lacking, nil
}

func (p *publisher) write() error {
	for _, m := range p.Runs {
		published, err := p.run(m)
		if err != nil {
			return err
		}
		p.runs = append(p.runs, published)
	}
	if err := p.comparisons(); err != nil {
		return err
	}
	documents, err := p.documents()
	if err != nil {
		return err
	}
	if err := p.add(documents); err != nil {
		return err
	}
	if err := p.list(); err != nil {
		return err
	}
	if err := p.add(p.catalogues()); err != nil {
		return err
	}
	return p.out.Replace(checksumsName, ".", checksums(p.files))
}

// documents returns the files that tell of the tables.
func (p *publisher) documents() ([]document, error) {
	sql, err := views.Published(p.out)
	if err != nil {
		return nil, err
	}
	queries, err := p.queries()
	if err != nil {
		return nil, err
	}
	sheet, err := p.datasheet()
	if err != nil {
		return nil, err
	}
	return append(queries, document{viewsName, sql}, document{provenanceName, indented(p.provenance)},
		document{citationName, p.citation()}, document{datasheetName, sheet}, document{readmeName, p.readme()}), nil
}

// catalogues returns the files that list all others with their digests.
func (p *publisher) catalogues() []document {
	return []document{{croissantName, p.croissant()}, {packageName, p.datapackage()}}
}

// run writes the parts and the manifest of a run.
func (p *publisher) run(m *sink.Manifest) (*sink.Manifest, error) {
	about := p.provenance.add(p.Config, p.selection, m, func(name string, in sink.Input) []byte { return textOf(p.In.Path("."), name, in, builtIn[in.Role]) })
	for _, in := range m.Inputs {
		if !p.HashHosts && about.lacks(in) && !slices.Contains(p.lacking, in) {
			p.lacking = append(p.lacking, in)
		}
	}
	published := about.manifest(m, p.selection)
	for _, list := range []*[]sink.Part{&published.RunParts, &published.Parts} {
		for i, part := range *list {
			digest, err := p.part(part)
			if err != nil {
				return nil, err
			}
			(*list)[i].Digest = digest
		}
	}
	if err := sink.PutManifest(p.out, published); err != nil {
		return nil, err
	}
	return published, p.add(about.texts)
}

// part writes a part, as it is or rewritten.
func (p *publisher) part(part sink.Part) (store.Digest, error) {
	shorten, err := p.selection.namesMachine(p.ctx, p.In, part)
	if err != nil {
		return store.Digest{}, err
	}
	in, err := scan.OpenPart(p.ctx, p.In, part)
	if err != nil {
		return store.Digest{}, err
	}
	defer in.Close()
	out, err := p.create(part.Path)
	if err != nil {
		return store.Digest{}, err
	}
	older, err := isOlder(in, part)
	rewrite := p.selection.rewriting(part.Table, shorten, older)
	if err == nil && rewrite != nil {
		err = rewrite.write(p.ctx, out, in, part.Bytes)
	} else if err == nil {
		_, err = io.Copy(out, in)
	}
	if err != nil {
		out.Discard()
		return store.Digest{}, fmt.Errorf("publish %s: %w", part.Path, err)
	}
	digest, err := finish(out)
	if err == nil && rewrite == nil && digest != part.Digest {
		err = fmt.Errorf("publish %s: the copy has %d bytes of %d, or others", part.Path, digest.Bytes, part.Bytes)
	}
	return digest, err
}

func (p *publisher) create(name string) (*store.File, error) {
	if err := p.out.MakeFolder(filepath.ToSlash(filepath.Dir(name))); err != nil {
		return nil, err
	}
	return p.out.Create(name)
}

func finish(f *store.File) (store.Digest, error) {
	digest, err := f.Finish()
	if err == nil {
		err = f.Publish()
	}
	if err != nil {
		f.Discard()
	}
	return digest, err
}

// add writes small files.
func (p *publisher) add(documents []document) error {
	for _, d := range documents {
		f, err := p.create(d.name)
		if err != nil {
			return err
		}
		if _, err := f.Write(d.text); err != nil {
			f.Discard()
			return err
		}
		digest, err := finish(f)
		if err != nil {
			return err
		}
		p.files = append(p.files, file{name: d.name, Digest: digest})
	}
	return nil
}

// comparisons writes the table changes for published runs that were compared with
// published ones.
func (p *publisher) comparisons() error {
	compared, err := p.compared()
	if err != nil {
		return err
	}
	for _, c := range compared {
		if c.Part.Digest, err = p.part(*c.Part); err != nil {
			return err
		}
		if err := sink.PutComparison(p.out, c); err != nil {
			return err
		}
		p.changes = append(p.changes, *c.Part)
	}
	return nil
}

// compared returns the records of comparisons of the runs with each other.
func (p *publisher) compared() (all []*sink.Comparison, err error) {
	if !p.selection.has(layout.Changes) {
		return nil, nil
	}
	for _, m := range p.Runs {
		runs, err := sink.ComparedWith(p.In, m.Run)
		if err != nil {
			return nil, err
		}
		for _, against := range runs {
			if !slices.ContainsFunc(p.Runs, func(m *sink.Manifest) bool { return m.Run == against }) {
				continue
			}
			c, err := sink.ReadComparison(p.In, m.Run, against)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// queries returns the queries that the published tables can answer.
func (p *publisher) queries() (documents []document, err error) {
	entries, err := configs.Queries.ReadDir(queriesFolder)
	if err != nil {
		return nil, err
	}
	gone := p.selection.gone(p.runs)
	for _, e := range entries {
		name := queriesFolder + "/" + e.Name()
		text, err := configs.Queries.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if views.Answers(string(text), gone) {
			documents = append(documents, document{name, text})
		}
	}
	return append(documents, document{figuresName, []byte(p.figures())}), nil
}
