package v1beta1

import (
	"slices"
	"sync/atomic"
)

// node stands for the beginning of paths. Only a writer changes it, by giving it new content.
type node[ID comparable] struct {
	content atomic.Pointer[content[ID]]
}

// content of a node: what remains of the paths while they are few, else a node for each number that they go on with.
// It is immutable.
type content[ID comparable] struct {
	tails   []tail[ID] // when there are nodes, at most the empty one
	numbers []uint32   // ascending
	nodes   []*node[ID]
}

// maxTails is how many paths a node holds before it branches. Less is slower to search where many selectors are alike,
// more is slower to write.
const maxTails = 32

// tail is the rest of a path, with the policies whose selector it is.
type tail[ID comparable] struct {
	path     []uint32
	youngest *policy[ID] // the others follow by elder
}

// put adds a policy at the end of the path.
func (n *node[ID]) put(path []uint32, p *policy[ID]) {
	var c content[ID]
	if now := n.content.Load(); now != nil {
		c = *now
	}
	c.put(path, p)
	n.content.Store(&c)
}

// put adds a policy at the end of the path to content that no reader has yet. Its slices are shared with content that
// readers have: they are replaced, not changed.
func (c *content[ID]) put(path []uint32, p *policy[ID]) {
	same := func(t tail[ID]) bool { return slices.Equal(t.path, path) }
	if i := slices.IndexFunc(c.tails, same); i >= 0 {
		p.elder = c.tails[i].youngest
		c.tails = slices.Clone(c.tails)
		c.tails[i].youngest = p
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

// branch moves the tails that go on into nodes.
func (c *content[ID]) branch() {
	tails := c.tails
	c.tails = nil
	for _, t := range tails {
		if len(t.path) == 0 {
			c.tails = []tail[ID]{t}
		} else {
			c.child(t.path[0]).put(t.path[1:], t.youngest)
		}
	}
}

// child returns the node for the paths that go on with the number, and makes it if need be.
func (c *content[ID]) child(number uint32) *node[ID] {
	at, found := slices.BinarySearch(c.numbers, number)
	if !found {
		c.numbers = slices.Concat(c.numbers[:at], []uint32{number}, c.numbers[at:])
		c.nodes = slices.Concat(c.nodes[:at], []*node[ID]{new(node[ID])}, c.nodes[at:])
	}
	return c.nodes[at]
}
