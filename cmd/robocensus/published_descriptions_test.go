package main

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/schema"
)

// The required properties, types and references of the Croissant format 1.1:
// "Dataset-level Information", "FileObject", "FileSet", "RecordSet", "Field",
// "DataSource" and "ID and Reference Mechanism"; and the rules of MLCommons' own reader,
// mlcroissant 1.1, where it has stricter ones.
func TestCroissant_NoRace(t *testing.T) {
	t.Parallel()
	dir, folder := published(t, "--without", "lines,fetches.remote_address")
	wantCroissant(t, folder, "changes", "answers", "documents", "labels", "label_counts", "sitemap_files", "coverage",
		"urls", "lines", "fetches.remote_address")
	wantCroissant(t, publishedSeveral(t, dir), "answers", "documents", "labels", "label_counts", "sitemap_files",
		"coverage", "urls")
}

// publishedSeveral publishes run r of a folder with another one, and what changed.
func publishedSeveral(t *testing.T, dir string) (folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "several")
	call(t, 0, "run", "--bodies", filepath.Join("..", "..", "testdata", "demo", "hosts"), "--out", dir, "--run", "s",
		"--keep-bodies", "--progress", "none")
	call(t, 0, "diff", "--out", dir, "r", "s")
	call(t, 0, "publish", "--out", dir, "r", "s", "--to", folder, "--creator", "Doe, Jane", "--licence", "CC-BY-4.0",
		"--contact", "https://example.org/us")
	return folder
}

func wantCroissant(t *testing.T, folder string, without ...string) {
	t.Helper()
	c := readJSON(t, folder, "croissant.json")
	for _, name := range []string{"@context", "@type", "conformsTo", "description", "license", "name", "url", "creator",
		"datePublished", "distribution"} {
		if c[name] == nil || c[name] == "" {
			t.Errorf("the data set has no %s", name)
		}
	}
	if c["@type"] != "sc:Dataset" || c["conformsTo"] != "http://mlcommons.org/croissant/1.1" {
		t.Errorf("it is a %v after %v", c["@type"], c["conformsTo"])
	}
	context := c["@context"].(map[string]any)
	for name, want := range map[string]any{ // the reader compares expanded names
		"@vocab": "https://schema.org/", "sc": "https://schema.org/", "cr": "http://mlcommons.org/croissant/",
		"dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo",
		"dataType": map[string]any{"@id": "cr:dataType", "@type": "@vocab"},
	} {
		if !reflect.DeepEqual(context[name], want) {
			t.Errorf("the context says that %s is %v", name, context[name])
		}
	}
	wantKnownKeys(t, c, context)
	ids := make(map[string]string) // types by ID
	identify := func(v map[string]any, kind string) string {
		id, _ := v["@id"].(string)
		if id == "" || strings.ContainsFunc(id, unicode.IsSpace) || ids[id] != "" || v["@type"] != kind || v["name"] == nil {
			t.Errorf("%v is no %s with a name and an ID of its own", v, kind)
		}
		ids[id] = kind
		return id
	}
	files := filesOf(t, folder)
	sets := make(map[string]string)
	for _, v := range objects(c["distribution"]) {
		pattern, _ := v["contentUrl"].(string)
		if v["includes"] != nil {
			pattern = v["includes"].(string)
		}
		if format := v["encodingFormat"]; format == nil ||
			strings.HasSuffix(pattern, ".parquet") != (format == "application/x-parquet") {
			t.Errorf("%v has the format %v", v["@id"], format)
		}
		if v["@type"] == "cr:FileSet" {
			set := identify(v, "cr:FileSet")
			sets[set] = v["includes"].(string)
			some := false
			for name := range files {
				ok, err := filepath.Match(sets[set], name)
				must(t, err)
				some = some || ok
			}
			if !some {
				t.Errorf("%s: no file matches %s", set, sets[set])
			}
			continue
		}
		identify(v, "cr:FileObject")
		text, ok := files[v["contentUrl"].(string)]
		if !ok || fmt.Sprintf("%x", sha256.Sum256([]byte(text))) != v["sha256"] || v["contentSize"] != fmt.Sprintf("%d B",
			len(text)) {
			t.Errorf("%v: has %d bytes, digest %s", v, len(text), fmt.Sprintf("%x", sha256.Sum256([]byte(text))))
		}
	}
	columns := make(map[string][]string)
	for _, v := range objects(c["recordSet"]) {
		table := identify(v, "cr:RecordSet")
		for _, field := range objects(v["field"]) {
			checkField(t, field, identify, sets, slices.Collect(maps.Keys(files)))
			if column, ok := field["source"].(map[string]any)["extract"].(map[string]any)["column"].(string); ok {
				columns[table] = append(columns[table], column)
			}
		}
	}
	for _, d := range sink.Dictionary() {
		wanted := d.Table != "series" && !slices.Contains(without, d.Table) && !slices.Contains(without, d.Table+"."+d.Column)
		if slices.Contains(columns[d.Table], d.Column) != wanted {
			t.Errorf("column %s.%s: described is %v", d.Table, d.Column, !wanted)
		}
	}
}

