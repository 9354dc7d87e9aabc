package pipeline

import "hash/maphash"

// hashSet remembers strings by 64 bits each, in 8 bytes at a load of three
// quarters and less: the memory of a run that grows with the list. Among
// 100 million strings the chance that any two collide is 1 in 3,700, and the
// seed is drawn anew, so that no list can be made to collide.
type hashSet struct {
	seed  maphash.Seed
	slots []uint64 // 0 is free
	used  int
}

// add reports whether s was not there before.
func (h *hashSet) add(s string) bool {
	if h.slots == nil {
		h.seed = maphash.MakeSeed()
		h.slots = make([]uint64, 1024)
	}
	if h.used >= len(h.slots)/4*3 {
		old := h.slots
		h.slots = make([]uint64, 2*len(old))
		for _, v := range old {
			if v != 0 {
				h.put(v)
			}
		}
	}
	v := max(maphash.String(h.seed, s), 1)
	if !h.put(v) {
		return false
	}
	h.used++
	return true
}

func (h *hashSet) put(v uint64) bool {
	mask := uint64(len(h.slots) - 1)
	for i := v & mask; ; i = (i + 1) & mask {
		switch h.slots[i] {
		case 0:
			h.slots[i] = v
			return true
		case v:
			return false
		}
	}
}

// has reports whether s was added.
func (h *hashSet) has(s string) bool {
	if h.slots == nil {
		return false
	}
	v := max(maphash.String(h.seed, s), 1)
	mask := uint64(len(h.slots) - 1)
	for i := v & mask; ; i = (i + 1) & mask {
		switch h.slots[i] {
		case 0:
			return false
		case v:
			return true
		}
	}
}
