package transfer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// markerName is the collection that the target of an unfinished copy has.
const markerName = "unfinished-copy"

// marker is its only document. Its id is unique, so that it shows whether two addresses lead to one database.
type marker struct {
	store.Meta `bson:",inline"`
	Source     string `json:"source"`  // address without credentials
	Emptied    bool   `json:"emptied"` // all documents are of this copy
}

var markerSpec = store.Spec{Name: markerName}

// find returns the marker of a database. Errors: NotFound.
func find(ctx context.Context, db store.DB) (marker, error) {
	names, err := db.Names(ctx)
	if err != nil {
		return marker{}, err
	}
	if !slices.Contains(names, markerName) {
		return marker{}, store.ErrNotFound
	}
	return store.Open[marker](db, markerSpec).First(ctx, nil)
}

// CheckFinished fails if the database is the target of an unfinished copy.
func CheckFinished(ctx context.Context, db store.DB) error {
	m, err := find(ctx, db)
	switch {
	case apperr.Is(err, apperr.NotFound):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("the database is an unfinished copy of %s, begun at %s; run the same command copy again to finish it",
		m.Source, m.CreatedAt)
}

// mark creates the marker.
func mark(ctx context.Context, db store.DB, source string) (marker, error) {
	m := marker{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), Source: source}
	err := db.Open(markerSpec).Load(ctx, []store.ID{m.ID}, []any{&m})
	return m, err
}

func updateMarker(ctx context.Context, db store.DB, changes ...store.Change) error {
	_, err := store.Open[marker](db, markerSpec).Update(ctx, nil, changes...)
	return err
}
