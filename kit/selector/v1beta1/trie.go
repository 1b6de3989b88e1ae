package v1beta1

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// trie contains the policies of one namespace. Each distinct label of the selectors is a term with a number. The path
// of a selector consists of the numbers of its terms, the rarest term first. Therefore, a search visits a path only
// if the workload has the rarest label of the selector.
//
// One writer at a time adds to the trie while readers search it. Policies are never removed or moved. Each write
// increments the clock, and a policy records the clock values at which it was added and deleted. A reader sees the
// trie at one clock value. The trie is rebuilt periodically, roughly once every n writes for n policies, without the
// deleted policies and with new term numbers.
type trie[ID comparable] struct {
	clock atomic.Uint32 // number of writes
	terms dictionary[ID]
	root  node[ID] // the policies without a selector

	// Used by the writer only.
	live   map[ID]*policy[ID]
	ranked []*policy[ID] // all policies in the order of compareAge, except policies that were added out of order
	size   int           // number of policies that the trie was created for
}

// policy is one version of a policy.
type policy[ID comparable] struct {
	id        ID
	name      string
	createdAt time.Time
	terms     []*term[ID]   // the labels of the selector, the rarest first
	next      *policy[ID]   // the previously added policy with the same selector, or nil
	rank      uint32        // position in ranked, from 1; a policy added out of order has the rank of the policy before it
	added     uint32        // clock value of the write that added the policy
	deleted   atomic.Uint32 // clock value of the write that deleted the policy; 0 if it is not deleted
}

// compare orders policies of one trie by rank, then by age.
func (p *policy[ID]) compare(q *policy[ID]) int {
	if p.rank != q.rank {
		return cmp.Compare(p.rank, q.rank)
	}
	return p.compareAge(q)
}

// compareAge orders policies by createdAt, then by name, then in the order in which they were added.
func (p *policy[ID]) compareAge(q *policy[ID]) int {
	return cmp.Or(p.createdAt.Compare(q.createdAt), strings.Compare(p.name, q.name), cmp.Compare(p.added, q.added))
}

// existsAt reports whether the policy exists at the clock value.
func (p *policy[ID]) existsAt(clock uint32) bool {
	deleted := p.deleted.Load()
	return p.added <= clock && (deleted == 0 || clock < deleted)
}

// delete marks the policy as deleted at the clock value.
func (p *policy[ID]) delete(clock uint32) {
	p.deleted.Store(clock)
	for _, term := range p.terms {
		term.uses--
	}
}

// newTrie returns an empty trie with space for size policies.
func newTrie[ID comparable](size int) *trie[ID] {
	return &trie[ID]{
		live:   make(map[ID]*policy[ID], size),
		ranked: make([]*policy[ID], 0, size),
		size:   size,
	}
}

// put adds p with the labels of its selector, or replaces the policy with the same ID. The caller sets id, name and
// createdAt of p.
func (t *trie[ID]) put(p *policy[ID], labels []label) {
	p.added = t.clock.Load() + 1
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
		old.delete(p.added)
	}
	t.live[p.id] = p
	t.clock.Store(p.added)
}

// remove marks the policy with the ID as deleted, if it exists.
func (t *trie[ID]) remove(id ID) {
	if p := t.live[id]; p != nil {
		clock := t.clock.Load() + 1
		p.delete(clock)
		delete(t.live, id)
		t.clock.Store(clock)
	}
}

// rank returns the rank of a new policy. If the policy is the last in the order of compareAge, it gets a new rank.
// Otherwise, it gets the rank of the policy before it.
func (t *trie[ID]) rank(p *policy[ID]) uint32 {
	if last := len(t.ranked) - 1; last >= 0 && p.compareAge(t.ranked[last]) < 0 {
		before, _ := slices.BinarySearchFunc(t.ranked, p, (*policy[ID]).compareAge)
		return uint32(before)
	}
	t.ranked = append(t.ranked, p)
	return uint32(len(t.ranked))
}

// stale reports whether the trie should be rebuilt: more than 64 plus n writes have followed the first t.size writes.
// n is the smaller of t.size and the number of live policies.
func (t *trie[ID]) stale() bool {
	writes := int(t.clock.Load()) - t.size
	return writes > 64+min(t.size, len(t.live))
}

