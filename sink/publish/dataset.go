package publish

import (
	"context"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/views"
)

// dataSet is a data set as its descriptions tell of it.
type dataSet struct {
	Out        store.Store
	Selection  selection
	Published  []*journal.Manifest
	Provenance provenance
	Changes    []journal.Part
	Files      []dataFile
}

// Document is a file of a data set that follows from its tables and words.
type Document struct {
	Name string
	Text []byte
}

// dataFile is a file of the data set, with its digest.
type dataFile struct {
	Name  string // relative, with slashes
	Table string // of a part
	store.Digest
}

// documents returns the files that tell of the tables.
func (p *dataSet) documents(ctx context.Context) ([]Document, error) {
	sql, err := views.Published(p.Out)
	if err != nil {
		return nil, err
	}
	queries, err := p.queries()
	if err != nil {
		return nil, err
	}
	sheet, err := p.datasheet(ctx)
	if err != nil {
		return nil, err
	}
	return append(queries, Document{viewsName, sql}, Document{provenanceName, indented(p.Provenance)},
		Document{citationName, p.citation()}, Document{datasheetName, sheet}, Document{readmeName, p.readme()}), nil
}

// catalogues returns the files that list all others with their digests.
func (p *dataSet) catalogues() []Document {
	return []Document{{croissantName, p.croissant()}, {packageName, p.datapackage()}}
}

// queries returns the queries that the published tables can answer.
func (p *dataSet) queries() (documents []Document, err error) {
	entries, err := configs.Queries.ReadDir(queriesFolder)
	if err != nil {
		return nil, err
	}
	gone := p.Selection.gone(p.Published)
	for _, e := range entries {
		name := queriesFolder + "/" + e.Name()
		text, err := configs.Queries.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if views.Answers(string(text), gone) {
			documents = append(documents, Document{name, text})
		}
	}
	return append(documents, Document{figuresName, []byte(p.figures())}), nil
}

// Files of a data set.
const (
	croissantName  = "croissant.json"
	packageName    = "datapackage.json"
	citationName   = "CITATION.cff"
	datasheetName  = "DATASHEET.md"
	readmeName     = "README.md"
	provenanceName = "provenance.json"
	viewsName      = "views.sql"
	checksumsName  = layout.ChecksumsName
	queriesFolder  = "queries"
)
