package publish

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
)

type object = map[string]any

// croissant returns croissant.json, after the Croissant format 1.1
// (http://mlcommons.org/croissant/1.1): each file is a FileObject, the parts of a
// table are a FileSet, and each table is a RecordSet with a field for each column.
func (p *dataSet) croissant() []byte {
	w := p.Provenance.Metadata
	url := w.URL
	if url == "" {
		url = "./" // the folder itself, wherever it is
	}
	about := object{
		"@context": croissantContext, "@type": "sc:Dataset", "conformsTo": "http://mlcommons.org/croissant/1.1",
		"name": w.Title, "description": w.Description, "license": w.licenceURL(), "url": url, "version": w.Version,
		"creator": w.croissantCreators(), "datePublished": w.Date, "keywords": w.Keywords, "citeAs": w.bibtex(),
		"isLiveDataset": false,
	}
	if w.DOI != "" {
		about["sameAs"] = "https://doi.org/" + w.DOI
	}
	if w.Publisher != "" {
		about["publisher"] = object{"@type": "sc:Organization", "name": w.Publisher}
	}
	if len(w.Funding) > 0 {
		var grants []object
		for _, name := range w.Funding {
			grants = append(grants, object{"@type": "sc:Grant", "name": name})
		}
		about["funding"] = grants
	}
	maps.Copy(about, p.responsible())
	var distribution, records []object
	for _, f := range p.Files {
		distribution = append(distribution, object{
			"@type": "cr:FileObject", "@id": f.Name, "name": path.Base(f.Name), "contentUrl": f.Name,
			"contentSize": fmt.Sprintf("%d B", f.Bytes), "encodingFormat": mediaType(f.Name), "sha256": f.SHA256,
		})
	}
	for _, table := range p.publishedTables() {
		set := table + "-parts"
		distribution = append(distribution, object{
			"@type": "cr:FileSet", "@id": set, "name": set, "description": "The parts of the table " + table + ".",
			"encodingFormat": parquetType, "includes": table + "/" + partsOf(table),
		})
		records = append(records, object{
			"@type": "cr:RecordSet", "@id": table, "name": table, "description": sink.TableMeaning(table),
			"field": p.croissantFields(table, set),
		})
	}
	about["distribution"], about["recordSet"] = distribution, records
	return indented(about)
}

// responsible returns the properties of Croissant's vocabulary for responsible AI
// (http://mlcommons.org/croissant/RAI/1.0) that follow from the runs and the words.
// conformsTo does not name that vocabulary too: MLCommons' reader takes only a text there.
func (p *dataSet) responsible() object {
	var first, last time.Time
	asked, stored := false, false
	for _, run := range p.Provenance.Runs {
		begin, end := run.Started, run.Finished
		if journal.StoredIn(run.Inputs) != nil {
			stored, begin, end = true, run.Date, run.Date
		} else {
			asked = true
		}
		if first.IsZero() || begin.Before(first) {
			first = begin
		}
		if end.After(last) {
			last = end
		}
	}
	how := "robocensus asked each host for its robots.txt"
	switch {
	case asked && stored:
		how += ", or read a copy that was stored before"
	case stored:
		how = "robocensus read copies of the robots.txt of each host that were stored before"
	}
	about := object{
		"rai:dataCollection":          how + ", and evaluated it; DATASHEET.md and provenance.json say how, run by run.",
		"rai:dataCollectionType":      "Software Collection",
		"rai:dataCollectionTimeframe": []string{first.UTC().Format(time.RFC3339), last.UTC().Format(time.RFC3339)},
		"rai:dataLimitations":         p.limits(),
	}
	for _, q := range p.Provenance.Metadata.questions() {
		if q.rai != "" && q.answer != "" {
			about[q.rai] = q.answer
		}
	}
	return about
}

// partsOf returns the pattern of a table's parts in its folder.
func partsOf(table string) string {
	if table == layout.Changes {
		return "run=*/against=*/part-*.parquet"
	}
	return "run=*/part-*.parquet"
}

// partitionsOf returns the columns of a table that the names of its folders have.
func partitionsOf(table string) []string {
	if table == layout.Changes {
		return []string{"run", "against"}
	}
	return []string{"run"}
}

// publishedTables returns the tables that have parts.
func (p *dataSet) publishedTables() (tables []string) {
	for _, table := range p.Selection.tables {
		if slices.ContainsFunc(p.Files, func(f dataFile) bool { return f.Table == table }) {
			tables = append(tables, table)
		}
	}
	return tables
}

