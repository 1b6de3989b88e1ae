package server

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// letter is a record with files.
type letter struct {
	store.Meta `bson:",inline"`
	UserID     store.ID     `json:"userId"`
	Paper      *files.File  `json:"paper"`
	Pages      []files.File `json:"pages"`
}

// letters is a service with letters, which only their owners may see.
type letters struct {
	*store.Collection[letter]
	t             *testing.T
	base          string // address
	spool, folder string // the directories of uploads in progress and of files
}

// letterSize is the largest size of a file of a letter.
const letterSize = 1 << 20

func serveLetters(t *testing.T, quota int64) *letters {
	t.Helper()
	s := &letters{t: t, spool: t.TempDir(), folder: t.TempDir()}
	local, err := files.NewLocal(s.folder)
	if err != nil {
		t.Fatal(err)
	}
	deps := NewDeps(DepsOptions{
		Name: "test", DB: testdb.Open(t), MasterKeys: []string{masterKey}, Now: time.Now, Log: slog.New(slog.DiscardHandler), PublicURL: "https://api.example.com",
		Files: files.Options{Store: local, TempDir: s.spool, Quota: quota},
	})
	all := resource.Open(deps, store.Spec{Name: "letters"}, func(n letter) letter { return n }, resource.Own, resource.Own)
	fields := []files.Field{{Name: "paper", MaxBytes: letterSize}, {Name: "pages", List: true, MaxBytes: letterSize}}
	h := newHandler(t, io.Discard, func(r *route.Router) {
		all.FileRoutes(r.Resource(listing.Spec{Name: "letters", Files: fields}), "/letters/:id", fields, route.User, route.User)
	}, func(o *HandlerOptions) { o.Deps = deps })
	if err := deps.DB.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Collection, s.base = store.Open[letter](deps.DB, store.Spec{Name: "letters"}), listen(t, h)
	return s
}

// insert stores a letter of the user, and returns its path.
func (s *letters) insert(user store.ID) (path string) {
	s.t.Helper()
	n := letter{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), UserID: user}
	if err := s.Insert(s.t.Context(), n); err != nil {
		s.t.Fatal(err)
	}
	return "/letters/" + n.ID.Hex()
}

// TestFileQuota uploads 20 files of a user at the same time, of which the quota has room for 3.
func TestFileQuota(t *testing.T) {
	t.Parallel()
	const room, uploads = 3, 20
	s := serveLetters(t, room*letterSize+letterSize/2)
	body := bytes.Repeat([]byte("x"), letterSize)
	var paths []string
	for range uploads {
		paths = append(paths, s.insert(userID)+"/paper")
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for _, path := range paths {
		running.Go(func() {
			response, _ := call(t, http.MethodPut, s.base+path, bytes.NewReader(body))
			mu.Lock()
			defer mu.Unlock()
			statuses[response.StatusCode]++
		})
	}
	running.Wait()
	if statuses[200] == 0 || statuses[200] > room || statuses[200]+statuses[413]+statuses[429] != uploads {
		t.Errorf("statuses of %d uploads: %v", uploads, statuses)
	}
	for _, path := range paths { // one after the other, the quota is used up exactly
		response, _ := call(t, http.MethodPut, s.base+path, bytes.NewReader(append(body[1:], 'y')))
		statuses[response.StatusCode]++
	}
	read := 0
	for _, path := range paths {
		if response, data := call(t, http.MethodGet, s.base+path, nil); response.StatusCode == 200 && len(data) == letterSize {
			read++
		}
	}
	if read != room {
		t.Errorf("%d files are stored, want %d", read, room)
	}
}
