package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/sqlite"
)

// childPath is the name of an environment variable. If a test starts this binary as a child process, the variable has the path
// of the database to open.
const childPath = "SQLITE_TEST_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		child(path)
	}
	os.Exit(m.Run())
}

// openAt opens the file and closes it at the end of the test.
func openAt(t testing.TB, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type note struct {
	store.Meta `bson:",inline"`
	Text       string `json:"text"`
}

func openNotes(ctx context.Context, db store.DB) (*store.Collection[note], error) {
	c := store.Open[note](db, store.Spec{
		Name: "notes", Search: []string{"text"}, Indexes: []store.Index{{Fields: []string{"text"}}},
	})
	return c, db.Prepare(ctx)
}

// child opens the file and prints a line. It never returns.
func child(path string) {
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	fmt.Println("open")
	time.Sleep(time.Hour)
}

// TestOneProcess checks that a file cannot be opened while another process has it open, and can be opened after that process
// ends.
func TestOneProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "one.db")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childPath+"="+path)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	_, err = bufio.NewReader(out).ReadString('\n') // the child has the file open
	must(t, err)

	_, err = sqlite.Open(t.Context(), path, sqlite.Options{})
	wantError(t, err, path, "another process")

	must(t, cmd.Process.Kill())
	cmd.Wait()
	openAt(t, path)
	_, err = sqlite.Open(t.Context(), path, sqlite.Options{})
	wantError(t, err, path, "another process")
}

func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error %q does not say %q", err, word)
		}
	}
}

// TestOpenRejects checks that Open returns the reason if a path cannot be a database, and does not change the file.
func TestOpenRejects(t *testing.T) {
	t.Parallel()
	other := func(statements ...string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			must(t, err)
			defer db.Close()
			for _, text := range statements {
				_, err := db.Exec(text)
				must(t, err)
			}
		}
	}
	text := func(s string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte(s), 0o600)) }
	}
	for _, test := range []struct {
		name string
		make func(t *testing.T, path string)
		want string
	}{
		{"a directory", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, "is a directory"},
		{"a text", text(strings.Repeat("This is no database. ", 100)), "not an SQLite database"},
		{"a short text", text("no"), "not an SQLite database"},
		{"another program's", other("CREATE TABLE notes (text)"), "another program"},
		{"another program's, marked", other("PRAGMA application_id=77"), "another program"},
		{"a newer version's", other("PRAGMA application_id=0x47494e53", "PRAGMA user_version=99"), "newer version"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "refused")
			test.make(t, path)
			before, _ := os.ReadFile(path)
			_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			wantError(t, err, path, test.want)
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
	t.Run("below a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		must(t, os.WriteFile(file, nil, 0o600))
		_, err := sqlite.Open(t.Context(), filepath.Join(file, "test.db"), sqlite.Options{})
		wantError(t, err, file, "directory")
	})
	t.Run("an invalid name", func(t *testing.T) {
		dir := t.TempDir()
		_, err := sqlite.Open(t.Context(), filepath.Join(dir, "\x00.db"), sqlite.Options{Existing: true})
		wantError(t, err, dir, "open the database: ")
	})
	t.Run("missing", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "missing.db")
		_, err := sqlite.Open(t.Context(), path, sqlite.Options{Existing: true})
		wantError(t, err, path, "the database does not exist")
	})
}

// TestFiles checks the permissions of the files, and which files remain after Close.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "dir")
	path := filepath.Join(dir, "odd name? 100%#&.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	must(t, err)
	c, err := openNotes(t.Context(), db)
	must(t, err)
	d := note{Meta: store.NewMeta(store.NewID(), store.At(time.Unix(0, 0))), Text: "1 < 2 & \"ü\""}
	must(t, c.Insert(t.Context(), d))

	mode := func(path string) fs.FileMode {
		info, err := os.Stat(path)
		must(t, err)
		return info.Mode().Perm()
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]fs.FileMode{
			dir: 0o700, path: 0o600, path + "-wal": 0o600, path + ".lock": 0o600,
		} {
			if got := mode(path); got != want {
				t.Errorf("%s has the mode %o, want %o", path, got, want)
			}
		}
	}
	must(t, db.Close())
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if want := []string{filepath.Base(path), filepath.Base(path) + ".lock"}; !slices.Equal(names, want) {
		t.Errorf("after Close the directory has %q, want %q", names, want)
	}

	db = openAt(t, path)
	c, err = openNotes(t.Context(), db)
	must(t, err)
	got, err := c.Get(t.Context(), d.ID)
	must(t, err)
	if got != d {
		t.Errorf("after Close and Open the note is %v, want %v", got, d)
	}
}

// TestText checks that stored documents can be read and written with SQL.
func TestText(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "text.db")
	db := openAt(t, path)
	c, err := openNotes(t.Context(), store.WithClock(db, func() time.Time { return time.Unix(1, 0) }))
	must(t, err)
	id := store.NewID()
	must(t, c.Insert(t.Context(), note{Meta: store.NewMeta(id, store.At(time.Unix(0, 0))), Text: "1 < 2 & ü"}))
	_, err = c.Update(t.Context(), store.Eq("id", id), store.Set("text", "3 > 2 & ü"))
	must(t, err)

	shell, err := sql.Open("sqlite", path)
	must(t, err)
	defer shell.Close()
	var text string
	must(t, shell.QueryRow("SELECT doc FROM notes WHERE id=?", id.Hex()).Scan(&text))
	want := `{"id":"` + id.Hex() + `","version":2,"createdAt":"1970-01-01T00:00:00.000Z",` +
		`"updatedAt":"1970-01-01T00:00:01.000Z","text":"3 > 2 & ü"}`
	if text != want {
		t.Errorf("the document is stored as %s, want %s", text, want)
	}

	_, err = shell.Exec("UPDATE notes SET doc=json_set(doc,'$.text','by hand')")
	must(t, err)
	got, err := c.Get(t.Context(), id)
	must(t, err)
	if got.Text != "by hand" {
		t.Errorf("after a change by hand the text is %q", got.Text)
	}
}
