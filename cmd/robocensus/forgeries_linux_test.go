package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/robocensus/robocensus/sink/schema"
)

// forgeries are the kinds of forgeries of [TestForgedSets_NoRace]. In those whose names
// begin with a table, rows of it are changed, and all digests made anew.
var forgeries = []aForgery{
	{name: "a byte of a part", refused: []string{"verify", "reproduce"}, forge: func(f *forgedSet) bool {
		p := f.one()
		content := f.content(p)
		content[f.chance.IntN(len(content))] ^= 1 << f.chance.IntN(8)
		f.write(p.Path, content)
		return true
	}},
	{name: "a part cut short", refused: []string{"verify", "reproduce"}, forge: func(f *forgedSet) bool {
		p := f.one()
		content := f.content(p)
		f.write(p.Path, content[:f.chance.IntN(len(content))])
		return true
	}},
	{name: "a part of another table", refused: []string{"verify", "reproduce"}, forge: func(f *forgedSet) bool {
		p, other := f.one(), f.one()
		f.write(p.Path, f.content(other))
		return p.Table != other.Table
	}},
	{name: "a byte of the manifest", refused: []string{"verify", "reproduce", "from-run", "report"},
		forge: func(f *forgedSet) bool {
			content, err := os.ReadFile(filepath.Join(f.dir, "_runs/r/manifest.json"))
			must(f.T, err)
			content[f.chance.IntN(len(content))] ^= 1 << f.chance.IntN(8)
			f.write("_runs/r/manifest.json", content)
			return true
		}},
	{name: "sealed: a byte of a part", forge: func(f *forgedSet) bool {
		p := f.one()
		content := f.content(p)
		content[f.chance.IntN(len(content))] ^= 1 << f.chance.IntN(8)
		f.put(p, content)
		f.touched["manifest"] = true // a byte that means nothing is no forgery
		f.seal()
		return true
	}},
	{name: "sealed: many bytes of a part", forge: func(f *forgedSet) bool {
		p := f.one()
		content := f.content(p)
		for range 20 {
			content[f.chance.IntN(len(content))] = byte(f.chance.Uint32())
		}
		f.put(p, content)
		f.seal()
		return true
	}},
	{name: "sealed: bytes of a footer", forge: func(f *forgedSet) bool {
		p := f.one()
		content := f.content(p)
		length := int(content[len(content)-8]) | int(content[len(content)-7])<<8
		for range 1 + f.chance.IntN(3) {
			content[len(content)-1-f.chance.IntN(min(length+8, len(content)))] = byte(f.chance.Uint32())
		}
		f.put(p, content)
		f.touched["manifest"] = true
		f.seal()
		return true
	}},
	{name: "sealed: a part cut short", refused: []string{"verify", "reproduce"}, forge: func(f *forgedSet) bool {
		p := f.one()
		content := f.content(p)
		f.put(p, content[:f.chance.IntN(len(content))])
		f.seal()
		return true
	}},
	{name: "sealed: a part of another table", refused: []string{"verify", "reproduce"}, forge: func(f *forgedSet) bool {
		p, other := f.one(), f.one()
		f.put(p, f.content(other))
		f.seal()
		return p.Table != other.Table
	}},
	{name: "sealed: a value of the manifest", forge: func(f *forgedSet) bool {
		f.touched["manifest"] = true
		f.seal()
		name := filepath.Join(f.dir, "_runs/r/manifest.json")
		content, err := os.ReadFile(name)
		must(f.T, err)
		var object map[string]any
		must(f.T, json.Unmarshal(edited(f.chance, content), &object))
		delete(object, "sha256")
		sealedOrdered(f, name, object)
		f.checksum()
		return true
	}},
	{name: "sealed: a number of the manifest", refused: []string{"verify", "reproduce"}, forge: func(f *forgedSet) bool {
		f.touched["manifest"] = true
		switch p := f.one(); f.chance.IntN(3) {
		case 0:
			p.Rows = hostileInt(f.chance, p.Rows)
		case 1:
			p.Segment += 1 + f.chance.IntN(3)
		default:
			p.Path = strings.Replace(p.Path, "part-", "../part-", 1)
		}
		f.seal()
		return true
	}},
	{name: "sealed: a part named twice", refused: []string{"verify", "reproduce", "from-run"},
		forge: func(f *forgedSet) bool {
			f.touched["manifest"] = true
			p := *f.one("fetches")
			f.manifest.Parts = append(f.manifest.Parts, p)
			f.seal()
			return true
		}},
	{name: "fetches: a cell", forge: func(f *forgedSet) bool { return changed(f, "fetches", spoiled[schema.Fetch]) }},
	{name: "fetches: ten cells", forge: func(f *forgedSet) bool {
		return changed(f, "fetches", func(c *rand.Rand, rows []schema.Fetch) []schema.Fetch {
			for range 10 {
				rows = spoiled(c, rows)
			}
			return rows
		})
	}},
	{name: "groups: a cell", forge: func(f *forgedSet) bool { return changed(f, "groups", spoiled[schema.Group]) }},
	{name: "rules: a cell", forge: func(f *forgedSet) bool { return changed(f, "rules", spoiled[schema.Rule]) }},
	{name: "sitemaps: a cell", forge: func(f *forgedSet) bool { return changed(f, "sitemaps", spoiled[schema.Sitemap]) }},
	{name: "lines: a cell", forge: func(f *forgedSet) bool { return changed(f, "lines", spoiled[schema.Line]) }},
	{name: "signals: a cell", forge: func(f *forgedSet) bool { return changed(f, "signals", spoiled[schema.Signal]) }},
	{name: "preferences: a cell", forge: func(f *forgedSet) bool {
		return changed(f, "preferences", spoiled[schema.Preference])
	}},
	{name: "templates: a cell", of: "shards", forge: func(f *forgedSet) bool {
		return changed(f, "templates", spoiled[schema.Template])
	}},
	{name: "labels: a cell", of: "identities", forge: func(f *forgedSet) bool {
		return changed(f, "labels", spoiled[schema.Label])
	}},
	{name: "label_counts: a cell", of: "identities", forge: func(f *forgedSet) bool {
		return changed(f, "label_counts", spoiled[schema.LabelCount])
	}},
	{name: "answers: a cell", of: "identities", forge: func(f *forgedSet) bool {
		return changed(f, "answers", spoiled[schema.Answer])
	}},
	{name: "answers: an unknown treatment", of: "identities", refused: []string{"verify", "from-run"},
		forge: func(f *forgedSet) bool {
			return changed(f, "answers", func(c *rand.Rand, rows []schema.Answer) []schema.Answer {
				rows[c.IntN(len(rows))].Treatment = "odd\x1b[31m"
				return rows
			})
		}},
	{name: "answers: more than there are identities", of: "identities", refused: []string{"from-run"},
		forge: func(f *forgedSet) bool {
			return changed(f, "answers", func(c *rand.Rand, rows []schema.Answer) []schema.Answer {
				for range 40 {
					rows = append(rows, rows[len(rows)-1])
				}
				return rows
			})
		}},
	{name: "answers: of no host", of: "identities", refused: []string{"from-run"}, forge: func(f *forgedSet) bool {
		return changed(f, "answers", func(c *rand.Rand, rows []schema.Answer) []schema.Answer {
			rows[0].Seq = 0
			return rows
		})
	}},
	{name: "sitemap_files: a cell", of: "sitemaps", forge: func(f *forgedSet) bool {
		return changed(f, "sitemap_files", spoiled[schema.SitemapFile])
	}},
	{name: "sitemap_files: an unknown outcome", of: "sitemaps", refused: []string{"verify", "from-run"},
		forge: func(f *forgedSet) bool {
			return changed(f, "sitemap_files", func(c *rand.Rand, rows []schema.SitemapFile) []schema.SitemapFile {
				rows[c.IntN(len(rows))].Outcome = "odd\x1b[31m"
				return rows
			})
		}},
	{name: "coverage: a cell", of: "sitemaps", forge: func(f *forgedSet) bool {
		return changed(f, "coverage", spoiled[schema.Coverage])
	}},
	{name: "urls: a cell", of: "sitemaps", forge: func(f *forgedSet) bool {
		return changed(f, "urls", spoiled[schema.ListedURL])
	}},
	{name: "urls: of no host", of: "sitemaps", refused: []string{"from-run"}, forge: func(f *forgedSet) bool {
		return changed(f, "urls", func(c *rand.Rand, rows []schema.ListedURL) []schema.ListedURL {
			rows[0].Seq = 0
			return rows
		})
	}},
	{name: "documents: a cell", of: "identities", forge: func(f *forgedSet) bool {
		return changed(f, "documents", spoiled[schema.Document])
	}},
	{name: "agents: a cell", forge: func(f *forgedSet) bool { return changed(f, "agents", spoiled[schema.Agent]) }},
	{name: "policies: a cell", forge: func(f *forgedSet) bool { return changed(f, "policies", spoiled[schema.Policy]) }},
	{name: "verdicts: a cell", forge: func(f *forgedSet) bool { return changed(f, "verdicts", spoiled[schema.Verdict]) }},
	{name: "summary: a cell", forge: func(f *forgedSet) bool { return changed(f, "summary", spoiled[schema.Count]) }},
	{name: "examples: a cell", forge: func(f *forgedSet) bool { return changed(f, "examples", spoiled[schema.Example]) }},
	{name: "bodies: a cell", refused: []string{"verify", "reproduce", "from-run"}, forge: func(f *forgedSet) bool {
		return changed(f, "bodies", spoiled[schema.Body])
	}},
	{name: "fetches: an unknown kind of answer", refused: []string{"verify", "reproduce", "from-run"},
		forge: func(f *forgedSet) bool {
			return changed(f, "fetches", func(c *rand.Rand, rows []schema.Fetch) []schema.Fetch {
				rows[c.IntN(len(rows))].AnswersSince = []schema.Seen{{Since: time.Now(), Kind: "odd\x1b[31m"}}
				return rows
			})
		}},
	{name: "fetches: an unknown class of errors", refused: []string{"verify", "reproduce", "from-run"},
		forge: func(f *forgedSet) bool {
			return changed(f, "fetches", func(c *rand.Rand, rows []schema.Fetch) []schema.Fetch {
				rows[c.IntN(len(rows))].ErrorClass = new("odd\x1b[31m")
				return rows
			})
		}},
	{name: "fetches: out of order", refused: []string{"verify", "reproduce", "from-run"}, forge: func(f *forgedSet) bool {
		return changed(f, "fetches", func(c *rand.Rand, rows []schema.Fetch) []schema.Fetch {
			rows[0], rows[len(rows)-1] = rows[len(rows)-1], rows[0]
			return rows
		})
	}},
	{name: "bodies: two exchanged", refused: []string{"verify", "reproduce", "from-run"}, forge: func(f *forgedSet) bool {
		return changed(f, "bodies", func(c *rand.Rand, rows []schema.Body) []schema.Body {
			rows[0].Body, rows[1].Body = rows[1].Body, rows[0].Body
			return rows
		})
	}},
	{name: "summary: negative counters", refused: []string{"verify", "reproduce", "report"},
		forge: func(f *forgedSet) bool {
			return changed(f, "summary", func(c *rand.Rand, rows []schema.Count) []schema.Count {
				rows[c.IntN(len(rows))].Count = -1 - c.Int64N(math.MaxInt64)
				return rows
			})
		}},
	{name: "summary: counters that add up to more than a number holds", refused: []string{"verify", "reproduce",
		"report"}, forge: func(f *forgedSet) bool {
		return changed(f, "summary", func(c *rand.Rand, rows []schema.Count) []schema.Count {
			for i := range rows {
				if rows[i].Metric == "reason" {
					rows[i].Count = math.MaxInt64 - 1
				}
			}
			return rows
		})
	}},
}

