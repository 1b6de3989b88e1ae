package server

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strings"
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

// letter is a record with a file.
type letter struct {
	store.Meta `bson:",inline"`
	UserID     store.ID    `json:"userId"`
	Paper      *files.File `json:"paper"`
}

// TestFileQuota uploads 20 files of a user at the same time, of which the quota has room for 3, and reads the files of another user.
func TestFileQuota(t *testing.T) {
	t.Parallel()
	const size, room, uploads = 1 << 20, 3, 20
	local, err := files.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	deps := NewDeps(DepsOptions{
		Name: "test", DB: testdb.Open(t), MasterKeys: []string{masterKey}, Now: time.Now, Log: slog.New(slog.DiscardHandler), PublicURL: "https://api.example.com",
		Files: files.Options{Store: local, TempDir: t.TempDir(), Quota: room*size + size/2},
	})
	letters := resource.Open(deps, store.Spec{Name: "letters"}, func(n letter) letter { return n }, resource.Own, resource.Own)
	paper := files.Field{Name: "paper", MaxBytes: size}
	h := newHandler(t, io.Discard, func(r *route.Router) {
		letters.FileRoutes(r.Resource(listing.Spec{Name: "letters", Files: []files.Field{paper}}), "/letters/:id", []files.Field{paper}, route.User, route.User)
	}, func(o *HandlerOptions) { o.Deps = deps })
	if err := deps.DB.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	stored := store.Open[letter](deps.DB, store.Spec{Name: "letters"})
	insert := func(user store.ID) (path string) {
		n := letter{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), UserID: user}
		if err := stored.Insert(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		return "/letters/" + n.ID.Hex() + "/paper"
	}
	base, body := listen(t, h), bytes.Repeat([]byte("x"), size)
	var paths []string
	for range uploads {
		paths = append(paths, insert(userID))
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for _, path := range paths {
		running.Go(func() {
			response, _ := call(t, http.MethodPut, base+path, bytes.NewReader(body))
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
		response, _ := call(t, http.MethodPut, base+path, bytes.NewReader(append(body[1:], 'y')))
		statuses[response.StatusCode]++
	}
	read := 0
	for _, path := range paths {
		if response, data := call(t, http.MethodGet, base+path, nil); response.StatusCode == 200 && len(data) == size {
			read++
		}
	}
	if read != room {
		t.Errorf("%d files are stored, want %d", read, room)
	}
	other := insert(store.NewID())
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		var body io.Reader
		if method == http.MethodPut {
			body = strings.NewReader("x")
		}
		if response, data := call(t, method, base+other, body); response.StatusCode != 403 && response.StatusCode != 404 {
			t.Errorf("%s of another user's file: %d %s", method, response.StatusCode, data)
		}
	}
}
