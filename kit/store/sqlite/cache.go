package sqlite

import (
	"sync"

	"example.com/ginseng/kit/store"
)

// The limits of a cache, in bytes.
const (
	cacheSize   = 4 << 20  // of all documents, with their entries
	entrySize   = 256      // about what the maps take for a document, beside its JSON
	maxDocument = 64 << 10 // larger documents are not kept
)

// cache keeps documents that were read by ID, as JSON. It never returns one that the database does not have: the writer
// removes what a transaction changes before the commit, and nothing is added until the commit has ended.
//
// It has two halves. When one is full, the other becomes empty; documents that are read again move to the newer one.
type cache struct {
	mu          sync.Mutex
	state       uint64 // increases when a commit begins and ends; odd in between
	recent, old map[cacheKey][]byte
	size        int // of recent
}

type cacheKey struct {
	collection string
	id         store.ID
}

func newCache() *cache {
	return &cache{recent: make(map[cacheKey][]byte), old: make(map[cacheKey][]byte)}
}

// get returns a document, nil if it is not there, and the state for put.
func (c *cache) get(key cacheKey) (doc []byte, state uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	doc = c.recent[key]
	if doc == nil {
		if doc = c.old[key]; doc != nil {
			c.add(key, doc)
		}
	}
	return doc, c.state
}

// put keeps a document that was read after get returned the state, unless a commit began or ended since.
func (c *cache) put(key cacheKey, doc []byte, state uint64) {
	if len(doc) > maxDocument || state%2 != 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == c.state {
		c.add(key, doc)
	}
}

func (c *cache) add(key cacheKey, doc []byte) {
	c.remove(key)
	if c.size += entrySize + len(doc); c.size > cacheSize/2 {
		c.old, c.recent, c.size = c.recent, make(map[cacheKey][]byte), entrySize+len(doc)
	}
	c.recent[key] = doc
}

func (c *cache) remove(key cacheKey) {
	if doc, ok := c.recent[key]; ok {
		c.size -= entrySize + len(doc)
		delete(c.recent, key)
	}
	delete(c.old, key)
}

// commit removes the changed documents and calls do, which commits the transaction that changed them.
func (c *cache) commit(changed []cacheKey, do func() error) error {
	c.mu.Lock()
	c.state++
	for _, key := range changed {
		c.remove(key)
	}
	c.mu.Unlock()
	err := do()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state++
	return err
}

// clear removes all documents.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.recent)
	clear(c.old)
	c.size = 0
}

// idOf returns the ID of a filter that selects one document by it.
func idOf(f store.Filter) (store.ID, bool) {
	equal, ok := f.(store.Comparison)
	if !ok || equal.Op != store.OpEq || equal.Field != "id" {
		return store.ID{}, false
	}
	id, ok := equal.Value.(store.ID)
	return id, ok
}

func (c *collection) cacheKey(id string) cacheKey {
	parsed, _ := store.ParseID(id) // always valid: insert wrote it
	return cacheKey{c.spec.Name, parsed}
}