// write writes a file of the set without any digest.
func (f *forgedSet) write(name string, content []byte) {
	was, err := os.ReadFile(filepath.Join(f.dir, name))
	must(f.T, err)
	if !bytes.Equal(was, content) {
		f.touched[strings.SplitN(name, "/", 2)[0]] = true
	}
	must(f.T, os.WriteFile(filepath.Join(f.dir, name), content, 0o666))
}

// sealedOrdered writes a manifest whose fields are in a map.
func sealedOrdered(f *forgedSet, name string, object map[string]any) {
	must(f.T, os.WriteFile(name, must2(json.Marshal(object)), 0o666))
	rewritten(f.T, name, func(map[string]any) {})
}

// changed changes the rows of one part of a table.
func changed[R any](f *forgedSet, table string, change func(*rand.Rand, []R) []R) bool {
	all := f.parts(table)
	if len(all) == 0 {
		return false
	}
	p := all[f.chance.IntN(len(all))]
	content, rows := f.content(p), rowsOf[R](f, p)
	if len(rows) < 2 {
		return false
	}
	if rows = change(f.chance, rows); reflect.DeepEqual(rows, rowsOf[R](f, p)) {
		return false
	}
	p.Rows = int64(len(rows))
	f.put(p, encoded(f, content, rows))
	f.seal()
	return true
}

