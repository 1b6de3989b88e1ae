package resource

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

// FileRoutes adds the routes of the fields with files:
//
//   - one file: PUT, GET and DELETE path/FIELD, and POST path/FIELD/link.
//   - a list: POST path/FIELD, GET and DELETE path/FIELD/:fileId, and POST path/FIELD/:fileId/link.
//
// path is that of a record, such as /orders/:id/lines/:lineId. Callers of the kind read may read the files of the records that they may
// see, and callers of the kind write may change the files of the records that they may change; nil adds no such routes. The router must
// be that of the resource (route.Router.Resource), with listing.Spec.Files. The API document describes the routes.
func (c *Collection[D]) FileRoutes(r *route.Router, path string, fields []files.Field, read, write route.Caller) {
	for _, field := range fields {
		i := slices.IndexFunc(c.fileFields, func(f fileField) bool { return f.name == field.Name && f.isList == field.List })
		if i < 0 {
			panic(fmt.Sprintf("resource: the documents of %s have no file or list of files %s", c.name, field.Name))
		}
		h := fileHandler[D]{c, c.fileFields[i], field, path[strings.LastIndex(path, "/:")+2:]}
		one, add := path+"/"+field.Name, r.PUT
		if field.List {
			add = r.POST
		}
		if write != nil {
			add(one, write, h.put, route.Upload(field))
		}
		if field.List {
			one += "/:fileId"
		}
		if write != nil {
			r.DELETE(one, write, h.delete)
		}
		if read != nil {
			r.GET(one, read, h.get, route.Download)
			r.POST(one+"/link", read, h.link, route.Read)
		}
	}
}

// fileHandler handles the requests to the files of a field.
type fileHandler[D store.Document] struct {
	all       *Collection[D]
	field     fileField
	declared  files.Field
	parameter string // the path parameter with the ID of the record
}

// CheckUpdate returns the error that Update would return for the record and for If-Match, if the body of the request has files.
// Handlers call it before rest.BindPatch, which receives the files: nobody sends a file in vain. For other bodies, it returns nil.
func (c *Collection[D]) CheckUpdate(g *gin.Context, id store.ID) error {
	if !rest.HasParts(g) {
		return nil
	}
	_, err := c.mayWrite(g.Request.Context(), rest.Caller(g), id, rest.IfMatch(g, id), Update)
	return err
}

// CheckCreate is CheckUpdate for a new record under a parent; see Under. It returns the error that Create would return for the parent.
func (c *core) CheckCreate(g *gin.Context) error {
	if !rest.HasParts(g) {
		return nil
	}
	return c.mayChangeUnder(g.Request.Context(), rest.Caller(g), *c.within)
}

// at returns the collection and the ID of the record in the path. NotSupported: the service has no storage for files.
func (h fileHandler[D]) at(g *gin.Context) (c *Collection[D], id store.ID, err error) {
	if err := h.all.files.RequireStorage(); err != nil {
		return nil, id, err
	}
	c = h.all
	if c.parent() != nil {
		parent, err := rest.ID(g)
		if err != nil {
			return nil, id, err
		}
		c = c.Under(parent)
	}
	id, err = rest.PathID(g, h.parameter)
	return c, id, err
}

// file returns the file in the path; nil if the record does not have it.
func (h fileHandler[D]) file(g *gin.Context, doc D) *files.File {
	list := h.field.of(doc)
	i := slices.IndexFunc(list, func(f *files.File) bool { return !h.field.isList || f.ID.Hex() == g.Param("fileId") })
	if i < 0 {
		return nil
	}
	return list[i]
}

// target returns what a link to the file is for. file can be nil.
func (h fileHandler[D]) target(id store.ID, file *files.File) files.Target {
	target := files.Target{Collection: h.all.name, Record: id, Field: h.field.name}
	if file != nil {
		target.File = file.ID
	}
	return target
}

