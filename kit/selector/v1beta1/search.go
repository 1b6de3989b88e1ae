package v1beta1

import (
	"math/bits"
	"slices"
)

// search has the buffers of one Select.
type search[ID comparable] struct {
	clock   uint32
	terms   []*term[ID] // labels of the proxy
	bits    []uint64    // one bit per number of a term; set for those of the proxy
	found   []hit[ID]   // in any order
	ordered []hit[ID]   // for inOrder
	ends    []uint32    // for inOrder
}

// hit is a policy that was found, with a copy of its rank, so that sorting rarely reads the policy itself.
type hit[ID comparable] struct {
	*policy[ID]
	rank uint32
}

func (h hit[ID]) compare(i hit[ID]) int { return h.policy.compare(i.policy) }

// run returns the policies that apply to the proxy, in order.
func (s *search[ID]) run(t *trie[ID], proxy Proxy) []hit[ID] {
	s.clock = t.clock.Load() // read first, so that the search finds all policies of this clock value
	for key, value := range proxy.each {
		if term := t.terms.find(label{key, value}); term != nil {
			s.terms = append(s.terms, term)
			s.set(term.number)
		}
	}
	s.visit(&t.root)
	for _, term := range s.terms {
		s.visit(&term.first)
	}
	return s.inOrder()
}

// visit finds the policies whose paths continue from the node with only labels of the proxy.
func (s *search[ID]) visit(n *node[ID]) {
	c := n.content.Load()
	if c == nil {
		return
	}
	for i := range c.tails {
		if s.hasAll(c.tails[i].path) {
			s.find(c.tails[i].newest)
		}
	}
	if len(c.numbers) < 8*len(s.terms) {
		for i, number := range c.numbers {
			if s.has(number) {
				s.visit(c.nodes[i])
			}
		}
		return
	}
	for _, term := range s.terms {
		if i, found := slices.BinarySearch(c.numbers, term.number); found {
			s.visit(c.nodes[i])
		}
	}
}

// find adds the policies with one selector.
func (s *search[ID]) find(p *policy[ID]) {
	for ; p != nil; p = p.next {
		if p.existsAt(s.clock) {
			s.found = append(s.found, hit[ID]{p, p.rank})
		}
	}
}

// set sets the bit of a number. Numbers count down from the maximum, bits up from 0.
func (s *search[ID]) set(number uint32) {
	word := int(^number / 64)
	if more := word + 1 - len(s.bits); more > 0 {
		s.bits = append(s.bits, make([]uint64, more)...)
	}
	s.bits[word] |= 1 << (number % 64)
}

func (s *search[ID]) has(number uint32) bool {
	word := int(^number / 64)
	return word < len(s.bits) && s.bits[word]&(1<<(number%64)) != 0
}

func (s *search[ID]) hasAll(path []uint32) bool {
	for _, number := range path {
		if !s.has(number) {
			return false
		}
	}
	return true
}

// inOrder sorts the hits: a few by comparison; many first by counting into ranges of about four ranks.
func (s *search[ID]) inOrder() []hit[ID] {
	if len(s.found) < 32 {
		slices.SortFunc(s.found, hit[ID].compare)
		return s.found
	}
	width := bits.Len(uint(s.clock) / uint(4*len(s.found))) // no rank exceeds the clock
	s.ends = append(s.ends[:0], make([]uint32, s.clock>>width+2)...)
	for i := range s.found {
		s.ends[s.found[i].rank>>width+1]++
	}
	for i := range s.ends[1:] {
		s.ends[i+1] += s.ends[i]
	}
	// ends[r] is now the start of range r. The loop moves it to the end.
	s.ordered = slices.Grow(s.ordered, len(s.found))[:len(s.found)]
	for _, h := range s.found {
		end := &s.ends[h.rank>>width]
		s.ordered[*end] = h
		*end++
	}
	begin := uint32(0)
	for _, end := range s.ends[:len(s.ends)-1] {
		if end-begin > 1 {
			slices.SortFunc(s.ordered[begin:end], hit[ID].compare)
		}
		begin = end
	}
	return s.ordered
}

// reset prepares the buffers for the next search, and clears pointers so that they do not keep policies in memory.
func (s *search[ID]) reset() {
	for _, term := range s.terms {
		s.bits[^term.number/64] = 0
	}
	clear(s.terms)
	clear(s.found)
	clear(s.ordered)
	s.terms, s.found, s.ordered = s.terms[:0], s.found[:0], s.ordered[:0]
}
