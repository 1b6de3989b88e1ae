package transfer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// markerName is the collection that a database has while it is the target of a copy that has not ended.
const markerName = "unfinished-copy"

// marker is its one document.
type marker struct {
	store.Meta `bson:",inline"`
	Source     string `json:"source"` // address without credentials
	Emptied    bool   `json:"emptied"`
}

func markers(db store.DB) (*store.Collection[marker], store.Engine) {
	spec := store.Spec{Name: markerName}
	return store.Open[marker](db, spec), db.Open(spec)
}

// find reads the marker of a database. NotFound: it has none.
func find(ctx context.Context, db store.DB) (marker, error) {
	names, err := db.Names(ctx)
	if err == nil && !slices.Contains(names, markerName) {
		err = store.ErrNotFound
	}
	if err != nil {
		return marker{}, err
	}
	all, _ := markers(db)
	return all.First(ctx, nil)
}

// CheckFinished fails if the database is the target of a copy that has not ended.
func CheckFinished(ctx context.Context, db store.DB) error {
	m, err := find(ctx, db)
	switch {
	case apperr.Is(err, apperr.NotFound):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("the database is an unfinished copy of %s, begun at %s; run the same `ginseng copy` again to finish it",
		m.Source, m.CreatedAt)
}

// mark makes the marker. The document is the only one that bears its id, in any database.
func mark(ctx context.Context, db store.DB, source string) (marker, error) {
	m := marker{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), Source: source}
	_, engine := markers(db)
	return m, engine.Load(ctx, []store.ID{m.ID}, []any{&m})
}

// change changes the marker.
func change(ctx context.Context, db store.DB, changes ...store.Change) error {
	all, _ := markers(db)
	_, err := all.Update(ctx, nil, changes...)
	return err
}