// wantKnownKeys expects that the context, or the vocabulary of schema.org, defines each key:
// JSON-LD ignores others without a word.
func wantKnownKeys(t *testing.T, v any, context map[string]any) {
	t.Helper()
	ofSchema := []string{
		"name", "description", "license", "url", "version", "creator", "datePublished", "keywords", "sameAs", "email",
		"familyName", "givenName",
		"distribution", "contentUrl", "contentSize", "encodingFormat", "sha256", "publisher", "funding", "affiliation",
	}
	// Of http://mlcommons.org/croissant/RAI/1.0.
	ofRAI := []string{
		"rai:dataCollection", "rai:dataCollectionType", "rai:dataCollectionTimeframe", "rai:dataLimitations",
		"rai:dataSocialImpact", "rai:dataUseCases",
		"rai:dataReleaseMaintenancePlan",
	}
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if key == "@context" {
				continue
			}
			if context[key] == nil && !slices.Contains(ofSchema, key) && !(slices.Contains(ofRAI, key) &&
				context["rai"] == "http://mlcommons.org/croissant/RAI/") && key != "@id" && key != "@type" {
				t.Errorf("nothing defines %s", key)
			}
			wantKnownKeys(t, value, context)
		}
	case []any:
		for _, one := range v {
			wantKnownKeys(t, one, context)
		}
	}
}

func checkField(t *testing.T, field map[string]any, identify func(map[string]any, string) string,
	sets map[string]string, files []string) {
	id := identify(field, "cr:Field")
	source := field["source"].(map[string]any)
	set := source["fileSet"].(map[string]any)["@id"].(string)
	if sets[set] == "" || source["extract"] == nil {
		t.Errorf("%s: its source is %v", id, source)
	}
	atomic := []any{"sc:Text", "sc:Integer", "sc:Float", "sc:Boolean", "sc:DateTime"}
	parts := objects(field["subField"])
	if (len(parts) == 0) != slices.Contains(atomic, field["dataType"]) || field["description"] == "" {
		t.Errorf("%s has the type %v", id, field["dataType"])
	}
	extract := source["extract"].(map[string]any)
	if len(extract) != 1 || extract["column"] == nil && extract["fileProperty"] != "fullpath" {
		t.Errorf("%s is from %v", id, extract)
	}
	if transform, _ := source["transform"].(map[string]any); transform["regex"] != nil {
		// The reader matches it with the beginning of the path, and takes its only group.
		regex := regexp.MustCompile("^(?:" + transform["regex"].(string) + ")")
		for _, name := range files {
			if ok, _ := filepath.Match(sets[set], name); !ok {
				continue
			}
			_, want, _ := strings.Cut(name, "/"+field["name"].(string)+"=")
			want, _, _ = strings.Cut(want, "/")
			if match := regex.FindStringSubmatch("/any/run=other/" + name); len(match) != 2 || match[1] != want {
				t.Errorf("%s is %q in %s", id, match, name)
			}
		}
	} else if extract["column"] == nil {
		t.Errorf("%s is a whole path", id)
	}
	if shape, ok := field["arrayShape"].(string); ok {
		if n, err := strconv.Atoi(shape); err != nil || n != -1 {
			t.Errorf("%s has the shape %s", id, shape)
		}
	}
	if field["arrayShape"] != nil && field["isArray"] != true {
		t.Errorf("%s has a shape and is no array", id)
	}
	for _, part := range parts {
		checkField(t, part, identify, sets, files)
	}
}

