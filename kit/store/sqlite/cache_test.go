package sqlite

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// TestCachedChanges checks that Get returns the result of the last change, whichever filter selected the document.
func TestCachedChanges(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	other := store.Open[item](db, store.Spec{Name: "others"})
	must(t, db.Prepare(t.Context()))
	d := newItem("one")
	must(t, c.Insert(t.Context(), d))
	name := func(want string) {
		t.Helper()
		for range 2 { // the second read is from the cache
			got, err := c.Get(t.Context(), d.ID)
			must(t, err)
			if got.Name != want {
				t.Errorf("the name is %q, want %q", got.Name, want)
			}
		}
		if doc, _ := db.cache.get(cacheKey{"items", d.ID}); doc == nil {
			t.Error("the cache does not have the document")
		}
		if _, err := other.Get(t.Context(), d.ID); !apperr.Is(err, apperr.NotFound) {
			t.Errorf("another collection returns %v, want NotFound", err)
		}
	}
	name("one")
	_, err := c.Update(t.Context(), store.Eq("name", "one"), store.Set("name", "two"))
	must(t, err)
	name("two")
	_, err = c.Update(t.Context(), store.Eq("id", d.ID), store.Set("name", "three"))
	must(t, err)
	name("three")
	_, err = c.Delete(t.Context(), store.Search("three"))
	must(t, err)
	if _, err := c.Get(t.Context(), d.ID); !apperr.Is(err, apperr.NotFound) {
		t.Errorf("a deleted document: %v, want NotFound", err)
	}
	must(t, c.Insert(t.Context(), d))
	name("one")
	must(t, db.Drop(t.Context(), "items"))
	must(t, db.Prepare(t.Context()))
	if _, err := c.Get(t.Context(), d.ID); !apperr.Is(err, apperr.NotFound) {
		t.Errorf("a document of a dropped collection: %v, want NotFound", err)
	}
}

// TestCacheDuringWrites reads documents while they are changed. No read may return an older version than an earlier read has
// returned, or a finished update has written.
func TestCacheDuringWrites(t *testing.T) {
	t.Parallel()
	_, c := openItems(t, Options{})
	const documents, readers, updates = 4, 2, 50
	var ids [documents]store.ID
	var known [documents]atomic.Int64
	for i := range ids {
		d := newItem(fmt.Sprint("item ", i))
		ids[i] = d.ID
		must(t, c.Insert(t.Context(), d))
	}
	var writing, reading sync.WaitGroup
	var done atomic.Bool
	for i := range ids {
		writing.Go(func() {
			for range updates {
				d, err := c.Update(t.Context(), store.Eq("id", ids[i]), store.Set("name", store.NewID().Hex()))
				if err != nil {
					t.Error(err)
				}
				learn(&known[i], d.Version)
			}
		})
	}
	for range readers {
		reading.Go(func() {
			for n := 0; !done.Load(); n++ {
				i := n % documents
				before := known[i].Load()
				d, err := c.Get(t.Context(), ids[i])
				if err != nil || d.Version < before {
					t.Errorf("version %d after %d: %v", d.Version, before, err)
					return
				}
				learn(&known[i], d.Version)
			}
		})
	}
	writing.Wait()
	done.Store(true)
	reading.Wait()
}

// learn raises v to at least n.
func learn(v *atomic.Int64, n int64) {
	for old := v.Load(); old < n && !v.CompareAndSwap(old, n); old = v.Load() {
	}
}

// TestCacheSize checks the size of a full cache. A document that is read repeatedly must stay in the cache.
func TestCacheSize(t *testing.T) {
	t.Parallel()
	c := newCache()
	doc, often := []byte(strings.Repeat("x", 1000)), cacheKey{"items", store.NewID()}
	c.put(often, doc, 0)
	for range 20_000 {
		c.put(cacheKey{"items", store.NewID()}, doc, 0)
		if kept, _ := c.get(often); kept == nil {
			t.Fatal("a document that is read again is removed")
		}
	}
	kept := len(c.recent) + len(c.old)
	if size := kept * (len(doc) + entrySize); size > cacheSize || size < cacheSize/2 {
		t.Errorf("the cache keeps %d bytes, want at most %d and at least half of it", size, cacheSize)
	}
	other := cacheKey{"items", store.NewID()}
	c.put(other, doc, 0)
	for range 20_000 { // each change removes the document, and the next read adds the document again
		must(t, c.commit([]cacheKey{often}, func() error { return nil }))
		_, state := c.get(often)
		c.put(often, doc, state)
	}
	if kept, _ := c.get(other); kept == nil {
		t.Error("changes of one document remove others")
	}
	large := cacheKey{"items", store.NewID()}
	_, state := c.get(large)
	c.put(large, make([]byte, maxDocument+1), state)
	if kept, _ := c.get(large); kept != nil {
		t.Error("a large document is kept")
	}
}
