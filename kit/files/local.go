package files

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"example.com/ginseng/kit/store"
)

// Local is a Store in a directory of the local disk, or of a disk that all instances mount. A file has the name of its ID, in a
// subdirectory with the last two digits of the ID. The names of users are no part of paths.
type Local struct {
	root   *os.Root
	dir    string   // path of root
	synced sync.Map // the subdirectories whose names are durable
}

// incoming is the subdirectory of files that are not yet complete.
const incoming = "incoming"

// NewLocal returns the Store in the directory. It creates the directory if it is missing, accessible only to its owner.
func NewLocal(dir string) (*Local, error) {
	if err := createDir(dir); err != nil {
		return nil, fmt.Errorf("create the directory of files: %w", err)
	}
	return OpenLocal(dir)
}

// OpenLocal is NewLocal for a directory that must exist, for example because it must be mounted.
func OpenLocal(dir string) (*Local, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the directory of files: %w", err)
	}
	return &Local{root: root, dir: dir}, nil
}

// createDir creates a directory and its parents if they are missing. Their names are durable when it returns.
func createDir(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if err := createDir(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	d, err := os.Open(parent)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// place returns the subdirectory and the path of a file.
func place(id store.ID) (dir, path string) {
	name := id.Hex()
	dir = name[len(name)-2:]
	return dir, dir + "/" + name
}

// Put implements Store. It moves the file if the file is on the same disk, and otherwise copies it.
func (l *Local) Put(_ context.Context, id store.ID, from *os.File, size int64) error {
	if err := l.put(id, from, size); err != nil {
		return Unavailable(err)
	}
	return nil
}

func (l *Local) put(id store.ID, from *os.File, size int64) error {
	dir, path := place(id)
	if err := errors.Join(l.makeDir(incoming), l.makeDir(dir)); err != nil {
		return err
	}
	temporary := incoming + "/" + id.Hex() + "-" + rand.Text() // two copies can put the same file
	if err := l.bring(temporary, from, size); err != nil {
		return errors.Join(err, ignoreMissing(l.root.Remove(temporary)))
	}
	if err := l.root.Rename(temporary, path); err != nil {
		return errors.Join(err, ignoreMissing(l.root.Remove(temporary)))
	}
	return l.syncDir(dir)
}

// bring moves or copies a file to the temporary name, and writes it to disk.
func (l *Local) bring(temporary string, from *os.File, size int64) error {
	if info, err := from.Stat(); err != nil || info.Size() != size {
		return errors.Join(err, fmt.Errorf("the file has another size than %d", size))
	}
	if os.Rename(from.Name(), filepath.Join(l.dir, temporary)) == nil {
		return from.Sync()
	}
	to, err := l.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(to, from)
	if err == nil && n != size {
		err = fmt.Errorf("copied %d bytes of %d", n, size)
	}
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}

// makeDir creates a subdirectory if it is missing. Its name is durable when makeDir returns, also if another call has just created it.
func (l *Local) makeDir(dir string) error {
	if _, ok := l.synced.Load(dir); ok {
		return nil
	}
	if err := l.root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := l.syncDir("."); err != nil {
		return err
	}
	l.synced.Store(dir, true)
	return nil
}

// syncDir makes the names in a directory durable.
func (l *Local) syncDir(dir string) error {
	d, err := l.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Open implements Store. The result is an *os.File.
func (l *Local) Open(_ context.Context, id store.ID) (io.ReadSeekCloser, error) {
	_, path := place(id)
	file, err := l.root.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNotFound
	case err != nil:
		return nil, Unavailable(err)
	}
	return file, nil
}

// Delete implements Store.
func (l *Local) Delete(_ context.Context, id store.ID) error {
	_, path := place(id)
	if err := ignoreMissing(l.root.Remove(path)); err != nil {
		return Unavailable(err)
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// List implements Store. It ignores files with other names than Put gives.
func (l *Local) List(ctx context.Context) iter.Seq2[store.ID, error] {
	return func(yield func(store.ID, error) bool) {
		for i := range 256 {
			dir := fmt.Sprintf("%02x", i)
			for name, err := range l.names(ctx, dir) {
				if err != nil {
					yield(store.ID{}, Unavailable(err))
					return
				}
				id, ok := store.ParseID(name)
				if ok && name == id.Hex() && strings.HasSuffix(name, dir) && !yield(id, nil) {
					return
				}
			}
		}
	}
}

const namesAtOnce = 1000

// names returns the names in a subdirectory. A missing directory has none.
func (l *Local) names(ctx context.Context, dir string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		d, err := l.root.Open(dir)
		if err != nil {
			if ignoreMissing(err) != nil {
				yield("", err)
			}
			return
		}
		defer func() { _ = d.Close() }()
		for ctx.Err() == nil {
			names, err := d.Readdirnames(namesAtOnce)
			for _, name := range names {
				if !yield(name, nil) {
					return
				}
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield("", err)
				return
			}
		}
		yield("", ctx.Err())
	}
}

// Clean implements Store.
func (l *Local) Clean(ctx context.Context, before time.Time) error {
	var failed error // the last
	for name, err := range l.names(ctx, incoming) {
		if err != nil {
			return Unavailable(err)
		}
		path := incoming + "/" + name
		info, err := l.root.Stat(path)
		if err == nil && info.ModTime().Before(before) {
			err = l.root.Remove(path)
		}
		if ignoreMissing(err) != nil {
			failed = Unavailable(err)
		}
	}
	return failed
}
