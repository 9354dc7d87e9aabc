package publish

import (
	"context"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/views"
)

// DataSet is a data set as its descriptions tell of it.
type DataSet struct {
	Out        store.Store
	Selection  Selection
	Published  []*journal.Manifest
	Provenance Provenance
	Changes    []journal.Part
	Files      []File
}

// Document is a file of a data set that follows from its tables and words.
type Document struct {
	Name string
	Text []byte
}

// File is a file of the data set, with its digest.
type File struct {
	Name  string // relative, with slashes
	Table string // of a part
	store.Digest
}

// Documents returns the files that tell of the tables.
func (p *DataSet) Documents(ctx context.Context) ([]Document, error) {
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
	return append(queries, Document{ViewsName, sql}, Document{ProvenanceName, indented(p.Provenance)},
		Document{CitationName, p.citation()}, Document{DatasheetName, sheet}, Document{ReadmeName, p.readme()}), nil
}

// Catalogues returns the files that list all others with their digests.
func (p *DataSet) Catalogues() []Document {
	return []Document{{CroissantName, p.croissant()}, {PackageName, p.datapackage()}}
}

// queries returns the queries that the published tables can answer.
func (p *DataSet) queries() (documents []Document, err error) {
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
	return append(documents, Document{FiguresName, []byte(p.figures())}), nil
}

// Files of a data set.
const (
	CroissantName  = "croissant.json"
	PackageName    = "datapackage.json"
	CitationName   = "CITATION.cff"
	DatasheetName  = "DATASHEET.md"
	ReadmeName     = "README.md"
	ProvenanceName = "provenance.json"
	ViewsName      = "views.sql"
	ChecksumsName  = layout.ChecksumsName
	queriesFolder  = "queries"
)