func (p *dataSet) croissantFields(table, set string) (fields []object) {
	for _, name := range partitionsOf(table) {
		fields = append(fields, object{
			"@type": "cr:Field", "@id": table + "/" + name, "name": name,
			"description": "ID of the run, from the folder of the part.", "dataType": "sc:Text",
			"source": object{"fileSet": reference(set), "extract": object{"fileProperty": "fullpath"},
				"transform": object{"regex": ".*" + name + "=([^/]+)/"}},
		})
	}
	for _, d := range p.Selection.columns(table) {
		fields = append(fields, croissantField(table, set, d))
	}
	return fields
}

func croissantField(table, set string, d sink.ColumnDoc) object {
	id := table + "/" + d.Column
	source := object{"fileSet": reference(set), "extract": object{"column": d.Column}}
	field := object{"@type": "cr:Field", "@id": id, "name": d.Column, "description": d.Meaning, "source": source}
	kind := strings.TrimSuffix(d.Type, ", nullable")
	if element, ok := elementOf(kind); ok {
		field["isArray"], field["arrayShape"], kind = true, "-1", element
	}
	if members, ok := membersOf(kind); ok {
		var parts []object
		for _, member := range members {
			parts = append(parts, object{
				"@type": "cr:Field", "@id": id + "/" + member[0], "name": member[0], "description": "Part " + member[0] +
					" of " + d.Column + ".",
				"dataType": croissantTypes[member[1]],
				"source": object{"fileSet": reference(set), "extract": object{"column": d.Column},
					"transform": object{"jsonPath": member[0]}},
			})
		}
		field["subField"] = parts
		return field
	}
	field["dataType"] = croissantTypes[kind]
	return field
}

// croissantTypes maps types of the dictionary to data types. There is none of bytes.
var croissantTypes = map[string]string{
	"STRING": "sc:Text", "BLOB": "sc:Text", "INT32": "sc:Integer", "INT64": "sc:Integer", "DOUBLE": "sc:Float",
	"BOOLEAN": "sc:Boolean", "TIMESTAMP": "sc:DateTime",
}

// elementOf returns the type of the elements of a list.
func elementOf(kind string) (element string, ok bool) {
	element, ok = strings.CutPrefix(kind, "LIST<")
	return strings.TrimSuffix(element, ">"), ok
}

// membersOf returns names and types of the members of a struct.
func membersOf(kind string) (members [][2]string, ok bool) {
	text, ok := strings.CutPrefix(kind, "STRUCT<")
	if !ok {
		return nil, false
	}
	for member := range strings.SplitSeq(strings.TrimSuffix(text, ">"), ", ") {
		name, kind, _ := strings.Cut(member, " ")
		members = append(members, [2]string{name, kind})
	}
	return members, true
}

func reference(id string) object { return object{"@id": id} }

// parquetType is the media type by which Croissant's own reader knows the format; the
// registered one is application/vnd.apache.parquet.
const parquetType = "application/x-parquet"

func mediaType(name string) string {
	switch path.Ext(name) {
	case ".parquet":
		return parquetType
	case ".json":
		return "application/json"
	case ".sql":
		return "application/sql"
	case ".md":
		return "text/markdown"
	case ".yaml", ".cff":
		return "application/yaml"
	}
	return "text/plain"
}

func (w *Metadata) croissantCreators() (creators []object) {
	for _, name := range w.Creators {
		creator := object{"@type": "sc:Organization", "name": name}
		if family, given, ok := person(name); ok {
			creator = object{"@type": "sc:Person", "name": given + " " + family, "familyName": family, "givenName": given}
		}
		if url := w.Makers[name].url(); url != "" {
			creator["sameAs"] = url
		}
		if of := w.Makers[name].Affiliation; of != "" {
			creator["affiliation"] = object{"@type": "sc:Organization", "name": of}
		}
		creators = append(creators, creator)
	}
	switch {
	case isMail(w.Contact):
		creators[0]["email"] = w.Contact
	case w.Contact != "":
		creators[0]["url"] = w.Contact
	}
	return creators
}

// croissantContext is the context that the specification recommends (appendix 1), with
// the prefix that MLCommons' own validator demands: to JSON-LD, http://schema.org/
// gives other names than https://schema.org/.
var croissantContext = func() object {
	context := object{
		"@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/",
		"cr":  "http://mlcommons.org/croissant/",
		"rai": "http://mlcommons.org/croissant/RAI/", "dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo",
		"data": object{"@id": "cr:data", "@type": "@json"}, "examples": object{"@id": "cr:examples", "@type": "@json"},
		"dataType": object{"@id": "cr:dataType", "@type": "@vocab"},
	}
	for _, name := range []string{
		"annotation", "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "excludes", "extract", "field",
		"fileProperty",
		"fileObject", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5", "parentField",
		"recordSet",
		"references", "regex", "readLines", "sdVersion", "separator", "source", "subField", "transform", "unArchive", "value",
	} {
		context[name] = "cr:" + name
	}
	return context
}()
