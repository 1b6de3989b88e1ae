package store

import (
	"context"
	"slices"

	"example.com/ginseng/kit/apperr"
)

// Versions are the accepted versions of a document to change (RFC 9110 If-Match); nil accepts any.
type Versions []int64

// ErrStale is the error of a change if the document does not have one of the Versions.
var ErrStale = apperr.New(apperr.PreconditionFailed, "The record has changed since it was read. Read it again, and repeat the change on what it is now.")

// Check returns ErrStale unless v accepts the version.
func (v Versions) Check(version int64) error {
	if v == nil || slices.Contains(v, version) {
		return nil
	}
	return ErrStale
}

func (v Versions) of(id ID) Filter {
	if v == nil {
		return Eq("id", id)
	}
	wanted := make([]any, len(v))
	for i, version := range v {
		wanted[i] = version
	}
	return And(Eq("id", id), In("version", wanted...))
}

// missed returns the error of a change that selected no document.
func (v Versions) missed() error {
	if v == nil {
		return ErrNotFound
	}
	return ErrStale
}

// UpdateByID updates the document with the id. Errors: NotFound; PreconditionFailed if the document does not have one
// of the versions.
func (c *Collection[T]) UpdateByID(ctx context.Context, id ID, versions Versions, changes ...Change) (T, error) {
	doc, err := c.Update(ctx, versions.of(id), changes...)
	if apperr.Is(err, apperr.NotFound) {
		err = versions.missed()
	}
	return doc, err
}

// DeleteByID deletes the document with the id. Errors: as UpdateByID.
func (c *Collection[T]) DeleteByID(ctx context.Context, id ID, versions Versions) error {
	n, err := c.Delete(ctx, versions.of(id))
	if err == nil && n == 0 {
		err = versions.missed()
	}
	return err
}
