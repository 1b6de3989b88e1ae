package server

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// sheet is a record with a file, under a letter.
type sheet struct {
	store.Meta `bson:",inline"`
	LetterID   store.ID    `json:"letterId"`
	Paper      *files.File `json:"paper"`
}

type paperInput struct {
	Paper *files.File `json:"paper"`
}

// office is a service with letters of users, which have sheets. Its routes are as the generator writes them.
type office struct {
	*Handler
	letters *store.Collection[letter]
	spool   string
	own     letter
}

func newOffice(t *testing.T, configured bool, quota int64) *office {
	t.Helper()
	o := &office{spool: t.TempDir()}
	options := files.Options{TempDir: o.spool, Quota: quota}
	if configured {
		local, err := files.NewLocal(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		options.Store = local
	}
	deps := NewDeps(DepsOptions{
		Name: "test", DB: testdb.Open(t), MasterKeys: []string{masterKey}, Now: time.Now, Log: slog.New(slog.DiscardHandler), PublicURL: "https://api.example.com",
		Files: options,
	})
	paper := []files.Field{{Name: "paper", MaxBytes: 1 << 30}}
	letters := resource.Open(deps, store.Spec{Name: "letters"}, func(n letter) letter { return n }, resource.Public, resource.Own)
	sheets := resource.Open(deps, store.Spec{Name: "sheets"}, func(n sheet) sheet { return n }, nil, nil, resource.Under("letterId", letters))
	o.letters = letters.Unrestricted()
	o.Handler = newHandler(t, io.Discard, func(r *route.Router) {
		ofLetters := r.Resource(listing.Spec{Name: "letters", Files: paper})
		letters.FileRoutes(ofLetters, "/letters/:id", paper, route.User, route.User)
		ofLetters.PATCH("/letters/:id", route.User, func(g *gin.Context) error {
			id, err := rest.ID(g)
			if err == nil {
				err = letters.CheckUpdate(g, id)
			}
			if err != nil {
				return err
			}
			in, err := rest.BindPatch[paperInput](g, letter{})
			if err != nil {
				return err
			}
			n, err := letters.Update(g.Request.Context(), rest.Caller(g), id, rest.IfMatch(g, id), in.Changes()...)
			if err != nil {
				return err
			}
			return rest.Record(g, n.Meta, n)
		}, route.Files)
		r.Resource(listing.Spec{Name: "sheets", Files: paper}).POST("/letters/:id/sheets", route.User, func(g *gin.Context) error {
			id, err := rest.ID(g)
			if err == nil {
				err = sheets.Under(id).CheckCreate(g)
			}
			if err != nil {
				return err
			}
			in, err := rest.Bind[paperInput](g, sheet{})
			if err != nil {
				return err
			}
			n := sheet{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), LetterID: id, Paper: in.Paper}
			if err := sheets.Create(g.Request.Context(), rest.Caller(g), n); err != nil {
				return err
			}
			return rest.Created(g, n.Meta, n)
		}, route.Files)
	}, func(o *HandlerOptions) { o.Deps = deps })
	if err := deps.DB.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.own = o.insert(t, userID)
	return o
}

