package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

func init() { forgeries = append(forgeries, append(forgeriesOfShards, largeForgeries...)...) }

// forgeriesOfShards are whole by all digests, and make those who join the tables count
// hosts twice, or not at all.
var forgeriesOfShards = []aForgery{
	{name: "shards: one is not named", of: "shards", refused: []string{"verify", "from-run"},
		forge: func(f *forgedSet) bool {
			gone := f.chance.IntN(2)
			f.manifest.Parts = slices.DeleteFunc(f.manifest.Parts, func(p journal.Part) bool {
				return p.Segment == gone && p.Table != "agents"
			})
			f.manifest.Records = slices.Delete(f.manifest.Records, gone, gone+1)
			for segment, r := range f.records {
				if segment != gone {
					f.manifest.Targets = r.Targets
				}
			}
			f.touched["manifest"] = true
			f.seal()
			return true
		}},
	{name: "shards: a host of another", of: "shards", refused: []string{"verify", "from-run"},
		forge: func(f *forgedSet) bool {
			all := f.parts("fetches")
			rows, others := rowsOf[schema.Fetch](f, all[0]), rowsOf[schema.Fetch](f, all[1])
			row := others[f.chance.IntN(len(others))]
			row.Seq = rows[len(rows)-1].Seq + 1000
			row.ContentDigest, row.Hops, row.Status = rows[0].ContentDigest, rows[0].Hops, rows[0].Status
			f.fetches(all[0], append(rows, row))
			return true
		}},
	{name: "shards: a seq of another", of: "shards", refused: []string{"verify", "from-run"},
		forge: func(f *forgedSet) bool {
			all := f.parts("fetches")
			rows, others := rowsOf[schema.Fetch](f, all[0]), rowsOf[schema.Fetch](f, all[1])
			rows[len(rows)-1].Seq = max(rows[len(rows)-2].Seq+1, others[len(others)-1].Seq)
			others[len(others)-1].Seq = rows[len(rows)-1].Seq
			f.fetches(all[1], others)
			f.fetches(all[0], rows)
			return true
		}},
	{name: "shards: two exchanged", of: "shards", refused: []string{"verify", "from-run"}, forge: func(f *forgedSet) bool {
		for _, table := range []string{"fetches", "bodies"} {
			all := f.parts(table)
			a, b := f.content(all[0]), f.content(all[1])
			all[0].Rows, all[1].Rows = all[1].Rows, all[0].Rows
			f.put(all[0], b)
			f.put(all[1], a)
		}
		f.records[0].Targets, f.records[1].Targets = f.records[1].Targets, f.records[0].Targets
		f.seal()
		return true
	}},
	{name: "shards: a record of none", of: "shards", refused: []string{"verify"}, forge: func(f *forgedSet) bool {
		if r := f.records[f.chance.IntN(2)]; f.chance.IntN(2) == 0 {
			r.Shard = nil
		} else {
			r.Shard.Attempt = "another1"
		}
		f.touched["manifest"] = true
		f.seal()
		return true
	}},
	{name: "shards: another number", of: "shards", refused: []string{"verify", "from-run"},
		forge: func(f *forgedSet) bool {
			f.manifest.Shards = []int{0, -1, 1, 3, 1 << 30}[f.chance.IntN(5)]
			f.touched["manifest"] = true
			f.seal()
			return true
		}},
}

