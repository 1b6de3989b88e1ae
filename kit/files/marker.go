package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

func isMissing(err error) bool { return apperr.Is(err, apperr.NotFound) }

// marker is the only document of its collection. It names the subdirectory that has the files of this database.
type marker struct {
	store.Meta `bson:",inline"`
	Marker     store.ID `json:"marker"` // the name of the subdirectory
	Made       bool     `json:"made"`   // the subdirectory was created
}

// markerID is the ID of the document; all instances use the same.
var markerID = store.ID([]byte("file-storage"))

// Claim makes the Store use its subdirectory for this database: its name is random, so that the sweep of another database with the same
// directory or bucket deletes nothing. Call Claim before all uses of the Store.
//
// shared says that several instances use the directory. Then Claim fails if an instance has created the subdirectory and it is not
// there, for example because the disk is not mounted.
func (f *Files) Claim(ctx context.Context, shared bool) error {
	storage, ok := f.store.(Partitioned) // not if files are not configured
	if !ok {
		return nil
	}
	known, err := f.markers.Get(ctx, markerID)
	if isMissing(err) {
		known = marker{Meta: store.NewMeta(markerID, store.At(f.now())), Marker: store.NewID()}
		if err = f.markers.Insert(ctx, known); apperr.Is(err, apperr.Conflict) { // another instance
			known, err = f.markers.Get(ctx, markerID)
		}
	}
	if err != nil {
		return err
	}
	if err := storage.Enter(known.Marker.Hex(), !shared || !known.Made); err != nil {
		return err
	}
	_, err = f.markers.Update(ctx, store.Eq("id", markerID), store.Set("made", true))
	return err
}

// Enter is Claim for a program that changes nothing. It fails if Claim has not created the subdirectory, or if it is not there.
func (f *Files) Enter(ctx context.Context) error {
	storage, ok := f.store.(Partitioned)
	if !ok {
		return nil
	}
	name, err := f.database(ctx)
	if err != nil {
		return err
	}
	return storage.Enter(name, false)
}

// database returns the name of the subdirectory of the database.
func (f *Files) database(ctx context.Context) (string, error) {
	known, err := f.markers.Get(ctx, markerID)
	if isMissing(err) {
		err = errors.New("no service with this database has stored files yet; start the service once")
	}
	return known.Marker.Hex(), err
}

// Enter makes a subdirectory the directory of all files. If create is true, it creates the subdirectory if it is missing.
func (l *Local) Enter(name string, create bool) error {
	if create {
		if err := l.makeDir(name); err != nil {
			return err
		}
	}
	root, err := l.root.OpenRoot(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the directory has no subdirectory %s, in which the service has stored its files; mount or restore the directory that it uses", name)
	}
	if err != nil {
		return err
	}
	_ = l.root.Close()
	l.root, l.dir = root, l.dir+"/"+name
	l.synced.Clear()
	return nil
}

// Databases returns the names of the subdirectories that databases have.
func (l *Local) Databases(ctx context.Context) (databases []string, err error) {
	for name, err := range l.names(ctx, ".") {
		if err != nil {
			return nil, Unavailable(err)
		}
		if id, ok := store.ParseID(name); ok && name == id.Hex() {
			databases = append(databases, name)
		}
	}
	return databases, nil
}
