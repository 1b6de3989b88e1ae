package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Change is a change of a file. Before and After are the contents of the file; nil if the file does not exist.
type Change struct {
	Path          string // from the root, with slashes
	Before, After []byte
}

// undoFile exists while Apply makes changes, and has the changes in JSON.
const undoFile = ".ginseng-undo.json"

// Apply makes all changes or none. If the process is killed while Apply writes files, the next call of Restore restores the
// files. Apply fails if the content of a file differs from Before.
func Apply(root string, changes []Change) error {
	defer Lock(root)()
	if err := restore(root); err != nil {
		return err
	}
	for _, c := range changes {
		if current, err := content(root, c.Path); err != nil {
			return err
		} else if !same(current, c.Before) {
			return fmt.Errorf("%s has changed meanwhile; run the command again", c.Path)
		}
	}
	record, err := json.Marshal(changes)
	if err != nil {
		return err
	}
	undo := filepath.Join(root, undoFile)
	if err := os.WriteFile(undo, record, 0o600); err != nil {
		_ = os.Remove(undo)
		return err
	}
	for _, c := range changes {
		if err := write(root, c.Path, c.After); err != nil {
			return errors.Join(err, restore(root))
		}
	}
	return os.Remove(undo)
}

// Restore undoes the changes of an Apply whose process was killed. It waits while another process changes the files.
func Restore(root string) error {
	if _, err := os.Stat(filepath.Join(root, undoFile)); err != nil {
		return nil
	}
	defer Lock(root)()
	return restore(root)
}

// restore undoes the changes in undoFile, unless all changes were made. It fails if one of the files was edited in the meantime.
func restore(root string) error {
	undo := filepath.Join(root, undoFile)
	record, err := os.ReadFile(undo)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var changes []Change
	if json.Unmarshal(record, &changes) != nil { // the process was killed while it wrote the record, before the first change
		return os.Remove(undo)
	}
	complete := true
	for _, c := range changes {
		current, err := content(root, c.Path)
		if err != nil {
			return err
		}
		if !partOf(current, c.Before) && !partOf(current, c.After) {
			return fmt.Errorf("a generator was killed while it changed the project, and %s was edited since: undo that edit, or delete %s to keep all files", c.Path, undoFile)
		}
		complete = complete && same(current, c.After)
	}
	for _, c := range changes {
		if !complete {
			err = errors.Join(err, write(root, c.Path, c.Before))
		}
	}
	if err != nil {
		return err
	}
	return os.Remove(undo)
}

// Lock waits until no other process has locked the directory, and locks it. The operating system unlocks it when the process
// ends. Lock does nothing on file systems that cannot lock directories.
func Lock(dir string) (unlock func()) {
	lock := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	_ = lock.Lock()
	return func() { _ = lock.Unlock() }
}

// content returns the content of a file, or nil if the file does not exist.
func content(root, path string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

func same(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

// partOf reports whether current is whole, or the beginning of whole that an interrupted write leaves.
func partOf(current, whole []byte) bool {
	return same(current, whole) || current != nil && whole != nil && bytes.HasPrefix(whole, current)
}

// write writes a file. If data is nil, it removes the file and the directories that become empty.
func write(root, path string, data []byte) error {
	if data != nil {
		return writeFile(root, path, data)
	}
	file := filepath.Join(root, filepath.FromSlash(path))
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := filepath.Dir(file); dir != root; dir = filepath.Dir(dir) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // it was perhaps not created yet
			break // not empty
		}
	}
	return nil
}