// largeForgeries are small and take much, if one believes them.
var largeForgeries = []aForgery{
	{name: "bodies: a gigabyte in a few kilobytes", of: "set", large: true, forge: func(f *forgedSet) bool {
		return f.bomb(2000, 512_000, true)
	}},
	{name: "bodies: a gigabyte, in the order of the rows", of: "run", large: true, forge: func(f *forgedSet) bool {
		return f.bomb(2000, 512_000, false)
	}},
	{name: "bodies: above the limit", large: true, refused: []string{"reproduce", "from-run"},
		forge: func(f *forgedSet) bool { return f.bomb(20, 60<<20, false) }},
	{name: "columns of large dictionaries", large: true, refused: []string{"verify", "reproduce"},
		forge: func(f *forgedSet) bool {
			return changed(f, "fetches", func(c *rand.Rand, rows []schema.Fetch) []schema.Fetch {
				text := strings.Repeat("a", 60<<20)
				for i := range rows[:1] {
					row := &rows[i]
					row.Input, row.FinalURL, row.Error, row.ContentType, row.Server, row.ETag, row.CacheControl, row.RetryAfter,
						row.LastModified = text, &text, &text, &text, &text, &text, &text, &text, &text
				}
				return rows
			})
		}},
	{name: "fetches: a hundred thousand hops", large: true, forge: func(f *forgedSet) bool {
		return changed(f, "fetches", func(c *rand.Rand, rows []schema.Fetch) []schema.Fetch {
			rows[0].Hops = slices.Repeat([]schema.Hop{{URL: "http://h.example/", Status: new(int32(302))}}, 1_000_000)
			return rows
		})
	}},
	{name: "fetches: a million answers", large: true, forge: func(f *forgedSet) bool {
		return changed(f, "fetches", func(c *rand.Rand, rows []schema.Fetch) []schema.Fetch {
			rows[0].AnswersSince = slices.Repeat([]schema.Seen{{Since: time.Unix(1, 0), Kind: "server_error"}}, 1_000_000)
			return rows
		})
	}},
	{name: "summary: a million counters", large: true, refused: []string{"report"}, forge: func(f *forgedSet) bool {
		return changed(f, "summary", func(c *rand.Rand, rows []schema.Count) []schema.Count {
			for i := range 3_000_000 {
				rows = append(rows, schema.Count{Metric: "status", Stratum: "unranked", Key: new(fmt.Sprint(i)), Count: 1})
			}
			return rows
		})
	}},
	{name: "examples: a million keys", large: true, refused: []string{"report"}, forge: func(f *forgedSet) bool {
		return changed(f, "examples", func(c *rand.Rand, rows []schema.Example) []schema.Example {
			for i := range 1_000_000 {
				rows = append(rows, schema.Example{Metric: "lint", Key: fmt.Sprint(i), Host: "h.example", Text: "x"})
			}
			return rows
		})
	}},
	{name: "examples: long texts", large: true, forge: func(f *forgedSet) bool {
		return changed(f, "examples", func(c *rand.Rand, rows []schema.Example) []schema.Example {
			for i := range 300 {
				rows = append(rows, schema.Example{Metric: "error_class", Key: fmt.Sprint(i), Host: "h.example",
					Text: fmt.Sprint(i, strings.Repeat("a", 1<<20))})
			}
			return rows
		})
	}},
	{name: "agents: a million", large: true, forge: func(f *forgedSet) bool {
		return changed(f, "agents", func(c *rand.Rand, rows []schema.Agent) []schema.Agent {
			for i := range 1_000_000 {
				rows = append(rows, schema.Agent{Name: fmt.Sprint(i), Category: "x", Tokens: []string{"x"}})
			}
			return rows
		})
	}},
	{name: "verdicts: a host of many URLs", large: true, forge: func(f *forgedSet) bool {
		return changed(f, "verdicts", func(c *rand.Rand, rows []schema.Verdict) []schema.Verdict {
			last := rows[len(rows)-1]
			for i := range 1_000_000 {
				last.URL = fmt.Sprintf("%s/%d", last.Host, i)
				rows = append(rows, last)
			}
			return rows
		})
	}},
	{name: "a footer of endless rows", refused: []string{"verify", "reproduce", "from-run"},
		forge: func(f *forgedSet) bool {
			p := f.one("fetches")
			f.put(p, boasting(f.content(p), p.Rows, 1<<36))
			f.seal()
			return true
		}},
}

// boasting makes a footer say another number of rows.
func boasting(content []byte, rows, other int64) []byte {
	end := len(content) - 8
	begin := end - int(binary.LittleEndian.Uint32(content[end:]))
	number := func(n int64) []byte { return binary.AppendVarint([]byte{0x16}, n) } // field 3, of the compact protocol
	at := begin + bytes.LastIndex(content[begin:end], number(rows))
	footer := slices.Concat(content[begin:at], number(other), content[at+len(number(rows)):end])
	return slices.Concat(content[:begin], footer, binary.LittleEndian.AppendUint32(nil, uint32(len(footer))),
		[]byte("PAR1"))
}

// fetches writes other rows of fetches, and counts them.
func (f *forgedSet) fetches(p *journal.Part, rows []schema.Fetch) {
	f.manifest.Targets += int64(len(rows)) - p.Rows
	if r := f.records[p.Segment]; r != nil {
		r.Targets += int64(len(rows)) - p.Rows
	}
	content := f.content(p)
	p.Rows = int64(len(rows))
	f.put(p, encoded(f, content, rows))
	f.seal()
}

// bomb gives the set n hosts, each with a body of its own of so many bytes, which are
// nearly alike, and in the reverse order.
func (f *forgedSet) bomb(n, size int, reverse bool) bool {
	fetches, bodies := f.one("fetches"), f.one("bodies")
	all := rowsOf[schema.Fetch](f, fetches)
	at := slices.IndexFunc(all, func(r schema.Fetch) bool {
		return r.ContentDigest != nil && r.Reason == "success" && r.BodyBytes != nil
	})
	body := bytes.Repeat([]byte("#\n"), size/2)
	own := func(i int) []byte { return append(body[:len(body)-10], fmt.Sprintf("%09d\n", i)...) }
	rows := make([]schema.Fetch, n)
	for i := range rows {
		rows[i] = all[at]
		rows[i].Seq, rows[i].Host = int64(i+1), fmt.Sprintf("h%d.example", i)
		rows[i].Origin = "https://" + rows[i].Host
		rows[i].ContentDigest, rows[i].BodyBytes = new(schema.ContentDigest(own(i))), new(int64(size))
	}
	like := f.content(bodies)
	name := filepath.Join(f.dir, bodies.Path)
	out, err := os.Create(name)
	must(f.T, err)
	w := writerOf[schema.Body](f, out, like)
	for i := range n {
		if reverse {
			i = n - 1 - i
		}
		b := own(i)
		_, err := w.Write([]schema.Body{{ContentDigest: schema.ContentDigest(b), Body: b}})
		must(f.T, err)
	}
	must(f.T, errors.Join(w.Close(), out.Close()))
	content, err := os.ReadFile(name)
	must(f.T, err)
	f.Logf("bodies of %d bytes", len(content))
	bodies.Rows = int64(n)
	f.put(bodies, content)
	f.fetches(fetches, rows)
	return true
}

// rowsOf returns the rows of a part.
func rowsOf[R any](f *forgedSet, p *journal.Part) []R {
	content := f.content(p)
	rows, err := parquet.Read[R](bytes.NewReader(content), int64(len(content)))
	must(f.T, err)
	return rows
}
