package v1beta1

import (
	"cmp"
	"hash/maphash"
	"math"
	"math/bits"
	"sync/atomic"
)

// dictionary maps labels to terms. Readers do not wait for the writer. They may find a term that is newer than the clock
// value of their search; no policy of that clock value has it.
type dictionary[ID comparable] struct {
	seed  maphash.Seed
	slots atomic.Pointer[slots[ID]]
	all   []*term[ID] // used by the writer only
}

// slots is a hash table with linear probing, at most half full. Its length is a power of two.
type slots[ID comparable] []atomic.Pointer[term[ID]]

// term is a label of selectors.
type term[ID comparable] struct {
	label
	number uint32   // rarer terms have lower numbers; a new term has the lowest
	first  node[ID] // of the paths that begin with the term
	uses   int      // by live policies; used by the writer only
}

func (t *term[ID]) compare(u *term[ID]) int { return cmp.Compare(t.number, u.number) }

// find returns the term of a label, or nil.
func (d *dictionary[ID]) find(l label) *term[ID] {
	slots := *d.slots.Load()
	for i := d.hash(l); ; i++ {
		t := slots[i&uint64(len(slots)-1)].Load()
		if t == nil || t.label == l {
			return t
		}
	}
}

// intern returns the term of a label and adds it if it is missing.
func (d *dictionary[ID]) intern(l label) *term[ID] {
	if t := d.find(l); t != nil {
		return t
	}
	t := &term[ID]{label: l, number: math.MaxUint32 - uint32(len(d.all))}
	d.all = append(d.all, t)
	if slots := *d.slots.Load(); 2*len(d.all) <= len(slots) {
		d.place(slots, t)
	} else {
		d.resize(2 * len(slots))
	}
	return t
}

// resize moves the terms to a table of this size, which is a power of two.
func (d *dictionary[ID]) resize(size int) {
	slots := make(slots[ID], size)
	for _, t := range d.all {
		d.place(slots, t)
	}
	d.slots.Store(&slots)
}

// place stores a term in the first free slot for its hash.
func (d *dictionary[ID]) place(slots slots[ID], t *term[ID]) {
	i := d.hash(t.label)
	for !slots[i&uint64(len(slots)-1)].CompareAndSwap(nil, t) {
		i++
	}
}

func (d *dictionary[ID]) hash(l label) uint64 {
	return maphash.String(d.seed, l.key) ^ bits.RotateLeft64(maphash.String(d.seed, l.value), 32)
}