// encoded returns a part of rows with the metadata of another.
func encoded[R any](f *forgedSet, like []byte, rows []R) []byte {
	var out bytes.Buffer
	w := writerOf[R](f, &out, like)
	_, err := w.Write(rows)
	must(f.T, err)
	must(f.T, w.Close())
	return out.Bytes()
}

// writerOf returns a writer of a part with the metadata of another. Without bounds, a page
// of long texts is as short as they compress to.
func writerOf[R any](f *forgedSet, out io.Writer, like []byte) *parquet.GenericWriter[R] {
	opened, err := parquet.OpenFile(bytes.NewReader(like), int64(len(like)))
	must(f.T, err)
	options := []parquet.WriterOption{parquet.Compression(&zstd.Codec{}), parquet.MaxRowsPerRowGroup(1 << 24)}
	for _, path := range parquet.SchemaOf(*new(R)).Columns() {
		options = append(options, parquet.SkipPageBounds(path...), parquet.SkipPageStatistics(path...))
	}
	for _, pair := range opened.Metadata().KeyValueMetadata {
		options = append(options, parquet.KeyValueMetadata(pair.Key, pair.Value))
	}
	return parquet.NewGenericWriter[R](out, options...)
}

// spoiled changes one cell of one row to something hostile.
func spoiled[R any](chance *rand.Rand, rows []R) []R {
	row := reflect.ValueOf(&rows[chance.IntN(len(rows))]).Elem()
	mangle(chance, row.Field(chance.IntN(row.NumField())))
	return rows
}

