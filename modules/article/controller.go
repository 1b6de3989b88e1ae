package article

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/rest"
)

type controller struct {
	service *Service
	lister  *listing.Lister
}

// create creates an article.
//
//	@Summary		Create an article
//	@Description	The caller becomes the owner, unless an admin sends the ID of another user as userId.
//	@Tags			articles
//	@Param			input	formData	CreateFields	true	"the article"
//	@Success		201		{object}	View
//	@Header			201		{string}	Location	"path of the article"
//	@Router			/articles [post]
func (c *controller) create(g *gin.Context) error {
	in, err := rest.Bind[CreateFields](g, View{})
	if err != nil {
		return err
	}
	a, err := c.service.Create(g.Request.Context(), rest.Caller(g), in)
	if err != nil {
		return err
	}
	return rest.Created(g, a.Meta, a.View())
}

// list lists articles.
//
//	@Summary	List articles
//	@Tags		articles
//	@Param		query	query		listing.Params	false	"the parameters of the list"
//	@Success	200		{object}	listing.Page[View]
//	@Router		/articles [get]
func (c *controller) list(g *gin.Context) error {
	q, err := c.lister.Parse(rest.Query(g))
	if err != nil {
		return err
	}
	page, err := c.service.List(g.Request.Context(), rest.Caller(g), q)
	if err != nil {
		return err
	}
	return rest.Page(g, page)
}

// changes returns a page or a stream of the changes of articles.
//
//	@Summary		Read the changes of articles
//	@Description	Returns the created, updated and deleted records in order. The response is a page or, with Accept: text/event-stream, a stream of Server-Sent Events. To continue after an event, send its id. Each event has the newest version of the record. Several updates can be combined into one event. A deleted record has only the event deleted.
//	@Description	A stream also has the events ready (the stream begins now), resync (changes are unknown: list the records again) and end (the stream ends; code states the reason, such as unauthorized).
//	@Tags			articles
//	@Param			query	query		listing.ChangesParams	false	"the parameters of the page"
//	@Param			userId	query		string					false	"the owner; selects only changes of records of this user"
//	@Success		200		{object}	rest.FeedPage
//	@Router			/articles/changes [get]
func (c *controller) changes(g *gin.Context) error {
	q, err := c.lister.ParseChanges(rest.Query(g), rest.LastEventID(g))
	if err != nil {
		return err
	}
	return rest.ServeFeed(g, c.service.Changes(q))
}

// get returns an article.
//
//	@Summary	Get an article
//	@Tags		articles
//	@Success	200	{object}	View
//	@Router		/articles/{id} [get]
func (c *controller) get(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	a, err := c.service.Get(g.Request.Context(), rest.Caller(g), id)
	if err != nil {
		return err
	}
	v, err := resource.ExpandView(g.Request.Context(), c.service.articles, rest.Caller(g), rest.Query(g), a.View())
	if err != nil {
		return err
	}
	return rest.Record(g, a.Meta, v)
}

// update changes an article.
//
//	@Summary		Change an article
//	@Description	Changes only the given fields. PUT and PATCH are the same. To clear an optional field, send null, or an empty value in a form.
//	@Tags			articles
//	@Param			input	formData	Fields	false	"the fields to change"
//	@Success		200		{object}	View
//	@Failure		403		{object}	rest.Problem	"forbidden: the caller is neither the owner nor an admin"
//	@Router			/articles/{id} [put]
//	@Router			/articles/{id} [patch]
func (c *controller) update(g *gin.Context) error {
	in, err := rest.BindPatch[Fields](g, View{})
	if err != nil {
		return err
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	a, err := c.service.Update(g.Request.Context(), rest.Caller(g), id, rest.IfMatch(g, id), in)
	if err != nil {
		return err
	}
	return rest.Record(g, a.Meta, a.View())
}

// delete deletes an article.
//
//	@Summary	Delete an article
//	@Tags		articles
//	@Success	204
//	@Failure	403	{object}	rest.Problem	"forbidden: the caller is neither the owner nor an admin"
//	@Failure	409	{object}	rest.Problem	"conflict: other records refer to this record"
//	@Router		/articles/{id} [delete]
func (c *controller) delete(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	if err := c.service.Delete(g.Request.Context(), rest.Caller(g), id, rest.IfMatch(g, id)); err != nil {
		return err
	}
	return rest.NoContent(g)
}
