package v1beta1

import (
	"math/bits"
	"slices"
)

// search is the scratch of one Select.
type search[ID comparable] struct {
	tick    uint32
	terms   []*term[ID] // that the proxy bears
	borne   []uint64    // a bit for the number of each
	found   []hit[ID]
	ordered []hit[ID]
	ends    []uint32
}

// hit is a policy that was found. The rank beside it spares sorting most looks at the policies, which are far apart.
type hit[ID comparable] struct {
	*policy[ID]
	rank uint32
}

func (h hit[ID]) compare(i hit[ID]) int { return h.policy.compare(i.policy) }

// run returns the policies of the trie that apply to the proxy, in order.
func (s *search[ID]) run(t *trie[ID], proxy Proxy) []hit[ID] {
	s.tick = t.clock.Load() // first, so that all that was there at this tick is met on the way
	for key, value := range proxy.each {
		if term := t.terms.find(label{key, value}); term != nil {
			s.terms = append(s.terms, term)
			s.bear(term.number)
		}
	}
	s.visit(&t.root)
	for _, term := range s.terms {
		s.visit(&term.first)
	}
	return s.inOrder()
}

// visit finds the policies whose paths begin at the node and go on with nothing that the proxy does not bear.
func (s *search[ID]) visit(n *node[ID]) {
	c := n.content.Load()
	if c == nil {
		return
	}
	for i := range c.tails {
		if s.bearsAll(c.tails[i].path) {
			s.find(c.tails[i].youngest)
		}
	}
	if len(c.numbers) < 8*len(s.terms) {
		for i, number := range c.numbers {
			if s.bears(number) {
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

// find adds the policies of one selector.
func (s *search[ID]) find(p *policy[ID]) {
	for ; p != nil; p = p.elder {
		if p.livesAt(s.tick) {
			s.found = append(s.found, hit[ID]{p, p.rank})
		}
	}
}

// bear sets the bit of a number. Numbers count down, bits up.
func (s *search[ID]) bear(number uint32) {
	word := int(^number / 64)
	if more := word + 1 - len(s.borne); more > 0 {
		s.borne = append(s.borne, make([]uint64, more)...)
	}
	s.borne[word] |= 1 << (number % 64)
}

func (s *search[ID]) bears(number uint32) bool {
	word := int(^number / 64)
	return word < len(s.borne) && s.borne[word]&(1<<(number%64)) != 0
}

func (s *search[ID]) bearsAll(path []uint32) bool {
	for _, number := range path {
		if !s.bears(number) {
			return false
		}
	}
	return true
}

// inOrder sorts what was found: a few by comparison; many first into stretches of ranks, about four to a policy.
func (s *search[ID]) inOrder() []hit[ID] {
	if len(s.found) < 32 {
		slices.SortFunc(s.found, hit[ID].compare)
		return s.found
	}
	width := bits.Len(uint(s.tick) / uint(4*len(s.found))) // no rank exceeds the tick
	s.ends = append(s.ends[:0], make([]uint32, s.tick>>width+2)...)
	for i := range s.found {
		s.ends[s.found[i].rank>>width+1]++
	}
	for i := range s.ends[1:] {
		s.ends[i+1] += s.ends[i]
	}
	// Each number is now where a stretch begins. It moves to where it ends.
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

// rest makes the scratch fit for the next search, and lets go of everything that it would keep alive.
func (s *search[ID]) rest() {
	for _, term := range s.terms {
		s.borne[^term.number/64] = 0
	}
	clear(s.terms)
	clear(s.found)
	clear(s.ordered)
	s.terms, s.found, s.ordered = s.terms[:0], s.found[:0], s.ordered[:0]
}
