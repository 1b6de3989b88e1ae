package kit_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/password"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/sqlite"
	"example.com/ginseng/server"
)

// Notice is a stored record.
type Notice struct {
	store.Meta `bson:",inline"`
	Fields     `bson:",inline"`
}

// Fields are the fields that clients set.
type Fields struct {
	Title string `json:"title" validate:"required,max=80"`
}

// NoticeView is the representation of a notice.
type NoticeView struct {
	Title string `json:"title"`
}

// Board is a module: it has routes and a job. A larger module has its handlers in a controller, and its rules in a service.
type Board struct {
	notices *store.Collection[Notice]
	now     func() time.Time
}

// NewBoard creates the module.
func NewBoard(d kit.Deps) *Board {
	return &Board{notices: store.Open[Notice](d.DB, store.Spec{Name: "notices"}), now: d.Now}
}

// Routes implements kit.Module. A line shows who may call a route, and what runs before its handler.
func (b *Board) Routes(r *route.Router) {
	r.POST("/notices", route.Master, b.create, route.Idempotent)
	r.GET("/notices/:id", route.Public, b.get)
}

func (b *Board) create(g *gin.Context) error {
	in, err := rest.Bind[Fields](g, NoticeView{})
	if err != nil {
		return err // 400 with all invalid parameters
	}
	n := Notice{store.NewMeta(store.NewID(), store.At(b.now())), in}
	if err := b.notices.Insert(g.Request.Context(), n); err != nil {
		return err
	}
	return rest.Created(g, n.Meta, NoticeView(n.Fields))
}

func (b *Board) get(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	n, err := b.notices.Get(g.Request.Context(), id)
	if err != nil {
		return err // 404
	}
	return rest.Record(g, n.Meta, NoticeView(n.Fields))
}

// Parts implements kit.Module. It returns what the module has besides routes: here, a job.
func (b *Board) Parts() kit.Parts {
	return kit.Parts{Jobs: []job.Job{{Name: "old-notices", Interval: time.Hour, Run: b.deleteOld}}}
}

func (b *Board) deleteOld(ctx context.Context) error {
	_, err := b.notices.Delete(ctx, store.Lt("createdAt", store.At(b.now().AddDate(0, -1, 0))))
	return err
}

// This example serves a module. A service calls server.Main instead, and a test calls testkit.Start.
func Example() {
	const masterKey = "example-master-key-0123456789abcdef"
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(context.Background(), filepath.Join(dir, "board.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	logger := slog.New(slog.DiscardHandler)
	sender, err := email.New(email.Settings{}, email.Options{Log: logger})
	if err != nil {
		log.Fatal(err)
	}
	d := server.NewDeps(server.DepsOptions{
		Name: "board", DB: db, MasterKeys: []string{masterKey}, Now: time.Now, Log: logger, Sender: sender, Hasher: password.NewWeakHasher(),
	})
	handler, err := server.NewHandler(server.HandlerOptions{
		Settings: server.Settings{MasterKeys: []string{masterKey}, MaxBodyBytes: 1 << 20},
		Deps:     d, Modules: []kit.Module{NewBoard(d)},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Prepare(context.Background()); err != nil {
		log.Fatal(err)
	}

	post := func(body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/notices", strings.NewReader(body))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + masterKey}}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	fmt.Println(post(`{"title": ""}`).Code)
	created := post(`{"title": "Closed on Monday"}`)
	fmt.Println(created.Code)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", created.Header().Get("Location"), nil))
	body, err := io.ReadAll(w.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(w.Code, " ", string(body))
	// Output:
	// 400
	// 201
	// 200 {"title":"Closed on Monday"}
}
