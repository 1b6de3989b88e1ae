package v1beta1

import (
	"sync"
	"time"
)

// Index finds the policies that apply to a proxy. The zero Index is empty and ready; it must not be copied.
//
// All methods may be called concurrently. Select never waits, and sees the policies of a namespace as they are between
// two writes: a policy that Put changes, either as it was or as it will be. Put and Delete wait for each other.
//
// A write takes a few microseconds. One in about as many as a namespace has policies renews the namespace, at about
// a microsecond for each policy; so what was deleted is freed, at the latest when it outweighs what lives.
type Index[ID comparable] struct {
	writing    sync.Mutex
	namespaces sync.Map  // from the name to its *trie[ID], which is not empty
	searches   sync.Pool // of *search[ID]
}

// Entry is a policy as the Index knows it.
type Entry[ID comparable] struct {
	ID        ID                // identifies it in its namespace
	Namespace string            // its configuration namespace; a policy of the namespace "" applies to nothing
	Name      string            // orders policies of one time
	CreatedAt time.Time         // orders policies
	Selector  *WorkloadSelector // nil: it applies to every workload of the namespace
}

// Put adds a policy, or replaces the one with this ID in this namespace. The error is that of Validate, and changes
// nothing. The Index does not keep the selector.
func (x *Index[ID]) Put(entry Entry[ID]) error {
	var matcher Matcher
	if entry.Selector != nil {
		var err error
		if matcher, err = Compile(entry.Selector); err != nil {
			return err
		}
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	t, fresh := x.namespace(entry.Namespace), false
	if t == nil {
		t, fresh = newTrie[ID](0), true
	}
	createdAt := entry.CreatedAt.Round(0) // by the wall clock alone: a process's own clock would mix up the order
	t.put(&policy[ID]{id: entry.ID, name: entry.Name, createdAt: createdAt}, matcher.labels)
	if t.worn() {
		t, fresh = t.renewed(), true
	}
	if fresh {
		x.namespaces.Store(entry.Namespace, t)
	}
	return nil
}

// Delete removes the policy with this ID from the namespace, if it is there.
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
	} else if t.worn() {
		x.namespaces.Store(namespace, t.renewed())
	}
}

// Select appends to dst the IDs of the policies of the proxy's namespace that apply to the proxy, by their time, then
// by their name, and returns it. A proxy without a namespace selects nothing. With room in dst it does not allocate.
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
	s.rest()
	x.searches.Put(s)
	return dst
}

// namespace returns the trie of a namespace, nil if it has no policy.
func (x *Index[ID]) namespace(name string) *trie[ID] {
	t, _ := x.namespaces.Load(name)
	found, _ := t.(*trie[ID])
	return found
}
