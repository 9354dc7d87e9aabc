package hosts

import (
	"hash/maphash"

	"github.com/robocensus/robocensus/fetch"
)

// Origins is a set of origins, which keeps a hash of each. The zero Origins is empty.
type Origins struct{ set hashSet }

// Add reports whether the origin was not there before.
func (o *Origins) Add(origin fetch.Origin) bool { return o.set.add(origin.String()) }

func (o *Origins) has(origin fetch.Origin) bool { return o.set.find(origin.String()) >= 0 }

// addHost adds a host as such: it is none of its origins.
func (o *Origins) addHost(host string) bool { return o.set.add(host) }

func (o *Origins) hasHost(host string) bool { return o.set.find(host) >= 0 }

// hashMap maps strings to values and keeps only a 64-bit hash of each string, at a
// load of at most three quarters: this memory grows with the list. The chance that
// any two of 100 million strings collide is 1 in 3,700. The seed is random, so that
// no list can be made to collide.
type hashMap[V any] struct {
	seed  maphash.Seed
	slots []hashed[V]
	used  int
}

// hashSet is a set of strings, of 8 bytes per slot.
type hashSet = hashMap[struct{}]

type hashed[V any] struct {
	value V // first: a last field of size 0 would take the room of a hash
	hash  uint64
}

// add reports whether s was not there before.
func (h *hashMap[V]) add(s string) bool {
	var none V
	return h.put(s, none)
}

// put reports whether s was not there before; if it was, its value stays.
func (h *hashMap[V]) put(s string, value V) bool {
	if h.slots == nil {
		h.seed = maphash.MakeSeed()
		h.slots = make([]hashed[V], 1024)
	}
	if h.used >= len(h.slots)/4*3 {
		old := h.slots
		h.slots = make([]hashed[V], 2*len(old))
		for _, v := range old {
			if v.hash != 0 {
				*h.slot(v.hash) = v
			}
		}
	}
	hash := h.hash(s)
	at := h.slot(hash)
	if at.hash != 0 {
		return false
	}
	*at = hashed[V]{value, hash}
	h.used++
	return true
}

// find returns the index of the slot of s, or -1.
func (h *hashMap[V]) find(s string) int {
	if h.slots == nil {
		return -1
	}
	at := h.at(h.hash(s))
	if h.slots[at].hash == 0 {
		return -1
	}
	return at
}

// get returns the value of s, if it was put.
func (h *hashMap[V]) get(s string) (value V, ok bool) {
	at := h.find(s)
	if at < 0 {
		return value, false
	}
	return h.slots[at].value, true
}

// hash is never 0, which marks a free slot.
func (h *hashMap[V]) hash(s string) uint64 { return max(maphash.String(h.seed, s), 1) }

// slot returns the slot of a hash, or the free slot where it belongs.
func (h *hashMap[V]) slot(hash uint64) *hashed[V] { return &h.slots[h.at(hash)] }

func (h *hashMap[V]) at(hash uint64) int {
	mask := uint64(len(h.slots) - 1)
	i := hash & mask
	for h.slots[i].hash != 0 && h.slots[i].hash != hash {
		i = (i + 1) & mask
	}
	return int(i)
}
