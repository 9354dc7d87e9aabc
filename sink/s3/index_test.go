package s3

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/sink/schema"
)

// The records that an index names are read from a bucket by their bytes, also where the
// store answers with errors, breaks off and is slow: the rows are those of the same archives
// in a folder.
func TestIndexOfArchivesInABucket(t *testing.T) {
	t.Parallel()
	const archives, records = 3, 20
	dir, at := t.TempDir(), bucket(t, "index")
	var index strings.Builder
	w := warc.NewWriter()
	for a := range archives {
		var file bytes.Buffer
		for i := range records {
			answer := fmt.Sprintf("HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /%d\n", i)
			from := file.Len()
			target := fmt.Sprintf("https://a%d-%d.example/robots.txt", a, i)
			must(t, w.Write(&file, &warc.Record{Type: "response", ID: warc.NewID(), Date: time.Unix(1e9, 0),
				ContentType: "application/http; msgtype=response",
				Fields:      []warc.Field{{Name: "WARC-Target-URI", Value: target}}, Head: []byte(answer)}))
			if i%3 > 0 { // the others lie between
				fmt.Fprintf(&index, "x 20010909014640 {\"url\": %q, \"filename\": \"crawl/%d.warc.gz\", \"offset\": \"%d\", "+
					"\"length\": \"%d\"}\n", target, a, from, file.Len()-from)
			}
			file.Write(bytes.Repeat([]byte{0}, i*20_000)) // gaps, of which some are too long to be read over
		}
		for _, folder := range []string{dir, filepath.Join(server.Dir, "index")} {
			must(t, os.MkdirAll(filepath.Join(folder, "crawl"), 0o777))
			must(t, os.WriteFile(filepath.Join(folder, "crawl", fmt.Sprintf("%d.warc.gz", a)), file.Bytes(), 0o666))
		}
	}
	list := filepath.Join(dir, "index.cdxj")
	must(t, os.WriteFile(list, []byte(index.String()), 0o666))
	rows := func(base string) (all []schema.Fetch) {
		c := census(t, "")
		c.Dir, c.Tables = filepath.Join(t.TempDir(), "out"), []string{"fetches"}
		c.Source = source.Config{Schemes: []string{"https"}, CDX: []string{list}, Base: base}
		_, err := pipeline.Run(t.Context(), c, new(pipeline.Progress))
		must(t, err)
		files, err := filepath.Glob(filepath.Join(c.Dir, "fetches", "run=r", "*.parquet"))
		must(t, err)
		for _, name := range files {
			part, err := parquet.ReadFile[schema.Fetch](name)
			must(t, err)
			all = append(all, part...)
		}
		return all
	}
	want := rows(dir)
	if len(want) != archives*(records-(records+2)/3) {
		t.Fatalf("%d rows of a folder", len(want))
	}
	u, err := url.Parse(at)
	must(t, err)
	script := faulty.disturb(u.Host, 7, 0.1)
	defer script.end()
	if diff := cmp.Diff(want, rows(at)); diff != "" {
		t.Errorf("rows (-folder +bucket):\n%s", diff)
	}
}
