// Package publish makes a data set of the runs of a census: a folder that can be put
// into a repository, cited and checked.
//
// The folder holds the parts of the tables, in folders like those of an output folder,
// with a manifest for each run, so that the commands that read tables read it too. It
// describes them for people and for programs: croissant.json, datapackage.json,
// README.md, CITATION.cff, DATASHEET.md, provenance.json. What it holds depends on the
// runs and on [Config] alone: published twice, it is the same to the byte.
//
//   - publish.go: the folder and its parts
//   - rewrite.go: parts without some columns, or with hashes for hosts
//   - checksums.go, contents.go: what a data set holds is what it says
//   - rebuild.go: its descriptions, made again from its tables and words
//   - compare.go, rows.go, sums.go, twins.go: its tables, beside those that are re-evaluated
//   - sample.go: the hosts that are re-evaluated
//   - gone.go: what a data set does not have of its run
//
// What it says of itself, for people and for programs, follows from the published tables
// and manifests, and from words that its makers give:
//
//   - dataset.go: the data set, and its files that are not parts
//   - select.go: which tables and columns are published, and which name hosts
//   - provenance.go: how the tables came about, without paths or passwords
//   - metadata.go, questions.go: what only its makers know
//   - croissant.go, datapackage.go, citation.go, datasheet.go, readme.go: the descriptions
//   - figures.go: the query that gives the figures of the data sheet
package publish

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/store"
)

// Config says what is published.
type Config struct {
	In          store.Store         // the output folder
	Runs        []*journal.Manifest // complete, with their parts, in order
	To          string              // the folder, which must not exist, or be empty
	Metadata    Metadata
	Without     []string // tables, and columns as table.column, to leave out
	HashHosts   bool
	ToolVersion string
}

// publisher writes a data set, or makes again what it writes.
type publisher struct {
	Config
	dataSet
	ctx     context.Context
	lacking []journal.Input
}

// Write publishes runs. After an error there is no folder. It returns the files that
// judging takes (see [Run.Lacks]) and that are not at hand: without them, the data set
// cannot be re-evaluated.
func Write(ctx context.Context, c Config) (lacking []journal.Input, err error) {
	s, err := choose(c.Runs, c.Without, c.HashHosts)
	if err != nil {
		return nil, err
	}
	if err := c.Metadata.complete(c.Runs, s); err != nil {
		return nil, err
	}
	p := &publisher{
		Config: c, ctx: ctx,
		dataSet: dataSet{Selection: s, Provenance: provenanceOf(c.Metadata, c.ToolVersion, s)},
	}
	at, err := store.FolderBeside(c.To, checksumsName)
	if err != nil {
		return nil, fmt.Errorf("create the folder of the data set: %w", err)
	}
	defer at.Discard()
	if p.Out, err = store.Open(ctx, at.Path); err != nil {
		return nil, err
	}
	defer p.Out.Close()
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
		p.Published = append(p.Published, published)
	}
	if err := p.comparisons(); err != nil {
		return err
	}
	documents, err := p.documents(p.ctx)
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
	return p.Out.Replace(checksumsName, ".", checksums(p.Files))
}

// run writes the parts and the manifest of a run.
func (p *publisher) run(m *journal.Manifest) (*journal.Manifest, error) {
	about := p.Provenance.add(p.Selection, m, func(name string, in journal.Input) []byte {
		return textOf(p.In.Path("."), name, in, filesOfProgram[in.Role])
	})
	for _, in := range m.Inputs {
		if !p.HashHosts && about.lacksInput(in) && !slices.Contains(p.lacking, in) {
			p.lacking = append(p.lacking, in)
		}
	}
	published := about.manifest(m, p.Selection)
	for _, list := range []*[]journal.Part{&published.RunParts, &published.Parts} {
		for i, part := range *list {
			digest, err := p.part(part)
			if err != nil {
				return nil, err
			}
			(*list)[i].Digest = digest
		}
	}
	if err := journal.PutManifest(p.Out, published); err != nil {
		return nil, err
	}
	return published, p.add(about.Texts)
}

// part writes a part, as it is or rewritten.
func (p *publisher) part(part journal.Part) (store.Digest, error) {
	shorten, err := namesMachine(p.ctx, p.Selection, p.In, part)
	if err != nil {
		return store.Digest{}, err
	}
	in, err := rowio.OpenPart(p.ctx, p.In, part)
	if err != nil {
		return store.Digest{}, err
	}
	defer in.Close()
	rewrite := rewriterOf(p.Selection, part.Table, shorten, isOlder(in.File, part.Table))
	digest, err := p.file(part.Path, func(out io.Writer) (err error) {
		if rewrite != nil {
			err = rewrite.write(p.ctx, out, in, part.Bytes)
		} else {
			_, err = io.Copy(out, in.Raw)
		}
		if err != nil {
			err = fmt.Errorf("publish %s: %w", part.Path, err)
		}
		return err
	})
	if err == nil && rewrite == nil && digest != part.Digest {
		err = fmt.Errorf("publish %s: the copy has %d bytes of %d, or others", part.Path, digest.Bytes, part.Bytes)
	}
	return digest, err
}

// file writes a file, in a folder that may not exist yet.
func (p *publisher) file(name string, write func(io.Writer) error) (store.Digest, error) {
	if err := p.Out.MakeFolder(path.Dir(name)); err != nil {
		return store.Digest{}, err
	}
	return store.Write(p.Out, name, write)
}

// add writes small files.
func (p *publisher) add(documents []Document) error {
	for _, d := range documents {
		digest, err := p.file(d.Name, func(w io.Writer) error {
			_, err := w.Write(d.Text)
			return err
		})
		if err != nil {
			return err
		}
		p.Files = append(p.Files, dataFile{Name: d.Name, Digest: digest})
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
		if err := journal.PutComparison(p.Out, c); err != nil {
			return err
		}
		p.Changes = append(p.Changes, *c.Part)
	}
	return nil
}

// compared returns the records of comparisons of the runs with each other.
func (p *publisher) compared() (all []*journal.Comparison, err error) {
	if !p.Selection.has(layout.Changes) {
		return nil, nil
	}
	for _, m := range p.Runs {
		runs, err := journal.ComparedWith(p.In, m.Run)
		if err != nil {
			return nil, err
		}
		for _, against := range runs {
			if !slices.ContainsFunc(p.Runs, func(m *journal.Manifest) bool { return m.Run == against }) {
				continue
			}
			c, err := journal.ReadComparison(p.In, m.Run, against)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// mostDescription is the most bytes of a description that is read.
const mostDescription = 256 << 20
