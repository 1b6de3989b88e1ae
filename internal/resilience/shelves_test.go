package resilience_test

import (
	"io"
	"os"
	"sync"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/config"
	"example.com/ginseng/docs"
	"example.com/ginseng/kit"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules"
	"example.com/ginseng/server"
)

// serveShelves is the argument that makes the test binary serve the modules and shelves.
const serveShelves = "serve-shelves"

// runShelves is the service with a module whose records refer to large ones, which no module of this repository has, and with modules
// for files.
func runShelves() {
	os.Args = append(os.Args[:1], os.Args[2:]...)
	server.Main(server.Service[config.Settings]{
		Name: "shelves",
		Modules: func(d kit.Deps, s config.Settings) []kit.Module {
			return append(modules.New(d, s.Modules), newShelves(d), newAlbums(d), &blobs{files: d.Files, field: files.Field{Name: "blob", MaxBytes: blobBytes}})
		},
		OpenAPI: docs.OpenAPI, Swagger: docs.Swagger,
	})
}

type item struct {
	store.Meta `bson:",inline"`
	Text       string `json:"text"`
}

type shelf struct {
	store.Meta `bson:",inline"`
	Items      []store.ID `json:"items"`
}

type shelfView struct {
	ID    store.ID   `json:"id"`
	Items []store.ID `json:"items"`
	resource.Expanded
}

func (s shelf) view() shelfView { return shelfView{ID: s.ID, Items: s.Items} }

type shelves struct {
	*resource.Collection[shelf]
	list *listing.Lister
}

func newShelves(d kit.Deps) *shelves {
	spec := listing.Spec{Name: "shelves", Sort: []string{"createdAt"}, View: shelfView{}, Expand: []string{"items"}}
	items := resource.Open(d, store.Spec{Name: "items"}, func(i item) item { return i }, resource.Public, resource.Admins)
	all := resource.Open(d, spec.Store(), shelf.view, resource.Public, resource.Admins, resource.To("items", items, resource.Clear))
	return &shelves{all, listing.NewLister(spec, d.Cursors)}
}

// Parts implements kit.Module.
func (s *shelves) Parts() kit.Parts { return kit.Parts{} }

// Routes implements kit.Module.
func (s *shelves) Routes(r *route.Router) {
	r.GET("/shelves", route.Open, func(g *gin.Context) error {
		q, err := s.list.Parse(rest.Query(g))
		if err != nil {
			return err
		}
		page, err := resource.List(g.Request.Context(), s.Collection, rest.Caller(g), q, shelf.view)
		if err != nil {
			return err
		}
		return rest.Page(g, page)
	})
}

const blobBytes = 100_000_000

// blobs is a module whose routes receive and send files, which belong to no record.
type blobs struct {
	files  *files.Files
	field  files.Field
	byName sync.Map
}

// Parts implements kit.Module.
func (b *blobs) Parts() kit.Parts { return kit.Parts{} }

// Routes implements kit.Module.
func (b *blobs) Routes(r *route.Router) {
	r.PUT("/blobs/:name", route.Public, func(g *gin.Context) error {
		f, err := rest.ReceiveFile(g, b.files, b.field)
		if err != nil {
			return err
		}
		if err := b.files.Put(g.Request.Context(), files.Owner{Collection: "blobs", Field: b.field.Name, Record: store.NewID()}, f); err != nil {
			return err
		}
		b.byName.Store(g.Param("name"), *f)
		return rest.NoContent(g)
	}, route.Upload(b.field))
	r.GET("/blobs/:name", route.Public, func(g *gin.Context) error {
		f, ok := b.byName.Load(g.Param("name"))
		if !ok {
			return store.ErrNotFound
		}
		return rest.ServeFile(g, f.(files.File), func() (io.ReadSeekCloser, error) { return b.files.Open(g.Request.Context(), f.(files.File)) }, "no-store")
	}, route.Download)
}
