package sitemap

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// BenchmarkRead reads a packed sitemap of 50,000 URLs, plain and with three images each.
func BenchmarkRead(b *testing.B) {
	for _, images := range []int{0, 3} {
		b.Run(fmt.Sprintf("images=%d", images), func(b *testing.B) {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			n, _ := io.WriteString(z, head)
			for i := range 50_000 {
				m, _ := fmt.Fprintf(z, "\n<url>\n<loc>https://www.shop.example/catalogue/department-%d/product-%d.html?page=1&"+
					"amp;view=full</loc>\n<lastmod>2026-01-02T10:00:00+00:00</lastmod>\n<changefreq>daily</changefreq>\n"+
					"<priority>0.5</priority>\n", i%50, i)
				for k := range images {
					l, _ := fmt.Fprintf(z,
						"<image:image><image:loc>https://img.shop.example/%d/%d.jpg</image:loc><image:title>Product "+
							"%d</image:title></image:image>\n", i, k, i)
					m += l
				}
				io.WriteString(z, "</url>")
				n += m + len("</url>")
			}
			io.WriteString(z, "</urlset>")
			z.Close()
			b.SetBytes(int64(n))
			for b.Loop() {
				r, err := Read(bytes.NewReader(packed.Bytes()), nil, 1<<26, func(Entry) error { return nil })
				if err != nil || r.URLs != 50_000 {
					b.Fatalf("%d URLs, %v", r.URLs, err)
				}
			}
		})
	}
}
