package sitemap

// mostDistinct bounds the ranks that a count of different URLs holds. Beyond it the count is an
// estimate whose standard error is about one over the root of half of it: 1.6 %.
const mostDistinct = 1 << 13

// distinct counts the different URLs of a host in bounded memory. It holds the ranks whose
// lowest bits are 0, as many of these bits as it takes: each rank that is held stands for
// 2 to the power of that many URLs (Wegman's adaptive sampling; P. Flajolet, Computing 43, 1990,
// 391). The ranks of all URLs up to mostDistinct are held.
type distinct struct {
	has  map[uint64]struct{}
	bits uint
	n    int64 // so far; it never falls
}

// add counts a URL by its rank.
func (d *distinct) add(rank uint64) {
	// The lowest bits: the sample takes ranks by their highest.
	if rank&(1<<d.bits-1) != 0 {
		return
	}
	if d.has == nil {
		d.has = make(map[uint64]struct{})
	}
	d.has[rank] = struct{}{}
	for len(d.has) > mostDistinct {
		d.bits++
		for rank := range d.has {
			if rank&(1<<d.bits-1) != 0 {
				delete(d.has, rank)
			}
		}
	}
	d.n = max(d.n, int64(len(d.has))<<d.bits)
}
