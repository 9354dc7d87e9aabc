package publish

import (
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/schema"
)

// datapackage returns datapackage.json, a Data Package 2 with a Table Schema for each
// table (https://datapackage.org/profiles/2.0/).
func (p *dataSet) datapackage() []byte {
	w := p.Provenance.Metadata
	licence := object{"path": w.licenceURL()}
	if licences[w.Licence] != "" {
		licence["name"] = w.Licence
	}
	var contributors []object
	for _, name := range w.Creators {
		contributor := object{"title": name, "roles": []string{"creator"}}
		if family, given, ok := person(name); ok {
			contributor = object{"title": given + " " + family, "familyName": family, "givenName": given,
				"roles": []string{"creator"}}
		}
		if url := w.Makers[name].url(); url != "" {
			contributor["path"] = url
		}
		if of := w.Makers[name].Affiliation; of != "" {
			contributor["organization"] = of
		}
		contributors = append(contributors, contributor)
	}
	if w.Publisher != "" {
		contributors = append(contributors, object{"title": w.Publisher, "roles": []string{"publisher"}})
	}
	for _, funder := range w.Funding {
		contributors = append(contributors, object{"title": funder, "roles": []string{"funder"}})
	}
	switch {
	case isMail(w.Contact):
		contributors[0]["email"] = w.Contact
	case w.Contact != "":
		contributors[0]["path"] = w.Contact
	}
	about := object{
		"$schema": "https://datapackage.org/profiles/2.0/datapackage.json", "name": "crawl-policies-" + w.Date,
		"title": w.Title, "description": w.Description,
		"version": w.Version, "created": w.Date + "T00:00:00Z", "keywords": w.Keywords, "licenses": []object{licence},
		"contributors": contributors,
	}
	if w.URL != "" {
		about["homepage"] = w.URL
	}
	if w.DOI != "" {
		about["id"] = "https://doi.org/" + w.DOI
	}
	var resources []object
	for _, table := range p.publishedTables() {
		var paths []string
		var only dataFile
		for _, f := range p.Files {
			if f.Table == table {
				paths, only = append(paths, f.Name), f
			}
		}
		resource := object{
			"name": table, "title": table, "description": sink.TableMeaning(table), "path": paths,
			"format": "parquet", "mediatype": "application/vnd.apache.parquet", "schema": p.tableSchema(table),
		}
		if len(paths) == 1 {
			resource["path"], resource["bytes"], resource["hash"] = only.Name, only.Bytes, "sha256:"+only.SHA256
		}
		resources = append(resources, resource)
	}
	about["resources"] = resources
	return indented(about)
}

// tableSchema describes the columns of a table and, after them, those that its folders
// name. Keys join the tables: a row of most belongs to the target of fetches with the same
// run and seq.
func (p *dataSet) tableSchema(table string) object {
	columns := p.Selection.columns(table)
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool {
			return !slices.ContainsFunc(columns, func(d sink.ColumnDoc) bool { return d.Column == name })
		})
	}
	fields := fieldsOf(columns)
	for _, name := range partitionsOf(table) {
		fields = append(fields, object{
			"name": name, "type": "string", "description": "ID of the run, from the folder of the part (" + name + "=ID).",
			"constraints": object{"required": true},
		})
	}
	// A reader that does not take columns from names of folders finds fewer.
	about := object{"$schema": "https://datapackage.org/profiles/2.0/tableschema.json", "fields": fields,
		"fieldsMatch": []string{"superset"}}
	if key := schema.Describe(table).Key; key != nil && has(key...) {
		about["primaryKey"] = append([]string{"run"}, key...)
	}
	if table != "fetches" && has("seq") && p.Selection.shows("fetches", "seq") &&
		slices.Contains(p.publishedTables(), "fetches") {
		join := []string{"run", "seq"}
		about["foreignKeys"] = []object{{"fields": join, "reference": object{"resource": "fetches", "fields": join}}}
	}
	return about
}

func fieldsOf(columns []sink.ColumnDoc) (fields []object) {
	for _, d := range columns {
		kind, nullable := strings.CutSuffix(d.Type, ", nullable")
		field := object{"name": d.Column, "type": fieldTypes[kind], "description": d.Meaning}
		if _, ok := elementOf(kind); ok {
			field["type"] = "array" // a list would be a text with separators
		} else if kind == "BLOB" {
			field["format"] = "binary"
		}
		if !nullable {
			field["constraints"] = object{"required": true}
		}
		fields = append(fields, field)
	}
	return fields
}

// fieldTypes maps types of the dictionary to those of Table Schema.
var fieldTypes = map[string]string{
	"STRING": "string", "BLOB": "string", "INT32": "integer", "INT64": "integer", "DOUBLE": "number",
	"BOOLEAN": "boolean", "TIMESTAMP": "datetime",
}