// rebuild returns a new trie of the live policies. Each policy has its own rank, and the terms are numbered by how
// many policies use them.
func (t *trie[ID]) rebuild() *trie[ID] {
	rebuilt := newTrie[ID](len(t.live))
	commonestFirst := func(a, b *term[ID]) int { return cmp.Compare(b.uses, a.uses) }
	for _, term := range slices.SortedFunc(slices.Values(t.terms.all), commonestFirst) {
		if term.uses > 0 {
			rebuilt.terms.intern(term.label)
		}
	}
	policies := make([]policy[ID], len(t.live)) // adjacent in memory, for faster reading
	var labels []label
	for i, old := range slices.SortedFunc(maps.Values(t.live), (*policy[ID]).compare) {
		labels = labels[:0]
		for _, term := range old.terms {
			labels = append(labels, term.label)
		}
		policies[i] = policy[ID]{id: old.id, name: old.name, createdAt: old.createdAt}
		rebuilt.put(&policies[i], labels)
	}
	return rebuilt
}

// dictionary maps labels to terms. Readers do not wait for the writer. Readers may find a term that is newer than the
// clock value of their search; no policy that exists at that clock value has the term.
type dictionary[ID comparable] struct {
	byLabel sync.Map    // label → *term[ID]
	all     []*term[ID] // used by the writer only
}

// term is a label that occurs in selectors.
type term[ID comparable] struct {
	label
	number uint32   // rarer terms have lower numbers; a new term has the lowest number
	first  node[ID] // the node for the paths that begin with the term
	uses   int      // number of live policies that have the term; used by the writer only
}

func (t *term[ID]) compare(u *term[ID]) int { return cmp.Compare(t.number, u.number) }

// find returns the term of a label, or nil if no selector has the label.
func (d *dictionary[ID]) find(l label) *term[ID] {
	found, _ := d.byLabel.Load(l)
	t, _ := found.(*term[ID])
	return t
}

// intern returns the term of a label. It adds the term if it does not exist.
func (d *dictionary[ID]) intern(l label) *term[ID] {
	t := d.find(l)
	if t == nil {
		t = &term[ID]{label: l, number: math.MaxUint32 - uint32(len(d.all))}
		d.all = append(d.all, t)
		d.byLabel.Store(l, t)
	}
	return t
}

// node is the common prefix of several paths. The writer changes a node by replacing its content.
type node[ID comparable] struct {
	content atomic.Pointer[content[ID]]
}

// content is the immutable content of a node. If the node has at most maxTails paths, the content has the rest of
// each path. Otherwise, it has a child node for each number that comes next in a path.
type content[ID comparable] struct {
	tails   []tail[ID] // if there are nodes: at most one tail, whose path is empty
	numbers []uint32   // ascending; numbers[i] leads to nodes[i]
	nodes   []*node[ID]
}

// maxTails is the maximum number of paths in a node without children. A lower value slows down searches among many
// similar selectors; a higher value slows down writes.
const maxTails = 32

// tail is the rest of a path, with the policies whose selectors have this path.
type tail[ID comparable] struct {
	path   []uint32
	newest *policy[ID] // policy.next leads to the older policies
}

// put adds p at the end of the path.
func (n *node[ID]) put(path []uint32, p *policy[ID]) {
	var c content[ID]
	if now := n.content.Load(); now != nil {
		c = *now
	}
	c.put(path, p)
	n.content.Store(&c)
}

// put adds p at the end of the path. No reader uses c yet, but readers use its slices. Therefore put replaces the
// slices and does not change them.
func (c *content[ID]) put(path []uint32, p *policy[ID]) {
	same := func(t tail[ID]) bool { return slices.Equal(t.path, path) }
	if i := slices.IndexFunc(c.tails, same); i >= 0 {
		p.next = c.tails[i].newest
		c.tails = slices.Clone(c.tails)
		c.tails[i].newest = p
		return
	}
	if len(path) > 0 && len(c.nodes) > 0 {
		c.child(path[0]).put(path[1:], p)
		return
	}
	c.tails = slices.Concat(c.tails, []tail[ID]{{path, p}})
	if len(c.tails) > maxTails {
		c.branch()
	}
}

// branch moves the tails into child nodes, except a tail with an empty path.
func (c *content[ID]) branch() {
	tails := c.tails
	c.tails = nil
	for _, t := range tails {
		if len(t.path) == 0 {
			c.tails = []tail[ID]{t}
		} else {
			c.child(t.path[0]).put(t.path[1:], t.newest)
		}
	}
}

// child returns the child node for the paths that continue with number. It adds the node if it does not exist.
func (c *content[ID]) child(number uint32) *node[ID] {
	at, found := slices.BinarySearch(c.numbers, number)
	if !found {
		c.numbers = slices.Concat(c.numbers[:at], []uint32{number}, c.numbers[at:])
		c.nodes = slices.Concat(c.nodes[:at], []*node[ID]{new(node[ID])}, c.nodes[at:])
	}
	return c.nodes[at]
}
