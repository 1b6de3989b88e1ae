package v1beta1

import (
	"math/bits"
	"slices"
)

// search has the state and the buffers of one call of Index.Select. Later calls reuse the buffers.
type search[ID comparable] struct {
	clock   uint32
	terms   []*term[ID] // the terms of the proxy's labels
	bits    []uint64    // one bit per term number, set if the proxy has the term
	found   []hit[ID]   // the matching policies, unordered
	ordered []hit[ID]   // result of inOrder for many hits
	ends    []uint32    // buffer of inOrder: the end of each range in ordered
}

// hit is a policy that the search has found. It has a copy of the rank, so that inOrder can distribute hits without
// reading the policies.
type hit[ID comparable] struct {
	*policy[ID]
	rank uint32
}

func (h hit[ID]) compare(i hit[ID]) int { return h.policy.compare(i.policy) }

// run returns the policies that apply to the proxy, in order.
func (s *search[ID]) run(t *trie[ID], proxy Proxy) []hit[ID] {
	s.clock = t.clock.Load() // must be read first, so that the search finds all policies that exist at this clock value
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

// visit finds the policies in the subtrie of n for which the proxy has every remaining term of the path.
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

// find adds to the hits p and the older policies with the same selector. It skips policies that do not exist at the
// clock value of the search.
func (s *search[ID]) find(p *policy[ID]) {
	for ; p != nil; p = p.next {
		if p.existsAt(s.clock) {
			s.found = append(s.found, hit[ID]{p, p.rank})
		}
	}
}

// set sets the bit of number. Term numbers count down from math.MaxUint32, so word 0 has the bits of the 64 highest
// numbers.
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

// inOrder returns the hits in order. If there are fewer than 32 hits, it sorts them by comparison. Otherwise, it distributes
// the hits into ranges of ranks with a counting sort, at most four ranges per hit, and sorts each range by comparison.
func (s *search[ID]) inOrder() []hit[ID] {
	if len(s.found) < 32 {
		slices.SortFunc(s.found, hit[ID].compare)
		return s.found
	}
	width := bits.Len(uint(s.clock) / uint(4*len(s.found))) // a range has 1<<width ranks; no rank exceeds the clock
	s.ends = append(s.ends[:0], make([]uint32, s.clock>>width+2)...)
	for i := range s.found {
		s.ends[s.found[i].rank>>width+1]++
	}
	for i := range s.ends[1:] {
		s.ends[i+1] += s.ends[i]
	}
	// ends[r] is now the start of range r in ordered. The next loop advances ends[r] to the end of the range.
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

// reset empties the buffers for the next search. It clears pointers, so that the buffers do not keep policies in
// memory.
func (s *search[ID]) reset() {
	for _, term := range s.terms {
		s.bits[^term.number/64] = 0
	}
	clear(s.terms)
	clear(s.found)
	clear(s.ordered)
	s.terms, s.found, s.ordered = s.terms[:0], s.found[:0], s.ordered[:0]
}