func objects(v any) (list []map[string]any) {
	all, _ := v.([]any)
	for _, one := range all {
		list = append(list, one.(map[string]any))
	}
	return list
}

// Of the JSON schemas of Data Package 2.0 (https://datapackage.org/profiles/2.0/), the
// rules for what a data set has: properties that are required, types, formats and
// patterns; each field is of exactly one of the fifteen types, with a format and with
// constraints that this type has.
func TestDataPackage_NoRace(t *testing.T) {
	t.Parallel()
	dir, folder := published(t)
	for i, folder := range []string{folder, publishedSeveral(t, dir)} {
		p := readJSON(t, folder, "datapackage.json")
		wantShape(t, "package", p, map[string]string{
			"$schema": `^https://datapackage\.org/profiles/2\.0/datapackage\.json$`, "name": `^[-a-z0-9._/]+$`, "title": `.`,
			"description": `.`, "version": `.`,
			"created": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`, "homepage": `^https?://`, "id": `.`,
		}, "keywords", "licenses", "contributors", "resources")
		for _, list := range []string{"keywords", "licenses", "contributors", "resources"} {
			if v, ok := p[list]; ok && len(v.([]any)) == 0 {
				t.Errorf("%s is empty", list)
			}
		}
		// A path or URL: relative, without a step up.
		const path = `^([^./~\\][^\\]*|https?://.+)$`
		for _, l := range objects(p["licenses"]) {
			wantShape(t, "licence", l, map[string]string{"name": `^[-a-zA-Z0-9._]+$`, "path": path})
			if len(l) == 0 {
				t.Error("a licence has neither name nor path")
			}
		}
		for _, c := range objects(p["contributors"]) {
			wantShape(t, "contributor", c, map[string]string{"title": `.`, "givenName": `.`, "familyName": `.`,
				"email": `^[^@]+@[^@]+$`, "path": path, "organization": `.`}, "roles")
		}
		// without answers, documents, labels and sitemaps, with changes
		if n := len(objects(p["resources"])); n != len(schema.TableNames)-7+i {
			t.Errorf("%d resources", n)
		}
		for _, r := range objects(p["resources"]) {
			wantShape(t, "resource", r, map[string]string{
				"name": `^[-a-z0-9._/]+$`, "title": `.`, "description": `.`, "format": `^parquet$`, "mediatype": `^.+/.+$`,
				"hash": `^([^:]+:[a-fA-F0-9]+|[a-fA-F0-9]{32}|)$`,
			}, "path", "bytes", "schema")
			paths, whole := []any{r["path"]}, true
			if many, ok := r["path"].([]any); ok {
				paths, whole = many, false
			}
			for _, one := range paths {
				name, _ := one.(string)
				text, err := os.ReadFile(filepath.Join(folder, name))
				must(t, err)
				if !regexp.MustCompile(path).MatchString(name) || strings.Contains(name, "/../") ||
					strings.HasPrefix(name, "file:") {
					t.Errorf("the path %q", name)
				}
				if whole && (r["hash"] != fmt.Sprintf("sha256:%x", sha256.Sum256(text)) || r["bytes"] != float64(len(text))) {
					t.Errorf("%s has %v bytes, %v", name, r["bytes"], r["hash"])
				}
			}
			wantTableSchema(t, r)
			wantKeys(t, r, p)
		}
	}
}