var hostileTexts = []string{
	"\x1b[31mred\x1b[0m", "\u202egnp.exe", "../../etc/passwd", "=cmd()", "\xff\xfe", "a\x00b", "", "https://",
	"h\r\nSet-Cookie: x", "<script>alert(1)</script>",
	"[::1", "xn--a", strings.Repeat("a", 70_000), "-1", "\u0085\u2028",
}

func hostileInt(chance *rand.Rand, was int64) int64 {
	all := []int64{math.MinInt64, math.MaxInt64, math.MinInt32, math.MaxInt32, -1, 0, was + 1, was - 1, 1 << 40}
	return all[chance.IntN(len(all))]
}

// mangle sets a field to something hostile.
func mangle(chance *rand.Rand, v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.UnixMicro(hostileInt(chance, v.Interface().(time.Time).UnixMicro()))))
		return
	case []byte:
		v.SetBytes([]byte(hostileTexts[chance.IntN(len(hostileTexts))]))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostileTexts[chance.IntN(len(hostileTexts))])
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int32, reflect.Int64:
		v.SetInt(hostileInt(chance, v.Int()))
	case reflect.Float64:
		v.SetFloat([]float64{math.NaN(), math.Inf(1), -1, 1e300}[chance.IntN(4)])
	case reflect.Pointer:
		if !v.IsNil() && chance.IntN(4) == 0 {
			v.SetZero()
			return
		}
		one := reflect.New(v.Type().Elem())
		mangle(chance, one.Elem())
		v.Set(one)
	case reflect.Slice:
		all := reflect.MakeSlice(v.Type(), 0, 0)
		for range []int{0, 1, 3, 2000}[chance.IntN(4)] {
			one := reflect.New(v.Type().Elem()).Elem()
			mangle(chance, one)
			all = reflect.Append(all, one)
		}
		v.Set(all)
	case reflect.Struct:
		mangle(chance, v.Field(chance.IntN(v.NumField())))
	}
}
