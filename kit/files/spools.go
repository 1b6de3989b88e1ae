package files

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// spoolPrefix is the beginning of the names of temporary files.
const spoolPrefix = "ginseng-upload-"

// spools are the temporary files of the uploads in progress.
type spools struct {
	dir    string
	mu     sync.Mutex
	names  map[string]bool
	closed bool
}

// errClosed is returned for uploads that begin when the process ends.
var errClosed = errors.New("files: the service is closed")

func newSpools(dir string) *spools {
	return &spools{dir: cmp.Or(dir, os.TempDir()), names: map[string]bool{}}
}

func (s *spools) create() (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	file, err := os.CreateTemp(s.dir, spoolPrefix)
	if err != nil {
		return nil, errors.Join(errNoRoom, err)
	}
	s.names[file.Name()] = true
	return file, nil
}

// remove closes and removes a file. Put may have moved it: then there is nothing to remove.
func (s *spools) remove(file *os.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = file.Close()
	_ = os.Remove(file.Name())
	delete(s.names, file.Name())
}

// Close removes the temporary files of uploads in progress. Later uploads fail with Unavailable. Put of a file that was received before
// still works, because it reads the open file.
func (f *Files) Close(context.Context) {
	if !f.Configured() {
		return
	}
	s := f.spools
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for name := range s.names {
		_ = os.Remove(name)
	}
}

// sweep removes temporary files that were last modified before a time, such as those of a process that was killed, also those of other
// services in the same directory. It skips files that it has no permission to remove.
func (s *spools) sweep(before time.Time) error {
	entries, err := os.ReadDir(s.dir)
	failed := []error{err}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), spoolPrefix) {
			continue
		}
		info, err := entry.Info()
		if err == nil && info.ModTime().Before(before) {
			err = os.Remove(filepath.Join(s.dir, entry.Name()))
		}
		if !errors.Is(err, fs.ErrPermission) {
			failed = append(failed, ignoreMissing(err))
		}
	}
	return errors.Join(failed...)
}