// fieldRules are the types of fields that a data set may have, with their formats and the
// constraints that all of these types have.
var fieldRules = map[string]struct{ formats, constraints []any }{
	"string": {[]any{nil, "default", "email", "uri", "binary", "uuid"}, []any{"required", "unique", "enum", "pattern",
		"minLength", "maxLength"}},
	"integer":  {[]any{nil, "default"}, []any{"required", "unique", "enum", "minimum", "maximum"}},
	"number":   {[]any{nil, "default"}, []any{"required", "unique", "enum", "minimum", "maximum"}},
	"boolean":  {[]any{nil, "default"}, []any{"required", "enum"}},
	"datetime": {[]any{nil, "default", "any"}, []any{"required", "unique", "enum", "minimum", "maximum"}},
	"array":    {[]any{nil, "default"}, []any{"required", "unique", "enum", "minLength", "maxLength"}},
}

func wantTableSchema(t *testing.T, resource map[string]any) {
	t.Helper()
	schema := resource["schema"].(map[string]any)
	wantShape(t, "schema", schema, map[string]string{
		"$schema": `^https://datapackage\.org/profiles/2\.0/tableschema\.json$`}, "fields", "fieldsMatch", "primaryKey",
		"foreignKeys")
	if match := schema["fieldsMatch"]; !reflect.DeepEqual(match, []any{"superset"}) {
		t.Errorf("%v: the fields are %v", resource["name"], match)
	}
	fields := objects(schema["fields"])
	if len(fields) == 0 {
		t.Errorf("%v has no fields", resource["name"])
	}
	for _, f := range fields {
		wantShape(t, "field", f, map[string]string{"name": `.`, "type": `.`, "description": `.`, "format": `.`},
			"constraints")
		kind, _ := f["type"].(string)
		rules, ok := fieldRules[kind]
		if !ok || f["name"] == nil || !slices.Contains(rules.formats, f["format"]) {
			t.Errorf("%v: field %v", resource["name"], f)
		}
		constraints, _ := f["constraints"].(map[string]any)
		for name, v := range constraints {
			if _, isBool := v.(bool); !slices.Contains(rules.constraints, any(name)) || name == "required" && !isBool {
				t.Errorf("%v: field %v", resource["name"], f)
			}
		}
	}
}

// wantKeys expects that keys name fields, here and in the resource that they refer to, and
// that most tables have the key that joins them to fetches.
func wantKeys(t *testing.T, resource, about map[string]any) {
	t.Helper()
	wantFields := func(r map[string]any, names any) {
		fields := objects(r["schema"].(map[string]any)["fields"])
		list, _ := names.([]any)
		if len(list) == 0 {
			t.Errorf("%v has the key %v", r["name"], names)
		}
		for _, name := range list {
			if !slices.ContainsFunc(fields, func(f map[string]any) bool { return f["name"] == name }) {
				t.Errorf("%v has no field %v", r["name"], name)
			}
		}
	}
	schema := resource["schema"].(map[string]any)
	if key := schema["primaryKey"]; key != nil {
		wantFields(resource, key)
	}
	for _, key := range objects(schema["foreignKeys"]) {
		wantFields(resource, key["fields"])
		to := key["reference"].(map[string]any)
		for _, r := range objects(about["resources"]) {
			if r["name"] == to["resource"] {
				wantFields(r, to["fields"])
				return
			}
		}
		t.Errorf("%v refers to the resource %v", resource["name"], to["resource"])
	}
	if own := []any{"fetches", "agents", "summary", "examples", "bodies", "changes"}; slices.Contains(own,
		resource["name"]) == (schema["foreignKeys"] != nil) {
		t.Errorf("%v refers to other tables: %v", resource["name"], schema["foreignKeys"])
	}
}

