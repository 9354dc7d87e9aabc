package run

import "testing"

func TestSitemapBounds(t *testing.T) {
	for text, want := range map[string]sitemapBounds{
		"": {}, "0": {Bytes: 20 << 20}, "5": {5, 20 << 20, "5"}, "100,1G": {100, 1 << 30, "100,1G"},
		"1,512K": {1, 512 << 10, "1,512K"},
	} {
		b := sitemapBounds{Files: 9}
		if err := b.Set(text); err != nil || b != want {
			t.Errorf("%q: %+v, %v", text, b, err)
		}
		again := sitemapBounds{}
		if err := again.Set(b.String()); err != nil || again.Files != b.Files {
			t.Errorf("%q again: %+v, %v", text, again, err)
		}
	}
	for _, text := range []string{"x", "101", "-1", "5,", "5,0", "5,2G", "5,x", ",5"} {
		if b := new(sitemapBounds); b.Set(text) == nil {
			t.Errorf("%q is taken: %+v", text, b)
		}
	}
}
