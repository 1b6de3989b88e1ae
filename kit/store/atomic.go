package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/ginseng/kit/apperr"
)

// ErrNoTransactions is returned by DB.Atomic if the server does not support transactions. Nothing was written.
var ErrNoTransactions = apperr.New(apperr.NotSupported, "This request needs a database with transactions: a MongoDB replica set or the embedded database.")

// ErrTooLong is returned by DB.Atomic, and by operations inside an Atomic, if the Atomic exceeds its time limit. Nothing is
// stored.
var ErrTooLong = apperr.New(apperr.Unavailable, "The change took too long, and nothing was stored. Try again in a few seconds.").AsOverload()

// ErrBusy is the cause of the errors of Busy.
var ErrBusy = errors.New("store: the operation has waited too long")

// Busy returns the error for an operation whose context ended before the operation began. ended is the error of the context. The
// operation has changed nothing.
func Busy(ended error) *apperr.Error {
	return apperr.New(apperr.Unavailable, "The database is busy. Try again in a few seconds.").WithCause(fmt.Errorf("%w: %w", ErrBusy, ended))
}

// ErrSearchInAtomic is returned inside an Atomic by an operation whose filter has a Search.
var ErrSearchInAtomic = errors.New("store: an Atomic cannot search; search before calling Atomic")

// ErrNoAtomic is returned by Collection.Lock with a context that does not belong to an Atomic.
var ErrNoAtomic = errors.New("store: Lock needs an Atomic; call Lock with the context that Atomic passes to its function")

// Lock prevents other callers from changing the documents with the ids until the Atomic of ctx ends, even if the Atomic only
// reads these documents. Use Lock to enforce a rule over several documents: each writer locks a document that all writers share.
// If DB.Serializable is true, Lock is not needed. Errors: NotFound if a document does not exist; ErrNoAtomic if ctx does not
// belong to an Atomic.
func (c *core) Lock(ctx context.Context, ids ...ID) error { return c.engine.Lock(ctx, ids...) }

// Modify reads the document with the id, passes the document to change, and stores the fields that change has modified. If
// another write changes the document in the meantime, Modify starts again with the new version, so change must have no side
// effects. If change does not modify the document, nothing is written. Changes to id and version are ignored. Modify returns the
// new version. Errors: NotFound if the document does not exist; the errors that change and Update return.
func (c *Collection[T]) Modify(ctx context.Context, id ID, change func(doc *T) error) (none T, err error) {
	doc, err := c.modify(ctx, id, func(doc Document) error { return change(any(doc).(*T)) })
	if err != nil {
		return none, err
	}
	return *any(doc).(*T), nil
}

// modify returns a pointer to the new version.
func (c *core) modify(ctx context.Context, id ID, change func(doc Document) error) (Document, error) {
	for {
		doc := c.newDocument()
		if err := c.first(ctx, Eq("id", id), doc); err != nil {
			return nil, err
		}
		read := And(Eq("id", id), Eq("version", VersionOf(doc)))
		before, err := storedFields(doc)
		if err != nil {
			return nil, err
		}
		if err := change(doc); err != nil {
			return nil, err
		}
		changes, err := changesSince(before, doc)
		if err != nil || len(changes) == 0 {
			return doc, err
		}
		changed := c.newDocument()
		err = c.update(ctx, read, changes, changed)
		if !apperr.Is(err, apperr.NotFound) {
			return changed, err
		}
	}
}

// storedFields returns the stored form of each non-null field of a document.
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

// changesSince returns the changes that turn a document with these stored fields into doc.
func changesSince(fields map[string]jsontext.Value, doc any) (changes []Change, err error) {
	now, err := storedFields(doc)
	if err != nil {
		return nil, err
	}
	v := reflect.Indirect(reflect.ValueOf(doc))
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

// Commit collects the functions that AfterCommit registers for an Atomic or a Together. Only engines use this type.
type Commit struct {
	separate  bool // the Commit belongs to a Together that stores each write immediately
	mu        sync.Mutex
	functions []func()
	done      bool
}

type commitKey struct{}

// WithCommit returns a context for the function of an Atomic, and the Commit of that context. The engine must call Commit.Run
// after the writes are stored.
func WithCommit(ctx context.Context) (context.Context, *Commit) {
	c := new(Commit)
	return context.WithValue(ctx, commitKey{}, c), c
}

// Run calls the registered functions.
func (c *Commit) Run() {
	c.mu.Lock()
	functions := c.functions
	c.functions, c.done = nil, true
	c.mu.Unlock()
	for _, f := range functions {
		f()
	}
}

// add registers a function. If Run has already been called, add returns false and does not register the function.
func (c *Commit) add(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return false
	}
	c.functions = append(c.functions, f)
	return true
}

// AfterCommit registers f to be called after the Atomic of ctx has succeeded. If the Atomic fails, f is not called. If ctx
// belongs to a Together on a server without transactions, f is called after the function of the Together has returned, even if
// that function fails. If ctx belongs to no Atomic or Together, or if the Atomic or Together has already succeeded, AfterCommit
// calls f immediately.
func AfterCommit(ctx context.Context, f func()) {
	if c, ok := ctx.Value(commitKey{}).(*Commit); !ok || !c.add(f) {
		f()
	}
}

// InAtomic reports whether ctx belongs to an Atomic or a Together, whose function can be rolled back and repeated.
func InAtomic(ctx context.Context) bool {
	_, ok := ctx.Value(commitKey{}).(*Commit)
	return ok
}

// IsSeparate reports whether ctx belongs to a Together on a server without transactions. Other callers then see each write
// before the function of the Together returns.
func IsSeparate(ctx context.Context) bool {
	c, ok := ctx.Value(commitKey{}).(*Commit)
	return ok && c.separate
}

// rollbacksKey is the context key for the total of AddRollback in nanoseconds, an *atomic.Int64.
type rollbacksKey struct{}

// WithRollbacks returns a context, and a function that returns how long other writes have waited for the Atomics of this context
// that were rolled back. With an engine whose writes do not wait for an Atomic, the function returns 0.
func WithRollbacks(ctx context.Context) (context.Context, func() time.Duration) {
	total := new(atomic.Int64)
	return context.WithValue(ctx, rollbacksKey{}, total), func() time.Duration { return time.Duration(total.Load()) }
}

// AddRollback adds the duration of an Atomic that was rolled back to the total of WithRollbacks. Only engines use this function.
func AddRollback(ctx context.Context, d time.Duration) {
	if total, ok := ctx.Value(rollbacksKey{}).(*atomic.Int64); ok {
		total.Add(int64(d))
	}
}

// Separately calls f as Together does on a server without transactions. Only engines and tests use this function.
func Separately(ctx context.Context, f func(context.Context) error) error {
	if _, nested := ctx.Value(commitKey{}).(*Commit); nested {
		return f(ctx)
	}
	ctx, commit := WithCommit(ctx)
	commit.separate = true
	defer commit.Run()
	return f(ctx)
}
