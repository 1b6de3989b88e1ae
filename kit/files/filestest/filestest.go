// Package filestest checks that an implementation of files.Store satisfies the contract.
package filestest

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store"
)

// Run runs the tests of the contract. open returns an empty Store.
func Run(t *testing.T, open func(t *testing.T) files.Store) {
	for name, test := range map[string]func(*testing.T, files.Store){
		"put and open": testPut, "delete": testDelete, "list": testList, "concurrent": testConcurrent,
		"wrong size": testWrongSize, "clean": testClean,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// Spool returns a file with the data, open at offset 0.
func Spool(t testing.TB, data []byte) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "spooled")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func put(t *testing.T, s files.Store, data []byte) store.ID {
	t.Helper()
	id := store.NewID()
	if err := s.Put(t.Context(), id, Spool(t, data), int64(len(data))); err != nil {
		t.Fatal(err)
	}
	return id
}

func read(t *testing.T, s files.Store, id store.ID) []byte {
	t.Helper()
	file, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func list(t *testing.T, s files.Store) []store.ID {
	t.Helper()
	ids := []store.ID{}
	for id, err := range s.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b store.ID) int { return bytes.Compare(a[:], b[:]) })
	return ids
}

func wantMissing(t *testing.T, s files.Store, id store.ID) {
	t.Helper()
	if file, err := s.Open(t.Context(), id); !apperr.Is(err, apperr.NotFound) || file != nil {
		t.Errorf("Open: %v, %v, want NotFound", file, err)
	}
}

func testPut(t *testing.T, s files.Store) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 100_000)
	id := put(t, s, data)
	if !bytes.Equal(read(t, s, id), data) {
		t.Error("the bytes differ")
	}
	if one := put(t, s, []byte("x")); string(read(t, s, one)) != "x" {
		t.Error("a file of one byte differs")
	}
	file, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	part := make([]byte, 4)
	if end, err := file.Seek(0, io.SeekEnd); err != nil || end != int64(len(data)) {
		t.Errorf("the end is at %d, %v, want %d", end, err, len(data))
	}
	if at, err := file.Seek(-5, io.SeekCurrent); err != nil || at != int64(len(data)-5) {
		t.Errorf("Seek: %d, %v", at, err)
	}
	if _, err := io.ReadFull(file, part); err != nil || string(part) != "bcde" {
		t.Errorf("read %q, %v, want bcde", part, err)
	}
	wantMissing(t, s, store.NewID())
}

func testDelete(t *testing.T, s files.Store) {
	id, other := put(t, s, []byte("one")), put(t, s, []byte("other"))
	for range 2 {
		if err := s.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		wantMissing(t, s, id)
	}
	if string(read(t, s, other)) != "other" {
		t.Error("the other file has changed")
	}
}

func testList(t *testing.T, s files.Store) {
	if ids := list(t, s); len(ids) != 0 {
		t.Errorf("a new store has %d files", len(ids))
	}
	var want []store.ID
	for range 300 {
		want = append(want, put(t, s, []byte("x")))
	}
	if err := s.Delete(t.Context(), want[7]); err != nil {
		t.Fatal(err)
	}
	if got := list(t, s); !slices.Equal(got, slices.Delete(want, 7, 8)) {
		t.Errorf("%d files, want 299", len(got))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.List(ended) {
		if err != nil {
			return
		}
	}
	t.Error("a List with an ended context has no error")
}

func testConcurrent(t *testing.T, s files.Store) {
	var group sync.WaitGroup
	same := store.NewID()
	for i := range 16 {
		group.Go(func() { // as two copies of a file at a time
			if err := s.Put(t.Context(), same, Spool(t, []byte("same")), 4); err != nil {
				t.Error(err)
			}
		})
		group.Go(func() {
			data := bytes.Repeat([]byte{byte(i)}, 100_000)
			id := store.NewID()
			if err := s.Put(t.Context(), id, Spool(t, data), int64(len(data))); err != nil {
				t.Error(err)
			} else if !bytes.Equal(read(t, s, id), data) {
				t.Errorf("file %d differs", i)
			}
		})
	}
	group.Wait()
	if data := read(t, s, same); string(data) != "same" {
		t.Errorf("%q, want same", data)
	}
	if n := len(list(t, s)); n != 17 {
		t.Errorf("%d files, want 17", n)
	}
}

// testWrongSize puts a file that is shorter than announced, as after an error of the disk. Nothing is stored.
func testWrongSize(t *testing.T, s files.Store) {
	id := store.NewID()
	if err := s.Put(t.Context(), id, Spool(t, []byte("short")), 100); !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("Put: %v, want Unavailable", err)
	}
	wantMissing(t, s, id)
	if n := len(list(t, s)); n != 0 {
		t.Errorf("%d files, want 0", n)
	}
}

func testClean(t *testing.T, s files.Store) {
	id := put(t, s, []byte("kept"))
	if err := s.Clean(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if string(read(t, s, id)) != "kept" {
		t.Error("Clean has changed a stored file")
	}
}
