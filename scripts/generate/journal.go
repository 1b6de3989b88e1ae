package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// A plan is written in two steps, so that a process that is killed leaves the old tree, the new one, or one that the next
// call completes. First the new files go to the folder journalDir, and the journal, which says where each belongs, is
// renamed to its name: from then on the plan counts. Then each file is renamed to its place.
const (
	journalDir  = ".generate"
	journalName = "journal.json"
)

// change is one file of a plan. Old is nil where there is none yet, New where it is taken away.
type change struct {
	Path     string // with slashes, from the root
	Old, New []byte
}

// move is a change in the journal.
type move struct {
	Path string `json:"path"`
	From string `json:"from"` // the name in journalDir; "" takes the file away
}

// writer writes plans.
type writer struct {
	root string
	// step is called before each step; an error stops the writer there. Tests end the process in it.
	step func() error
}

func (w writer) path(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

// write makes the changes, all or none. If it fails before the plan counts, nothing has changed.
func (w writer) write(changes []change) error {
	if err := w.probe(changes); err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	if err := w.prepare(changes); err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	if _, err := w.finish(); err != nil {
		return fmt.Errorf("the change is decided, but not complete; mend the cause, and any call of generate completes it: %w", err)
	}
	return nil
}

// probe fails if a folder that the plan changes takes no files.
func (w writer) probe(changes []change) error {
	for _, c := range changes {
		dir := filepath.Dir(w.path(c.Path))
		for {
			info, err := os.Stat(dir)
			if err == nil && !info.IsDir() {
				return fmt.Errorf("%s is no folder", dir)
			}
			if err == nil {
				break
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			dir = filepath.Dir(dir)
		}
		f, err := os.CreateTemp(dir, ".generate-*")
		if err != nil {
			return err
		}
		if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// prepare writes the new files and the journal beside the tree; the last step makes the plan count.
func (w writer) prepare(changes []change) (err error) {
	if err := w.step(); err != nil {
		return err
	}
	if err := os.Mkdir(w.path(journalDir), 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(w.path(journalDir)))
		}
	}()
	var moves []move
	for i, c := range changes {
		m := move{Path: c.Path}
		if c.New != nil {
			m.From = strconv.Itoa(i)
			if err := w.store(m.From, c.New); err != nil {
				return err
			}
		}
		moves = append(moves, m)
	}
	text, err := json.MarshalIndent(moves, "", "\t")
	if err != nil {
		return err
	}
	if err := w.store("journal.new", text); err != nil {
		return err
	}
	for _, c := range changes { // somebody may have written since the plan was made
		if now, err := os.ReadFile(w.path(c.Path)); err == nil && !bytes.Equal(now, c.Old) || err == nil != (c.Old != nil) {
			return fmt.Errorf("%s has changed meanwhile; call again", c.Path)
		}
	}
	if err := w.step(); err != nil {
		return err
	}
	return errors.Join(os.Rename(w.path(journalDir+"/journal.new"), w.path(journalDir+"/"+journalName)), syncDir(w.path(journalDir)))
}

// store writes a file of journalDir to the disk.
func (w writer) store(name string, content []byte) error {
	if err := w.step(); err != nil {
		return err
	}
	f, err := os.Create(w.path(journalDir + "/" + name))
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// finish completes a plan that counts, and clears one away that does not. It tells which it found: "" is none.
func (w writer) finish() (found string, err error) {
	if _, err := os.Stat(w.path(journalDir)); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	text, err := os.ReadFile(w.path(journalDir + "/" + journalName))
	if errors.Is(err, fs.ErrNotExist) {
		return "cleared away what a call that was cut off has left; the tree is whole", os.RemoveAll(w.path(journalDir))
	}
	var moves []move
	if err == nil {
		err = json.Unmarshal(text, &moves)
	}
	if err != nil {
		return "", err
	}
	var dirs []string
	for _, m := range moves {
		if err := w.step(); err != nil {
			return "", err
		}
		if err := w.move(m); err != nil {
			return "", err
		}
		if dir := filepath.Dir(w.path(m.Path)); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		if err := syncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	if err := w.step(); err != nil {
		return "", err
	}
	if err := os.Remove(w.path(journalDir + "/" + journalName)); err != nil {
		return "", err
	}
	if err := w.step(); err != nil {
		return "", err
	}
	return "completed a change that was cut off", os.RemoveAll(w.path(journalDir))
}

// move makes one change, or finds it made.
func (w writer) move(m move) error {
	target := w.path(m.Path)
	if m.From == "" {
		if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		_ = os.Remove(filepath.Dir(target)) // fails unless it was the last file
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	err := os.Rename(w.path(journalDir+"/"+m.From), target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // moved before the process was cut off
	}
	return err
}

// syncDir makes the names in a folder last.
func syncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	_ = dir.Sync() // Windows cannot, and need not
	return dir.Close()
}
