package resilience_test

import (
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

// album is a record with files, which everyone may change.
type album struct {
	store.Meta  `bson:",inline"`
	AlbumFields `bson:",inline"`
}

type AlbumFields struct {
	Cover *files.File  `json:"cover"`
	Shots []files.File `json:"shots"`
}

type albums struct{ *resource.Collection[album] }

func newAlbums(d kit.Deps) albums {
	return albums{resource.Open(d, store.Spec{Name: "albums"}, func(a album) album { return a }, resource.Public, resource.Public)}
}

// Parts implements kit.Module.
func (albums) Parts() kit.Parts { return kit.Parts{} }

// Routes implements kit.Module.
func (a albums) Routes(r *route.Router) {
	fields := []files.Field{{Name: "cover", MaxBytes: 1_000_000}, {Name: "shots", List: true, MaxBytes: 1_000_000}}
	r = r.Resource(listing.Spec{Name: "albums", Files: fields})
	r.POST("/albums", route.Public, a.create, route.Files)
	r.GET("/albums/:id", route.Public, a.get)
	r.DELETE("/albums/:id", route.Public, a.delete)
	a.FileRoutes(r, "/albums/:id", fields, route.Public, route.Public)
}

func (a albums) create(g *gin.Context) error {
	in, err := rest.Bind[AlbumFields](g)
	if err != nil {
		return err
	}
	doc := album{store.NewMeta(store.NewID(), store.At(time.Now())), in}
	if err := a.Create(g.Request.Context(), rest.Caller(g), doc); err != nil {
		return err
	}
	return rest.Created(g, doc.Meta, doc)
}

func (a albums) get(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	doc, err := a.Get(g.Request.Context(), rest.Caller(g), id)
	if err != nil {
		return err
	}
	return rest.Record(g, doc.Meta, doc)
}

func (a albums) delete(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	if err := a.Delete(g.Request.Context(), rest.Caller(g), id, nil); err != nil {
		return err
	}
	return rest.NoContent(g)
}
