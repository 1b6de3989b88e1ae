package v1beta1

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// trie holds the policies of one namespace. Each distinct label that selectors ask for is a term with a number, and a
// selector is the path of its numbers, rarest first: a workload without the rare label never meets the rest of it.
//
// One writer at a time adds to the trie while readers walk it. Nothing that a reader may stand on is taken out or
// moved: each write is a tick of the clock, a policy bears the ticks of its birth and death, and a reader sees the trie
// as it was at one tick. The dead, and an order of terms that has grown stale, go when the trie is renewed as a whole,
// after about as many writes as it has policies; the old one is garbage once its last reader has left.
type trie[ID comparable] struct {
	clock atomic.Uint32 // the last tick
	terms dictionary[ID]
	root  node[ID] // of the policies that ask for no label

	// The writer's own.
	live   map[ID]*policy[ID]
	ranked []*policy[ID] // in order, without those put late; a rank counts them up to its policy
	size   int           // number of policies when the trie was made
}

// policy is a policy between two writes to it.
type policy[ID comparable] struct {
	id        ID
	name      string
	createdAt time.Time
	terms     []*term[ID]   // that it asks for, rarest first
	elder     *policy[ID]   // put before it, with the same selector
	rank      uint32        // its place; one that is put late shares that of the policy before it
	born      uint32        // the tick
	died      atomic.Uint32 // the tick; 0 while it lives
}

// compare orders policies of one trie.
func (p *policy[ID]) compare(q *policy[ID]) int {
	if p.rank != q.rank {
		return cmp.Compare(p.rank, q.rank)
	}
	return p.compareAge(q)
}

// compareAge orders policies by time, then name; those that are equal in both, as they were put.
func (p *policy[ID]) compareAge(q *policy[ID]) int {
	return cmp.Or(p.createdAt.Compare(q.createdAt), strings.Compare(p.name, q.name), cmp.Compare(p.born, q.born))
}

// livesAt reports whether the policy is there at the tick.
func (p *policy[ID]) livesAt(tick uint32) bool {
	died := p.died.Load()
	return p.born <= tick && (died == 0 || tick < died)
}

// die ends the policy with the tick.
func (p *policy[ID]) die(tick uint32) {
	p.died.Store(tick)
	for _, term := range p.terms {
		term.uses--
	}
}

// newTrie returns an empty trie with room for so many policies.
func newTrie[ID comparable](size int) *trie[ID] {
	t := &trie[ID]{
		live:   make(map[ID]*policy[ID], size),
		ranked: make([]*policy[ID], 0, size),
		size:   size,
	}
	t.terms.seed = maphash.MakeSeed()
	t.terms.resize(16)
	return t
}

// put adds a policy that asks for the labels, in place of the one with its ID. Of p the caller sets id, name and
// createdAt.
func (t *trie[ID]) put(p *policy[ID], labels []label) {
	p.born = t.clock.Load() + 1
	p.rank = t.rank(p)
	p.terms = make([]*term[ID], len(labels))
	for i, label := range labels {
		p.terms[i] = t.terms.intern(label)
		p.terms[i].uses++
	}
	if len(p.terms) == 0 {
		t.root.put(nil, p)
	} else {
		slices.SortFunc(p.terms, (*term[ID]).compare)
		path := make([]uint32, 0, len(p.terms)-1)
		for _, term := range p.terms[1:] {
			path = append(path, term.number)
		}
		p.terms[0].first.put(path, p)
	}
	if old := t.live[p.id]; old != nil {
		old.die(p.born)
	}
	t.live[p.id] = p
	t.clock.Store(p.born)
}

// remove takes away the policy with the ID, if it is there.
func (t *trie[ID]) remove(id ID) {
	if p := t.live[id]; p != nil {
		tick := t.clock.Load() + 1
		p.die(tick)
		delete(t.live, id)
		t.clock.Store(tick)
	}
}

// rank returns the place of a new policy. If it comes before others, it is late: a place of its own would move theirs.
func (t *trie[ID]) rank(p *policy[ID]) uint32 {
	if last := len(t.ranked) - 1; last >= 0 && p.compareAge(t.ranked[last]) < 0 {
		before, _ := slices.BinarySearchFunc(t.ranked, p, (*policy[ID]).compareAge)
		return uint32(before)
	}
	t.ranked = append(t.ranked, p)
	return uint32(len(t.ranked))
}

// worn reports whether there were so many writes that the trie should be renewed.
func (t *trie[ID]) worn() bool {
	writes := int(t.clock.Load()) - t.size
	return writes > 64+min(t.size, len(t.live))
}

// renewed returns a new trie of the live policies, where each has a rank and a tick of its own, and the terms are
// numbered by their use today.
func (t *trie[ID]) renewed() *trie[ID] {
	renewed := newTrie[ID](len(t.live))
	commonestFirst := func(a, b *term[ID]) int { return cmp.Compare(b.uses, a.uses) }
	for _, term := range slices.SortedFunc(slices.Values(t.terms.all), commonestFirst) {
		if term.uses > 0 {
			renewed.terms.intern(term.label)
		}
	}
	policies := make([]policy[ID], len(t.live)) // side by side, as they will be read
	var labels []label
	for i, old := range slices.SortedFunc(maps.Values(t.live), (*policy[ID]).compare) {
		labels = labels[:0]
		for _, term := range old.terms {
			labels = append(labels, term.label)
		}
		policies[i] = policy[ID]{id: old.id, name: old.name, createdAt: old.createdAt}
		renewed.put(&policies[i], labels)
	}
	return renewed
}
