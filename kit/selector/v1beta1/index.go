package v1beta1

import (
	"sync"
	"time"
)

// Index finds the policies that apply to a proxy. The zero Index is empty and ready to use. It must not be copied.
//
// All methods are safe for concurrent use. Select never waits. It never sees a part of a write: while Put replaces a
// policy, Select sees either the old or the new version. Put, Delete and Grow wait for each other.
//
// A write takes a few microseconds. A namespace is rebuilt periodically, roughly once every n writes for a namespace with n
// policies. A rebuild takes about a microsecond per policy, and frees the memory of deleted policies.
type Index[ID comparable] struct {
	writing    sync.Mutex
	namespaces sync.Map  // name → *trie[ID]
	searches   sync.Pool // of *search[ID]
}

// Entry is a policy in an Index.
type Entry[ID comparable] struct {
	ID        ID                // unique in the namespace
	Namespace string            // configuration namespace; a policy in the namespace "" applies to nothing
	Name      string            // sorts policies with the same CreatedAt
	CreatedAt time.Time         // sorts policies, the oldest first
	Selector  *WorkloadSelector // if nil, the policy applies to every workload of the namespace
}

// Grow reserves space for n policies in a namespace, so that the next n calls of Put do not rebuild the namespace.
// Grow has no effect if the namespace is already in the Index.
func (x *Index[ID]) Grow(namespace string, n int) {
	x.writing.Lock()
	defer x.writing.Unlock()
	if x.namespace(namespace) == nil {
		x.namespaces.Store(namespace, newTrie[ID](n))
	}
}

// Put adds a policy, or replaces the policy that has the same ID in the same namespace. If the selector is invalid,
// Put returns the error of Validate and does not change the Index. The Index does not keep a reference to the
// selector.
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
	createdAt := entry.CreatedAt.Round(0) // without the monotonic clock reading, which would change the order
	t.put(&policy[ID]{id: entry.ID, name: entry.Name, createdAt: createdAt}, matcher.labels)
	if t.stale() {
		t, fresh = t.rebuild(), true
	}
	if fresh {
		x.namespaces.Store(entry.Namespace, t)
	}
	return nil
}

// Delete removes the policy with the ID id from the namespace, if it exists.
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

// Select appends to dst the IDs of the policies that apply to the proxy, ordered by CreatedAt, then by Name. It
// returns the extended slice. Only policies in the proxy's namespace apply; none apply to a proxy without a
// namespace. Select reuses its buffers, so it rarely allocates memory if dst has enough capacity.
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

// namespace returns the trie of the namespace with the name, or nil if the Index does not have the namespace.
func (x *Index[ID]) namespace(name string) *trie[ID] {
	t, _ := x.namespaces.Load(name)
	found, _ := t.(*trie[ID])
	return found
}
