package publish

import (
	"strings"

	"github.com/robocensus/robocensus/sink"
)

// datapackage returns datapackage.json, a Data Package 2 with a Table Schema for each
// table (https://datapackage.org/profiles/2.0/).
func (p *publisher) datapackage() []byte {
	w := p.Metadata
	licence := object{"path": w.licenceURL()}
	if Licences[w.Licence] != "" {
		licence["name"] = w.Licence
	}
	var contributors []object
	for _, name := range w.Creators {
		contributor := object{"title": name, "roles": []string{"creator"}}
		if family, given, ok := person(name); ok {
			contributor = object{"title": given + " " + family, "familyName": family, "givenName": given, "roles": []string{"creator"}}
		}
		contributors = append(contributors, contributor)
	}
	switch {
	case isMail(w.Contact):
		contributors[0]["email"] = w.Contact
	case w.Contact != "":
		contributors[0]["path"] = w.Contact
	}
	about := object{
		"$schema": "https://datapackage.org/profiles/2.0/datapackage.json", "name": "crawl-policies-" + w.Date, "title": w.Title, "description": w.Description,
		"version": w.Version, "created": w.Date + "T00:00:00Z", "keywords": w.Keywords, "licenses": []object{licence}, "contributors": contributors,
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
		var only file
		for _, f := range p.files {
			if f.table == table {
				paths, only = append(paths, f.name), f
			}
		}
		resource := object{
			"name": table, "title": table, "description": sink.TableMeaning(table), "path": paths,
			"format": "parquet", "mediatype": "application/vnd.apache.parquet", "schema": tableSchema(p.selection.columns(table)),
		}
		if len(paths) == 1 {
			resource["path"], resource["bytes"], resource["hash"] = only.name, only.Bytes, "sha256:"+only.SHA256
		}
		resources = append(resources, resource)
	}
	about["resources"] = resources
	return asJSON(about)
}

func tableSchema(columns []sink.ColumnDoc) object {
	var fields []object
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
	return object{"$schema": "https://datapackage.org/profiles/2.0/tableschema.json", "fields": fields}
}

// fieldTypes maps types of the dictionary to those of Table Schema.
var fieldTypes = map[string]string{
	"STRING": "string", "BLOB": "string", "INT32": "integer", "INT64": "integer", "DOUBLE": "number", "BOOLEAN": "boolean", "TIMESTAMP": "datetime",
}
