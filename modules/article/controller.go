package article

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/listing"
	"example.com/ginseng/middleware"
)

type controller struct {
	service *Service
	list    *listing.Lister
}

// create makes an article.
//
//	@Summary		Create an article
//	@Description	The caller becomes its author.
//	@Tags			articles
//	@Accept			x-www-form-urlencoded,mpfd,json
//	@Produce		json
//	@Param			input			formData	CreateInput	true	"the article"
//	@Param			Idempotency-Key	header		string		false	"a key of the client's: the same request with the same key makes one record"
//	@Success		201				{object}	View
//	@Header			201				{string}	Location			"address of the article"
//	@Failure		400				{object}	middleware.Problem	"validation_failed, malformed_body"
//	@Failure		401				{object}	middleware.Problem	"unauthorized"
//	@Failure		408				{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure		409				{object}	middleware.Problem	"conflict: the first request with this key still runs"
//	@Failure		413				{object}	middleware.Problem	"payload_too_large"
//	@Failure		415				{object}	middleware.Problem	"unsupported_media_type"
//	@Failure		422				{object}	middleware.Problem	"idempotency_mismatch: the key was used with other parameters"
//	@Failure		503				{object}	middleware.Problem	"unavailable"
//	@Security		UserToken
//	@Router			/articles [post]
func (c *controller) create(g *gin.Context) error {
	in, err := middleware.Bind[CreateInput](g)
	if err != nil {
		return err
	}
	a, err := c.service.Create(g.Request.Context(), middleware.Caller(g), in)
	if err != nil {
		return err
	}
	return middleware.Created(g, a.Meta, a.View())
}

// index lists articles.
//
//	@Summary	List articles
//	@Tags		articles
//	@Produce	json
//	@Param		query			query		listing.Params	false	"the list"
//	@Param		If-None-Match	header		string			false	"the ETag of an earlier answer"
//	@Param		sort			query		string			false	"title, createdAt, updatedAt; - before a name for descending order"	default(-createdAt)
//	@Param		q				query		string			false	"words of title and content, each may be just the beginning of one"	maxlength(200)
//	@Param		userId			query		string			false	"also userId[ne], userId[in]"
//	@Param		createdAt		query		string			false	"also createdAt[gt], [gte], [lt], [lte], [ne], [in]"	Format(date-time)
//	@Success	200				{object}	listing.Page[View]
//	@Header		200				{string}	ETag	"names what this page shows"
//	@Success	304				"not changed since that answer"
//	@Failure	400				{object}	middleware.Problem	"validation_failed"
//	@Failure	401				{object}	middleware.Problem	"unauthorized: a bad token"
//	@Failure	503				{object}	middleware.Problem	"unavailable"
//	@Router		/articles [get]
func (c *controller) index(g *gin.Context) error {
	q, err := c.list.Parse(middleware.Query(g))
	if err != nil {
		return err
	}
	page, err := c.service.List(g.Request.Context(), q)
	if err != nil {
		return err
	}
	return middleware.Page(g, page)
}

// show shows an article.
//
//	@Summary	Show an article
//	@Tags		articles
//	@Produce	json
//	@Param		id				path		string	true	"id"
//	@Param		If-None-Match	header		string	false	"the ETag of an earlier answer"
//	@Success	200				{object}	View
//	@Header		200				{string}	ETag	"names this state of the record"
//	@Success	304				"not changed since that answer"
//	@Failure	400				{object}	middleware.Problem	"validation_failed: two different access_token"
//	@Failure	401				{object}	middleware.Problem	"unauthorized: a bad token"
//	@Failure	404				{object}	middleware.Problem	"not_found"
//	@Failure	503				{object}	middleware.Problem	"unavailable"
//	@Router		/articles/{id} [get]
func (c *controller) show(g *gin.Context) error {
	id, err := middleware.ID(g)
	if err != nil {
		return err
	}
	a, err := c.service.Get(g.Request.Context(), id)
	if err != nil {
		return err
	}
	return middleware.Record(g, a.Meta, a.View())
}

// update changes an article.
//
//	@Summary		Change an article
//	@Description	Changes what is sent and leaves the rest. PUT and PATCH are the same.
//	@Tags			articles
//	@Accept			x-www-form-urlencoded,mpfd,json
//	@Produce		json
//	@Param			id			path		string		true	"id"
//	@Param			If-Match	header		string		false	"the ETag for which the change is meant"
//	@Param			input		formData	UpdateInput	false	"what to change"
//	@Success		200			{object}	View
//	@Failure		400			{object}	middleware.Problem	"validation_failed, malformed_body"
//	@Failure		401			{object}	middleware.Problem	"unauthorized"
//	@Failure		403			{object}	middleware.Problem	"forbidden: neither the author nor an admin"
//	@Failure		404			{object}	middleware.Problem	"not_found"
//	@Failure		408			{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure		412			{object}	middleware.Problem	"precondition_failed: the record has changed since"
//	@Failure		413			{object}	middleware.Problem	"payload_too_large"
//	@Failure		415			{object}	middleware.Problem	"unsupported_media_type"
//	@Failure		503			{object}	middleware.Problem	"unavailable"
//	@Security		UserToken
//	@Router			/articles/{id} [put]
//	@Router			/articles/{id} [patch]
func (c *controller) update(g *gin.Context) error {
	in, err := middleware.Bind[UpdateInput](g)
	if err != nil {
		return err
	}
	id, err := middleware.ID(g)
	if err != nil {
		return err
	}
	a, err := c.service.Update(g.Request.Context(), middleware.Caller(g), id, middleware.IfMatch(g, id), in)
	if err != nil {
		return err
	}
	return middleware.Record(g, a.Meta, a.View())
}

// delete removes an article.
//
//	@Summary	Delete an article
//	@Tags		articles
//	@Produce	json
//	@Param		id			path	string	true	"id"
//	@Param		If-Match	header	string	false	"the ETag for which the change is meant"
//	@Success	204
//	@Failure	400	{object}	middleware.Problem	"malformed_body; validation_failed: two different access_token"
//	@Failure	401	{object}	middleware.Problem	"unauthorized"
//	@Failure	403	{object}	middleware.Problem	"forbidden: neither the author nor an admin"
//	@Failure	404	{object}	middleware.Problem	"not_found"
//	@Failure	408	{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure	412	{object}	middleware.Problem	"precondition_failed: the record has changed since"
//	@Failure	413	{object}	middleware.Problem	"payload_too_large"
//	@Failure	415	{object}	middleware.Problem	"unsupported_media_type"
//	@Failure	503	{object}	middleware.Problem	"unavailable"
//	@Security	UserToken
//	@Router		/articles/{id} [delete]
func (c *controller) delete(g *gin.Context) error {
	id, err := middleware.ID(g)
	if err != nil {
		return err
	}
	if err := c.service.Delete(g.Request.Context(), middleware.Caller(g), id, middleware.IfMatch(g, id)); err != nil {
		return err
	}
	return middleware.NoContent(g)
}
