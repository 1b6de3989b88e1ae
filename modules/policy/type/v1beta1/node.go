package v1beta1

import (
	"slices"
	"sync/atomic"
)

// node is a common prefix of paths. A writer changes it by replacing its content.
type node[ID comparable] struct {
	content atomic.Pointer[content[ID]]
}

// content is the content of a node: the rest of each path while there are few, else a node for each next number. It is
// immutable.
type content[ID comparable] struct {
	tails   []tail[ID] // with nodes, only the empty one
	numbers []uint32   // ascending
	nodes   []*node[ID]
}

// maxTails is the maximum number of paths in a node without children. A lower value slows down searches among many
// similar selectors, a higher one slows down writes.
const maxTails = 32

// tail is the rest of a path with the policies that have this selector.
type tail[ID comparable] struct {
	path   []uint32
	newest *policy[ID] // the others follow by next
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

// put adds a policy at the end of the path. No reader has c yet, but readers have its slices: they are replaced, not
// changed.
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

// branch moves the tails with a rest into nodes.
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

// child returns the node for the paths that continue with the number, and adds it if it is missing.
func (c *content[ID]) child(number uint32) *node[ID] {
	at, found := slices.BinarySearch(c.numbers, number)
	if !found {
		c.numbers = slices.Concat(c.numbers[:at], []uint32{number}, c.numbers[at:])
		c.nodes = slices.Concat(c.nodes[:at], []*node[ID]{new(node[ID])}, c.nodes[at:])
	}
	return c.nodes[at]
}
