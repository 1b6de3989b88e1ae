package sqlite

import (
	"sync"

	"example.com/ginseng/kit/store"
)

// The limits of a cache, in bytes.
const (
	cacheSize   = 4 << 20  // maximum total size of the documents, plus entrySize for each document
	entrySize   = 256      // estimated memory of a map entry without the JSON
	maxDocument = 64 << 10 // larger documents are not cached
)

// cache keeps documents that were read by ID, as JSON. It never returns an outdated document: before a commit, the writer removes
// the documents that the transaction changes. put does not add documents until the commit has ended.
//
// The cache has two generations, each of up to half of cacheSize. A document that is read moves to the recent generation. When
// the recent generation is full, it becomes the old generation, and the previous old generation is dropped.
type cache struct {
	mu          sync.Mutex
	state       uint64 // incremented when a commit begins and when it ends; odd in between
	recent, old map[cacheKey][]byte
	size        int // size of recent, in bytes
}

type cacheKey struct {
	collection string
	id         store.ID
}

func newCache() *cache {
	return &cache{recent: make(map[cacheKey][]byte), old: make(map[cacheKey][]byte)}
}

// get returns a document and the state to pass to put. doc is nil if the cache does not have the document. Callers must not
// modify the document.
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

// put adds a document that was read from the database after get returned state. If a commit was running at that time, or has
// begun since, the document may be outdated and put does not add it.
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

// commit removes the changed documents and calls do, which commits the transaction that changed them. It returns do's error.
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

func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.recent)
	clear(c.old)
	c.size = 0
}

// If f is Eq("id", id), idOf returns id; otherwise ok is false.
func idOf(f store.Filter) (id store.ID, ok bool) {
	equal, ok := f.(store.Comparison)
	if !ok || equal.Op != store.OpEq || equal.Field != "id" {
		return store.ID{}, false
	}
	id, ok = equal.Value.(store.ID)
	return id, ok
}

func (c *collection) cacheKey(id string) cacheKey {
	parsed, _ := store.ParseID(id) // id is always valid, because insert has written it
	return cacheKey{c.spec.Name, parsed}
}
