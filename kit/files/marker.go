package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

func isMissing(err error) bool { return apperr.Is(err, apperr.NotFound) }

// marker is the only document of its collection. It connects the database with the directory that has its files.
type marker struct {
	store.Meta `bson:",inline"`
	Marker     store.ID `json:"marker"` // the content of the file markerFile
}

// markerID is the ID of the document; all instances use the same.
var markerID = store.ID([]byte("file-storage"))

// errOtherStorage is the error of Claim.
var errOtherStorage = errors.New("the directory does not belong to this database")

// Claim connects a new directory with the database, or checks that the directory of the Store is the one that the database has its
// files in: a directory that is not mounted would lose files, and the sweep of another database would delete files. shared says that
// several instances use the directory, so that an empty directory is a mistake if the database has files. The error says what is
// wrong.
func (f *Files) Claim(ctx context.Context, shared bool) error {
	local, ok := f.store.(*Local)
	if !ok {
		return nil
	}
	inDir, err := local.marker()
	if err != nil {
		return err
	}
	known, err := f.markers.Get(ctx, markerID)
	switch {
	case err == nil && known.Marker == inDir:
		return nil
	case err == nil && shared && inDir.IsZero():
		return fmt.Errorf("%w: it has no file %s; mount the directory that the other instances use", errOtherStorage, markerFile)
	case err != nil && !isMissing(err):
		return err
	}
	for _, err := range local.List(ctx) {
		if err != nil {
			return err
		}
		if !inDir.IsZero() || shared {
			return fmt.Errorf("%w, but has files; use the directory of this database, or an empty one", errOtherStorage)
		}
		break
	}
	if err == nil { // an empty directory for a database that was restored without its files
		if shared {
			return fmt.Errorf("%w; mount the directory that the other instances use", errOtherStorage)
		}
		return errors.Join(ignoreMissing(local.root.Remove(markerFile)), local.setMarker(known.Marker))
	}
	return f.claimNew(ctx, local, inDir)
}

// claimNew connects a directory without files with a database that has no marker. Several instances can do so at the same time.
func (f *Files) claimNew(ctx context.Context, local *Local, inDir store.ID) error {
	if inDir.IsZero() {
		if err := local.setMarker(store.NewID()); err != nil {
			return err
		}
		var err error
		if inDir, err = local.marker(); err != nil {
			return err
		}
	}
	err := f.markers.Insert(ctx, marker{store.NewMeta(markerID, store.At(f.now())), inDir})
	if !apperr.Is(err, apperr.Conflict) {
		return err
	}
	known, err := f.markers.Get(ctx, markerID)
	if err == nil && known.Marker != inDir {
		err = fmt.Errorf("%w: another instance has started with another directory", errOtherStorage)
	}
	return err
}

// marker returns the ID in the marker of the directory; zero if there is none.
func (l *Local) marker() (store.ID, error) {
	file, err := l.root.Open(markerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return store.ID{}, nil
	}
	if err != nil {
		return store.ID{}, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, 100))
	if err != nil {
		return store.ID{}, err
	}
	id, ok := store.ParseID(strings.TrimSpace(string(text)))
	if !ok {
		return id, fmt.Errorf("%w: its file %s is damaged", errOtherStorage, markerFile)
	}
	return id, nil
}

// setMarker writes the marker of the directory, unless another instance has written one.
func (l *Local) setMarker(id store.ID) error {
	temporary := incoming + "/" + id.Hex()
	file, err := l.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(id.Hex() + "\n")
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = l.root.Link(temporary, markerFile) // fails if the marker exists
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	return errors.Join(err, l.root.Remove(temporary), l.syncDir("."))
}
