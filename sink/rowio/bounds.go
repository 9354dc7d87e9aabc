package rowio

import (
	"errors"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// bounds are the least and the greatest value of a column chunk, as its statistics say; nil
// for one that they do not say. Engines go over row groups by them.
type bounds struct {
	of              parquet.Type
	least, greatest *parquet.Value

	dictionary parquet.Dictionary // of the page before
	within     bool               // all its values are
}

func boundsOf(of parquet.Type, s *format.Statistics) *bounds {
	said := func(now, deprecated []byte) *parquet.Value {
		if now == nil {
			now = deprecated
		}
		if now == nil {
			return nil
		}
		v := of.Kind().Value(now)
		return &v
	}
	return &bounds{of: of, least: said(s.MinValue, s.Min), greatest: said(s.MaxValue, s.Max)}
}

// hold returns an error for a page with values that are not within the bounds.
func (b *bounds) hold(p parquet.Page) error {
	if b == nil || b.least == nil && b.greatest == nil {
		return nil
	}
	if d := p.Dictionary(); d != nil {
		if d != b.dictionary {
			b.dictionary, b.within = d, b.exclude(d.Page()) == nil
		}
		if b.within {
			return nil
		}
	}
	return b.exclude(p)
}

// exclude returns an error if the bounds exclude a value of a page.
func (b *bounds) exclude(p parquet.Page) error {
	least, greatest, ok := p.Bounds()
	if ok && (b.least != nil && b.of.Compare(least, *b.least) < 0 ||
		b.greatest != nil && b.of.Compare(greatest, *b.greatest) > 0) {
		return errors.New("has values that its statistics exclude")
	}
	return nil
}