// put stores the file in the body: in place of the stored one, or at the end of the list.
func (h fileHandler[D]) put(g *gin.Context) error {
	c, id, err := h.at(g)
	if err != nil {
		return err
	}
	ctx, versions := g.Request.Context(), rest.IfMatch(g, id)
	doc, err := c.mayWrite(ctx, rest.Caller(g), id, versions, Update)
	if err == nil && h.field.isList && len(h.field.of(doc)) >= files.MaxItems {
		err = errTooMany
	}
	if err != nil {
		return err // before the body is read
	}
	file, err := rest.ReceiveFile(g, c.files, h.declared)
	if err != nil {
		return err
	}
	change := fileChange{fileField: h.field, add: []*files.File{file}}
	if !h.field.isList {
		change.remove = func(files.File) bool { return true }
	}
	if doc, err = c.updateFiles(ctx, rest.Caller(g), id, versions, []fileChange{change}, nil); err != nil {
		return err
	}
	meta := store.Meta{ID: store.IDOf(doc), Version: store.VersionOf(doc)}
	if !h.field.isList {
		return rest.Record(g, meta, c.view(doc))
	}
	return rest.CreatedAt(g, g.Request.URL.Path+"/"+file.ID.Hex(), meta, c.view(doc))
}

// delete deletes the file in the path.
func (h fileHandler[D]) delete(g *gin.Context) error {
	c, id, err := h.at(g)
	if err != nil {
		return err
	}
	change := fileChange{fileField: h.field, must: true, remove: func(f files.File) bool {
		return !h.field.isList || f.ID.Hex() == g.Param("fileId")
	}}
	_, err = c.updateFiles(g.Request.Context(), rest.Caller(g), id, rest.IfMatch(g, id), []fileChange{change}, nil)
	if err != nil {
		return err
	}
	return rest.NoContent(g)
}

// get sends the file in the path to a caller who may see the record, or who has a link.
func (h fileHandler[D]) get(g *gin.Context) error {
	c, id, err := h.at(g)
	if err != nil {
		return err
	}
	ctx, caller := g.Request.Context(), rest.Caller(g)
	var file *files.File
	cache := "private, no-cache"
	if files.IsLink(rest.Query(g)) {
		if file, cache, err = h.linked(g, c, id); err != nil {
			return err
		}
	} else {
		doc, err := c.Get(ctx, caller, id)
		if err != nil {
			return err
		}
		if file = h.file(g, doc); file == nil {
			return store.ErrNotFound
		}
		if !caller.IsUser() && !caller.Master {
			cache = "public, no-cache"
		}
	}
	return rest.ServeFile(g, *file, func() (io.ReadSeekCloser, error) { return c.files.Open(ctx, *file) }, cache)
}

// linked returns the file of a link, whose rules replace those of the record, and its Cache-Control.
func (h fileHandler[D]) linked(g *gin.Context, c *Collection[D], id store.ID) (file *files.File, cache string, err error) {
	doc, err := c.existing(g.Request.Context(), id)
	switch {
	case err == nil:
		file = h.file(g, doc)
	case !apperr.Is(err, apperr.NotFound):
		return nil, "", err
	}
	left, err := c.links.Verify(rest.Query(g), h.target(id, file))
	if err == nil && file == nil {
		err = store.ErrNotFound
	}
	return file, fmt.Sprintf("private, max-age=%d", int(left.Seconds())), err
}

// linkInput has the parameters of a link.
type linkInput struct {
	ExpiresIn int64 `json:"expiresIn" validate:"min=1,max=3600" default:"300"`
}

// link responds with a link to the file in the path.
func (h fileHandler[D]) link(g *gin.Context) error {
	in, err := rest.Bind[linkInput](g)
	if err != nil {
		return err
	}
	c, id, err := h.at(g)
	if err != nil {
		return err
	}
	doc, err := c.Get(g.Request.Context(), rest.Caller(g), id)
	if err != nil {
		return err
	}
	file := h.file(g, doc)
	if file == nil {
		return store.ErrNotFound
	}
	link, err := c.links.New(path.Dir(g.Request.URL.Path), h.target(id, file), time.Duration(in.ExpiresIn)*time.Second)
	if err != nil {
		return err
	}
	return rest.CreatedSecret(g, link)
}
