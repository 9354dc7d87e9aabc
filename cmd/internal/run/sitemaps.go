package run

import (
	"errors"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
)

// sitemapBounds is the value of --sitemaps: files of a host, and bytes of all of them.
type sitemapBounds struct {
	Files int
	Bytes int64
	text  string
}

var errSitemaps = errors.New("expected files of a host, 1 to 100 (0 for none), and, if you like, their bytes up to " +
	"1G, such as 5 or 5,20M")

func (b *sitemapBounds) Type() string { return "bounds" }

func (b *sitemapBounds) String() string { return b.text }

func (b *sitemapBounds) Set(text string) (err error) {
	if text == "" { // of a plan
		*b = sitemapBounds{}
		return nil
	}
	files, bytes, ok := strings.Cut(text, ",")
	now := sitemapBounds{Bytes: 20 << 20, text: text}
	if now.Files, err = strconv.Atoi(files); err == nil && ok {
		var size cli.Size
		err = size.Set(bytes)
		now.Bytes = int64(size)
	}
	if err != nil || now.Files < 0 || now.Files > 100 || now.Bytes < 1 || now.Bytes > 1<<30 {
		return errSitemaps
	}
	if now.Files == 0 {
		now.text = ""
	}
	*b = now
	return nil
}
