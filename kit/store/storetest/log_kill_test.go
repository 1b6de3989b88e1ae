package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/mongo/mongotest"
)

// killedEnv is the environment variable with the address of the database and the name of the collection. If it is set, the
// process runs writeUntilKilled.
const killedEnv = "STORETEST_KILLED"

// TestLogKilled repeatedly starts a process that writes, and kills it at a random time. Afterwards the log must have one entry
// for each version of each document, in order, and one entry for each deletion.
func TestLogKilled(t *testing.T) {
	if target := os.Getenv(killedEnv); target != "" {
		writeUntilKilled(t, target)
		return
	}
	addresses := map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "test.db")}
	if mongotest.Available() {
		addresses["mongodb"] = mongotest.New(t, "timeoutMS=120000").String()
	}
	for name, address := range addresses {
		t.Run(name, func(t *testing.T) {
			spec := loggedSpec(store.Index{Fields: []string{"name"}, Unique: true})
			var start store.Position
			with := func(f func(db store.DB, c *store.Collection[doc])) {
				db, err := engines.Open(t.Context(), address)
				must(t, err)
				c, last := openLogged(t, db, spec)
				if start.Number == 0 {
					start = last
				}
				f(db, c)
				must(t, db.Close())
			}
			with(func(store.DB, *store.Collection[doc]) {})
			for range 4 {
				killWriter(t, address+" "+spec.Name)
			}
			with(func(db store.DB, c *store.Collection[doc]) { checkLogged(t, db, c, spec.Name, start) })
		})
	}
}

// killWriter runs writeUntilKilled in a process, and kills it at a random time after it has written.
func killWriter(t *testing.T, target string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLogKilled$")
	cmd.Env = append(os.Environ(), killedEnv+"="+target)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	_, err = out.Read(make([]byte, 1))
	must(t, err)
	time.Sleep(rand.N(300 * time.Millisecond))
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
}

// writeUntilKilled inserts, updates and deletes documents in several goroutines.
func writeUntilKilled(t *testing.T, target string) {
	address, name, _ := strings.Cut(target, " ")
	db, err := engines.Open(t.Context(), address)
	must(t, err)
	spec := loggedSpec(store.Index{Fields: []string{"name"}, Unique: true})
	spec.Name = name
	c := prepare(t, db, spec)
	for worker := range 8 {
		go func() {
			for i := 0; ; i++ {
				d := newDoc("x", func(d *doc) { d.Name = new(fmt.Sprint("name", worker)) })
				_ = c.Insert(context.Background(), d)
				for range rand.IntN(3) {
					_, _ = c.Update(context.Background(), store.Eq("id", d.ID), store.Inc("count", 1))
				}
				_, _ = c.Delete(context.Background(), store.Eq("name", *d.Name))
				if worker == 0 && i == 0 {
					_, _ = os.Stdout.WriteString("x")
				}
			}
		}()
	}
	time.Sleep(time.Hour)
}

// checkLogged waits until the entries of the log match the documents.
func checkLogged(t *testing.T, db store.DB, c *store.Collection[doc], name string, start store.Position) {
	t.Helper()
	var wrong string
	for deadline := time.Now().Add(logWait); time.Now().Before(deadline); {
		docs, err := c.List(t.Context(), store.Query{})
		must(t, err)
		entries := readEntries(t, db, name, start, 0)
		checkNumbers(t, entries)
		if wrong = mismatch(docs, entries); wrong == "" {
			return
		}
		time.Sleep(10 * time.Millisecond) // the log may not have all entries yet
	}
	t.Error(wrong)
}

// mismatch describes how the entries differ from the entries that the documents must have; "" if they do not differ.
func mismatch(docs []doc, entries []store.Entry) string {
	types, want := make(map[store.ID]string), make(map[store.ID]string)
	for _, e := range entries {
		types[e.RecordID] += string(e.Type) + " "
	}
	for _, d := range docs {
		want[d.ID] = "created " + strings.Repeat("updated ", int(d.Version)-1)
	}
	for id, got := range types {
		if w, exists := want[id]; exists && got != w {
			return fmt.Sprintf("%s: %q, want %q", id.Hex(), got, w)
		} else if !exists && (strings.Count(got, "created ") != 1 || !strings.HasPrefix(got, "created ") || !strings.HasSuffix(got, "deleted ") || strings.Count(got, "deleted ") != 1) {
			return fmt.Sprintf("%s: %q, but it does not exist", id.Hex(), got)
		}
		delete(want, id)
	}
	if len(want) > 0 {
		return fmt.Sprintf("no entries of %v", want)
	}
	return ""
}