// What the makers say stands in each description that has a place for it, and a question
// that they leave open stays in sight. reproduce derives all of it again.
func TestWhatOnlyItsMakersKnow_NoRace(t *testing.T) {
	t.Parallel()
	out, set := t.TempDir(), filepath.Join(t.TempDir(), "set")
	call(t, 0, "run", "--bodies", filepath.Join("..", "..", "testdata", "demo", "hosts"), "--out", out, "--run", "r",
		"--keep-bodies", "--progress", "none", "--limit", "3")
	file := filepath.Join(out, "words.yaml")
	must(t, os.WriteFile(file, []byte(`
creators:
  - {name: "Doe, Jane", orcid: 0000-0002-1825-0097, affiliation: Example *University*}
  - The Census Group
licence: CC-BY-4.0
publisher: Example Repository
funding: ["Example Foundation, grant 123"]
motivation: To know what crawlers may fetch.
maintenance: |
  One version a month.

  # Errors
  To census@example.org.
`), 0o666))
	call(t, 0, "publish", "--out", out, "r", "--to", set, "--words", file)
	if said := call(t, 0, "reproduce", set); !strings.HasSuffix(said, "the same\n") {
		t.Errorf("reproduce says %s", said)
	}
	files := filesOf(t, set)
	for name, wants := range map[string][]string{
		"DATASHEET.md": {
			`Doe, Jane (Example \*University\*, https://orcid.org/0000-0002-1825-0097); The Census Group`,
			"- Published by: Example Repository\n", "- Funded by: Example Foundation, grant 123\n",
			"### Motivation\n\n*For what purpose", "*\n\nTo know what crawlers may fetch.\n\n### Ethics\n",
			"*\n\n**Not answered.** (`ethics` in", "**Not answered.** (`uses` in",
			"One version a month.\n\n\\# Errors\nTo census",
		},
		"README.md": {"duckdb -init views.sql", "sha256sum -c checksums.sha256", "| `policies/run=ID/` | table: ",
			"Doe, Jane (Example", "@misc{"},
		"CITATION.cff": {"orcid: https://orcid.org/0000-0002-1825-0097\n", "affiliation: Example *University*\n"},
		"datapackage.json": {`"path": "https://orcid.org/0000-0002-1825-0097"`, `"organization": "Example *University*"`,
			`"title": "Example Repository"`, `"publisher"`, `"funder"`, `"title": "Example Foundation, grant 123"`},
		"croissant.json": {`"sameAs": "https://orcid.org/0000-0002-1825-0097"`, `"publisher": {`, `"sc:Grant"`,
			`"rai:dataReleaseMaintenancePlan": "One version a month.`, `"rai:dataLimitations": [`},
	} {
		for _, want := range wants {
			if !strings.Contains(files[name], want) {
				t.Errorf("%s lacks %q:\n%.3000s", name, want, files[name])
			}
		}
	}
	if text := files["croissant.json"]; strings.Contains(text, "rai:dataUseCases") ||
		strings.Contains(text, "rai:dataSocialImpact") {
		t.Error("croissant.json answers what nobody has answered")
	}
	if strings.Contains(files["DATASHEET.md"], "`motivation` in") {
		t.Error("an answered question is said to be open")
	}
	wantCroissant(t, set, "changes", "answers", "documents", "labels", "label_counts", "sitemap_files", "coverage", "urls")
}

// wantShape expects texts of these patterns, if they are there, and no other keys but
// those of more.
func wantShape(t *testing.T, what string, v map[string]any, patterns map[string]string, more ...string) {
	t.Helper()
	for key, value := range v {
		text, isText := value.(string)
		if pattern, ok := patterns[key]; ok && !(isText && regexp.MustCompile(pattern).MatchString(text)) || !ok &&
			!slices.Contains(more, key) {
			t.Errorf("%s: %s is %#v", what, key, value)
		}
	}
}
