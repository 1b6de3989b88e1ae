package store

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"reflect"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/ginseng/kit/apperr"
)

// ErrNoTransactions is returned by DB.Atomic if the server has no transactions. Nothing was written.
var ErrNoTransactions = apperr.New(apperr.NotSupported, "This needs a database with transactions: MongoDB as a replica set, or the embedded database.")

// ErrTooLong is returned by DB.Atomic, and by operations with its context, after its time limit. Nothing is stored.
var ErrTooLong = apperr.New(apperr.Unavailable, "The change took too long, and nothing was stored. Try again in a few seconds.").AsOverload()

// ErrSearchInAtomic is returned by an operation inside an Atomic whose filter has a Search.
var ErrSearchInAtomic = errors.New("store: a search inside an Atomic; search before it")

// ErrNoAtomic is returned by Collection.Lock with a context that is not of an Atomic.
var ErrNoAtomic = errors.New("store: Lock outside of an Atomic; call it in the function that Atomic calls, with its context")

// Lock keeps others from changing the documents with the ids until the Atomic of ctx ends, also if it only reads them. A rule
// over several documents needs it, except on a database that is DB.Serializable: each writer locks a document that all of
// them share. Errors: NotFound if one does not exist; ErrNoAtomic.
func (c *Collection[T]) Lock(ctx context.Context, ids ...ID) error { return c.engine.Lock(ctx, ids...) }

// Modify reads the document with the id, calls change with it, and stores the fields that change has changed. If another write
// changes the document meanwhile, Modify repeats this with the new version, so change must have no other effects. If change
// leaves the document as it was, nothing is written. id and version cannot be changed. Modify returns the new version. Errors:
// NotFound, those of change and of Update.
func (c *Collection[T]) Modify(ctx context.Context, id ID, change func(doc *T) error) (none T, err error) {
	for {
		doc, err := c.Get(ctx, id)
		if err != nil {
			return none, err
		}
		read := And(Eq("id", id), Eq("version", VersionOf(doc)))
		before, err := storedFields(doc)
		if err != nil {
			return none, err
		}
		if err := change(&doc); err != nil {
			return none, err
		}
		changes, err := changesSince(before, doc)
		if err != nil || len(changes) == 0 {
			return doc, err
		}
		changed, err := c.Update(ctx, read, changes...)
		if !apperr.Is(err, apperr.NotFound) {
			return changed, err
		}
	}
}

// storedFields returns the stored form of each field of a document that is not null.
func storedFields(doc any) (map[string]jsontext.Value, error) {
	var data bytes.Buffer
	if err := EncodeStored(&data, doc); err != nil {
		return nil, err
	}
	var fields map[string]jsontext.Value
	err := json.Unmarshal(data.Bytes(), &fields)
	maps.DeleteFunc(fields, func(_ string, v jsontext.Value) bool { return v.Kind() == 'n' })
	return fields, err
}

// changesSince returns the changes that make doc of a document with the fields.
func changesSince(fields map[string]jsontext.Value, doc any) (changes []Change, err error) {
	now, err := storedFields(doc)
	if err != nil {
		return nil, err
	}
	v := reflect.ValueOf(doc)
	for _, f := range reflect.VisibleFields(v.Type()) {
		name := FieldName(f)
		if f.Anonymous || name == "" || name == "id" || name == "version" || bytes.Equal(fields[name], now[name]) {
			continue
		}
		if now[name] == nil { // null or omitted
			changes = append(changes, Unset(name))
		} else {
			changes = append(changes, Set(name, v.FieldByIndex(f.Index).Interface()))
		}
	}
	return changes, nil
}

// Commit has the functions that AfterCommit registers for an Atomic or a Together, for engines.
type Commit struct {
	separate  bool // each write is stored immediately
	mu        sync.Mutex
	functions []func()
	done      bool
}

type commitKey struct{}

// WithCommit returns a context for the function of an Atomic, whose Commit the engine must run when the writes are stored.
func WithCommit(ctx context.Context) (context.Context, *Commit) {
	c := new(Commit)
	return context.WithValue(ctx, commitKey{}, c), c
}

// Run calls the functions.
func (c *Commit) Run() {
	c.mu.Lock()
	functions := c.functions
	c.functions, c.done = nil, true
	c.mu.Unlock()
	for _, f := range functions {
		f()
	}
}

// add registers a function and reports whether Run will call it.
func (c *Commit) add(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return false
	}
	c.functions = append(c.functions, f)
	return true
}

// AfterCommit calls f when the Atomic of ctx has stored its writes, and not at all if it stores nothing. If ctx is of a Together
// on a server without transactions, it calls f when the function of that has returned. Otherwise it calls f immediately.
func AfterCommit(ctx context.Context, f func()) {
	if c, ok := ctx.Value(commitKey{}).(*Commit); !ok || !c.add(f) {
		f()
	}
}

// IsSeparate reports whether ctx is of a Together on a server without transactions: others see each write before the function has
// returned.
func IsSeparate(ctx context.Context) bool {
	c, ok := ctx.Value(commitKey{}).(*Commit)
	return ok && c.separate
}

// Separately calls f as Together does on a server without transactions, for engines.
func Separately(ctx context.Context, f func(context.Context) error) error {
	if _, nested := ctx.Value(commitKey{}).(*Commit); nested {
		return f(ctx)
	}
	ctx, commit := WithCommit(ctx)
	commit.separate = true
	defer commit.Run()
	return f(ctx)
}