func (o *office) insert(t *testing.T, user store.ID) letter {
	t.Helper()
	n := letter{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), UserID: user}
	if err := o.letters.Insert(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOrder sends forms that end in the middle of a file, which the service must reject because of the record: the response comes at
// once, and the file is not received.
func TestOrder(t *testing.T) {
	t.Parallel()
	o := newOffice(t, true, 1)
	other := o.insert(t, store.NewID())
	address := strings.TrimPrefix(listen(t, o), "http://")
	_, body := form(part{"access_token", "", userToken}, filePart("paper", "a.txt", strings.Repeat("x", 1<<20)))
	head, _, _ := strings.Cut(body, "xxx")
	boundary, _, _ := strings.Cut(strings.TrimPrefix(body, "--"), "\r\n")
	for name, test := range map[string]struct{ method, path, header, want string }{
		"another user's":                {"PATCH", "/letters/" + other.ID.Hex(), "", "403 Forbidden"},
		"unknown":                       {"PATCH", "/letters/" + store.NewID().Hex(), "", "404 Not Found"},
		"no ID":                         {"PATCH", "/letters/a", "", "404 Not Found"},
		"stale":                         {"PATCH", "/letters/" + o.own.ID.Hex(), "If-Match: \"stale\"\r\n", "412 Precondition Failed"},
		"no room":                       {"PATCH", "/letters/" + o.own.ID.Hex(), "", "413 Request Entity Too Large"},
		"a parent of another user":      {"POST", "/letters/" + other.ID.Hex() + "/sheets", "", "403 Forbidden"},
		"an unknown parent":             {"POST", "/letters/" + store.NewID().Hex() + "/sheets", "", "404 Not Found"},
		"no room for a sheet":           {"POST", "/letters/" + o.own.ID.Hex() + "/sheets", "", "413 Request Entity Too Large"},
		"one file, another user's":      {"PUT", "/letters/" + other.ID.Hex() + "/paper", "Authorization: Bearer " + userToken + "\r\n", "403 Forbidden"},
		"one file, stale":               {"PUT", "/letters/" + o.own.ID.Hex() + "/paper", "If-Match: \"stale\"\r\nAuthorization: Bearer " + userToken + "\r\n", "412 Precondition Failed"},
		"one file, no room":             {"PUT", "/letters/" + o.own.ID.Hex() + "/paper", "Authorization: Bearer " + userToken + "\r\n", "413 Request Entity Too Large"},
		"another user's, no Length":     {"PATCH", "/letters/" + other.ID.Hex(), "Transfer-Encoding: chunked\r\n", "403 Forbidden"},
		"a parent of another, chunked":  {"POST", "/letters/" + other.ID.Hex() + "/sheets", "Transfer-Encoding: chunked\r\n", "403 Forbidden"},
		"no room for a sheet, chunked ": {"POST", "/letters/" + o.own.ID.Hex() + "/sheets", "Transfer-Encoding: chunked\r\n", "413 Request Entity Too Large"},
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		header, sent := test.header, head
		if strings.Contains(header, "chunked") {
			sent = fmt.Sprintf("%x\r\n%s\r\n", len(head), head)
		} else {
			header += fmt.Sprintf("Content-Length: %d\r\n", len(body))
		}
		_, _ = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=%s\r\n%s\r\n%s", test.method, test.path, boundary, header, sent)
		got := make([]byte, 4096)
		n, err := conn.Read(got)
		if err != nil || !bytes.HasPrefix(got[:n], []byte("HTTP/1.1 "+test.want)) || !bytes.Contains(got[:n], []byte("Connection: close")) {
			t.Errorf("%s: %s, %v; want %s", name, got[:n], err, test.want)
		}
		if entries, err := os.ReadDir(o.spool); len(entries) > 0 {
			t.Errorf("%s: %d files, %v", name, len(entries), err)
		}
	}
}

// TestNoStorage calls the routes of files of a service without storage.
func TestNoStorage(t *testing.T) {
	t.Parallel()
	o := newOffice(t, false, 0)
	path := "/letters/" + o.own.ID.Hex()
	for _, request := range []string{"GET /paper", "HEAD /paper", "PUT /paper", "DELETE /paper", "POST /paper/link"} {
		method, field, _ := strings.Cut(request, " ")
		if w := do(o, method, path+field, "", "", "Authorization", "Bearer "+userToken); w.Code != http.StatusNotImplemented {
			t.Errorf("%s: %d %s", request, w.Code, w.Body)
		}
	}
	for name, test := range map[string]struct {
		part   part
		status int
	}{
		"a file":              {filePart("paper", "a", "x"), 501},
		"an empty file input": {part{"", `form-data; name="paper"; filename=""`, ""}, 200},
	} {
		contentType, body := form(test.part)
		if w := do(o, "PATCH", path, contentType, body, "Authorization", "Bearer "+userToken); w.Code != test.status {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// TestOldDigests checks that Deps has the digests of all master keys.
func TestOldDigests(t *testing.T) {
	t.Parallel()
	deps := NewDeps(DepsOptions{DB: testdb.Open(t), MasterKeys: []string{"new", "old"}, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if !bytes.Equal(deps.Digest("a"), keyedDigest("new")("a")) || len(deps.OldDigests) != 1 || !bytes.Equal(deps.OldDigests[0]("a"), keyedDigest("old")("a")) {
		t.Error("the digests differ")
	}
}
