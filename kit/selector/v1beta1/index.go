package v1beta1

import (
	"sync"
	"time"
)

// Index finds the policies that apply to a proxy. The zero Index is empty and ready to use. It must not be copied.
//
// All methods are safe for concurrent use. Select never waits, and sees a namespace as it is between two writes: when Put
// replaces a policy, Select sees exactly one version of it. Put and Delete wait for each other.
//
// A write takes a few microseconds. After about as many writes as a namespace has policies, a write rebuilds the
// namespace, in about a microsecond per policy. A rebuild frees the memory of deleted policies.
type Index[ID comparable] struct {
	writing    sync.Mutex
	namespaces sync.Map  // name → *trie[ID]
	searches   sync.Pool // of *search[ID]
}

// Entry is a policy in an Index.
type Entry[ID comparable] struct {
	ID        ID                // unique in the namespace
	Namespace string            // configuration namespace; a policy of the namespace "" applies to nothing
	Name      string            // order of policies with the same time
	CreatedAt time.Time         // order of policies
	Selector  *WorkloadSelector // nil: every workload of the namespace
}

// Grow reserves space for n policies of a namespace that is not in the Index yet, so that n calls of Put do not rebuild
// it.
func (x *Index[ID]) Grow(namespace string, n int) {
	x.writing.Lock()
	defer x.writing.Unlock()
	if x.namespace(namespace) == nil {
		x.namespaces.Store(namespace, newTrie[ID](n))
	}
}

// Put adds a policy, or replaces the one with this ID in this namespace. The error is that of Validate; then the Index is
// unchanged. The Index does not keep the selector.
func (x *Index[ID]) Put(entry Entry[ID]) error {
	var matcher Matcher
	if entry.Selector != nil {
		var err error
		matcher, err = Compile(entry.Selector)
		if err != nil {
			return err
		}
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	t, fresh := x.namespace(entry.Namespace), false
	if t == nil {
		t, fresh = newTrie[ID](0), true
	}
	createdAt := entry.CreatedAt.Round(0) // without the monotonic clock, which would change the order
	t.put(&policy[ID]{id: entry.ID, name: entry.Name, createdAt: createdAt}, matcher.labels)
	if t.stale() {
		t, fresh = t.rebuild(), true
	}
	if fresh {
		x.namespaces.Store(entry.Namespace, t)
	}
	return nil
}

// Delete removes the policy with this ID from the namespace, if it exists.
func (x *Index[ID]) Delete(namespace string, id ID) {
	x.writing.Lock()
	defer x.writing.Unlock()
	t := x.namespace(namespace)
	if t == nil {
		return
	}
	t.remove(id)
	if len(t.live) == 0 {
		x.namespaces.Delete(namespace)
	} else if t.stale() {
		x.namespaces.Store(namespace, t.rebuild())
	}
}

// Select appends to dst the IDs of the policies of the proxy's namespace that apply to the proxy, ordered by time, then by
// name, and returns it. A proxy without a namespace selects nothing. If dst has capacity, Select does not allocate.
func (x *Index[ID]) Select(proxy Proxy, dst []ID) []ID {
	t := x.namespace(proxy.Namespace)
	if t == nil || proxy.Namespace == "" {
		return dst
	}
	s, _ := x.searches.Get().(*search[ID])
	if s == nil {
		s = new(search[ID])
	}
	for _, hit := range s.run(t, proxy) {
		dst = append(dst, hit.id)
	}
	s.reset()
	x.searches.Put(s)
	return dst
}

// namespace returns the trie of a namespace, or nil.
func (x *Index[ID]) namespace(name string) *trie[ID] {
	t, _ := x.namespaces.Load(name)
	found, _ := t.(*trie[ID])
	return found
}
