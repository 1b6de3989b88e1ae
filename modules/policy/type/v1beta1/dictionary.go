package v1beta1

import (
	"cmp"
	"hash/maphash"
	"math"
	"math/bits"
	"sync/atomic"
)

// dictionary knows the term of each label that selectors ask for. Readers look up without waiting while the writer
// adds. They may find a term that is younger than the tick they look at; no policy of that tick asks for it.
type dictionary[ID comparable] struct {
	seed  maphash.Seed
	slots atomic.Pointer[slots[ID]]
	all   []*term[ID] // the writer's own
}

// slots are a hash table with linear probing, at most half full. Their number is a power of two.
type slots[ID comparable] []atomic.Pointer[term[ID]]

// term is a label that selectors ask for.
type term[ID comparable] struct {
	label
	number uint32   // the rarer, the lower; a new term is taken for the rarest
	first  node[ID] // of the paths that begin with it
	uses   int      // by live policies; the writer's own
}

func (t *term[ID]) compare(u *term[ID]) int { return cmp.Compare(t.number, u.number) }

// find returns the term of a label, nil if there is none.
func (d *dictionary[ID]) find(l label) *term[ID] {
	slots := *d.slots.Load()
	for i := d.hash(l); ; i++ {
		t := slots[i&uint64(len(slots)-1)].Load()
		if t == nil || t.label == l {
			return t
		}
	}
}

// intern returns the term of a label, and makes it if need be.
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

// resize moves the terms to a table of this size, a power of two.
func (d *dictionary[ID]) resize(size int) {
	slots := make(slots[ID], size)
	for _, t := range d.all {
		d.place(slots, t)
	}
	d.slots.Store(&slots)
}

// place puts a term into the first free slot from where its hash points.
func (d *dictionary[ID]) place(slots slots[ID], t *term[ID]) {
	i := d.hash(t.label)
	for !slots[i&uint64(len(slots)-1)].CompareAndSwap(nil, t) {
		i++
	}
}

func (d *dictionary[ID]) hash(l label) uint64 {
	return maphash.String(d.seed, l.key) ^ bits.RotateLeft64(maphash.String(d.seed, l.value), 32)
}
