package policy

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/listing"
	"example.com/ginseng/middleware"
)

type controller struct {
	service *Service
	list    *listing.Lister
}

// create makes a policy.
//
//	@Summary		Create a policy
//	@Description	Its selector says to which workloads of the namespace it applies: those that bear all of the labels, with exactly these values. Without a selector it applies to every workload of the namespace. In a JSON body, selector is an object: {"namespace": "shop", "name": "reviews-v2", "selector": {"matchLabels": {"app": "reviews", "version": "v2"}}}. In a form it is that object's JSON text.
//	@Tags			policies
//	@Accept			x-www-form-urlencoded,mpfd,json
//	@Produce		json
//	@Param			input			formData	CreateInput	true	"the policy"
//	@Param			Idempotency-Key	header		string		false	"a key of the client's: the same request with the same key makes one record"
//	@Success		201				{object}	View
//	@Header			201				{string}	Location			"address of the policy"
//	@Failure		400				{object}	middleware.Problem	"validation_failed, malformed_body"
//	@Failure		401				{object}	middleware.Problem	"unauthorized"
//	@Failure		403				{object}	middleware.Problem	"forbidden: not an admin"
//	@Failure		408				{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure		409				{object}	middleware.Problem	"conflict: the namespace has a policy of this name, or the first request with this key still runs"
//	@Failure		413				{object}	middleware.Problem	"payload_too_large"
//	@Failure		415				{object}	middleware.Problem	"unsupported_media_type"
//	@Failure		422				{object}	middleware.Problem	"idempotency_mismatch: the key was used with other parameters"
//	@Failure		503				{object}	middleware.Problem	"unavailable"
//	@Security		UserToken
//	@Router			/policies [post]
func (c *controller) create(g *gin.Context) error {
	in, err := middleware.Bind[CreateInput](g)
	if err != nil {
		return err
	}
	p, err := c.service.Create(g.Request.Context(), in)
	if err != nil {
		return err
	}
	return middleware.Created(g, p.Meta, p.View())
}

// index lists policies.
//
//	@Summary	List policies
//	@Tags		policies
//	@Produce	json
//	@Param		query			query		listing.Params	false	"the list"
//	@Param		If-None-Match	header		string			false	"the ETag of an earlier answer"
//	@Param		sort			query		string			false	"name, createdAt; - before a name for descending order"	default(-createdAt)
//	@Param		namespace		query		string			false	"also namespace[gt], [gte], [lt], [lte], [ne], [in]"
//	@Param		name			query		string			false	"also name[gt], [gte], [lt], [lte], [ne], [in]"
//	@Success	200				{object}	listing.Page[View]
//	@Header		200				{string}	ETag	"names what this page shows"
//	@Success	304				"not changed since that answer"
//	@Failure	400				{object}	middleware.Problem	"validation_failed"
//	@Failure	401				{object}	middleware.Problem	"unauthorized"
//	@Failure	503				{object}	middleware.Problem	"unavailable"
//	@Security	UserToken
//	@Router		/policies [get]
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

// show shows a policy.
//
//	@Summary	Show a policy
//	@Tags		policies
//	@Produce	json
//	@Param		id				path		string	true	"id"
//	@Param		If-None-Match	header		string	false	"the ETag of an earlier answer"
//	@Success	200				{object}	View
//	@Header		200				{string}	ETag	"names this state of the record"
//	@Success	304				"not changed since that answer"
//	@Failure	400				{object}	middleware.Problem	"validation_failed: two different access_token"
//	@Failure	401				{object}	middleware.Problem	"unauthorized"
//	@Failure	404				{object}	middleware.Problem	"not_found"
//	@Failure	503				{object}	middleware.Problem	"unavailable"
//	@Security	UserToken
//	@Router		/policies/{id} [get]
func (c *controller) show(g *gin.Context) error {
	id, err := middleware.ID(g)
	if err != nil {
		return err
	}
	p, err := c.service.Get(g.Request.Context(), id)
	if err != nil {
		return err
	}
	return middleware.Record(g, p.Meta, p.View())
}

// update changes a policy.
//
//	@Summary		Change a policy
//	@Description	Changes what is sent and leaves the rest. PUT and PATCH are the same. A selector replaces the one before as a whole; null takes it away, and the policy applies to every workload of its namespace. The namespace cannot change.
//	@Tags			policies
//	@Accept			x-www-form-urlencoded,mpfd,json
//	@Produce		json
//	@Param			id			path		string		true	"id"
//	@Param			If-Match	header		string		false	"the ETag for which the change is meant"
//	@Param			input		formData	UpdateInput	false	"what to change"
//	@Success		200			{object}	View
//	@Failure		400			{object}	middleware.Problem	"validation_failed, malformed_body"
//	@Failure		401			{object}	middleware.Problem	"unauthorized"
//	@Failure		403			{object}	middleware.Problem	"forbidden: not an admin"
//	@Failure		404			{object}	middleware.Problem	"not_found"
//	@Failure		408			{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure		409			{object}	middleware.Problem	"conflict: the namespace has another policy of this name"
//	@Failure		412			{object}	middleware.Problem	"precondition_failed: the record has changed since"
//	@Failure		413			{object}	middleware.Problem	"payload_too_large"
//	@Failure		415			{object}	middleware.Problem	"unsupported_media_type"
//	@Failure		503			{object}	middleware.Problem	"unavailable"
//	@Security		UserToken
//	@Router			/policies/{id} [put]
//	@Router			/policies/{id} [patch]
func (c *controller) update(g *gin.Context) error {
	in, err := middleware.Bind[UpdateInput](g)
	if err != nil {
		return err
	}
	id, err := middleware.ID(g)
	if err != nil {
		return err
	}
	p, err := c.service.Update(g.Request.Context(), id, middleware.IfMatch(g, id), in)
	if err != nil {
		return err
	}
	return middleware.Record(g, p.Meta, p.View())
}

// delete removes a policy.
//
//	@Summary	Delete a policy
//	@Tags		policies
//	@Produce	json
//	@Param		id			path	string	true	"id"
//	@Param		If-Match	header	string	false	"the ETag for which the change is meant"
//	@Success	204
//	@Failure	400	{object}	middleware.Problem	"malformed_body; validation_failed: two different access_token"
//	@Failure	401	{object}	middleware.Problem	"unauthorized"
//	@Failure	403	{object}	middleware.Problem	"forbidden: not an admin"
//	@Failure	404	{object}	middleware.Problem	"not_found"
//	@Failure	408	{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure	412	{object}	middleware.Problem	"precondition_failed: the record has changed since"
//	@Failure	413	{object}	middleware.Problem	"payload_too_large"
//	@Failure	415	{object}	middleware.Problem	"unsupported_media_type"
//	@Failure	503	{object}	middleware.Problem	"unavailable"
//	@Security	UserToken
//	@Router		/policies/{id} [delete]
func (c *controller) delete(g *gin.Context) error {
	id, err := middleware.ID(g)
	if err != nil {
		return err
	}
	if err := c.service.Delete(g.Request.Context(), id, middleware.IfMatch(g, id)); err != nil {
		return err
	}
	return middleware.NoContent(g)
}

// evaluate finds the policies that apply to a proxy.
//
//	@Summary		Find the policies that apply to a proxy
//	@Description	Looks at the policies of the namespace alone. A policy applies if it has no selector, or if the proxy bears every label of it, with exactly that value. Labels come from the instance (of the pod or virtual machine, the registry's word), the handshake and the metadata (the proxy's own claims); where they disagree about a key, the first of these wins. Each has at most 4096 labels, of text.
//	@Description	In a JSON body, the three are objects: {"namespace": "shop", "metadata": {"labels": {"app": "reviews", "version": "v1"}}, "instance": {"labels": {"version": "v2"}}, "explain": true}. In a form they are these objects' JSON text. This proxy bears app=reviews, version=v2.
//	@Description	Every change that was acknowledged before the call is seen, by whichever copy of the service it was made.
//	@Tags			policies
//	@Accept			x-www-form-urlencoded,mpfd,json
//	@Produce		json
//	@Param			input	formData	EvaluateInput	true	"the proxy"
//	@Success		200		{object}	Evaluation
//	@Failure		400		{object}	middleware.Problem	"validation_failed, malformed_body"
//	@Failure		401		{object}	middleware.Problem	"unauthorized"
//	@Failure		408		{object}	middleware.Problem	"request_timeout: the body came too slowly"
//	@Failure		413		{object}	middleware.Problem	"payload_too_large"
//	@Failure		415		{object}	middleware.Problem	"unsupported_media_type"
//	@Failure		503		{object}	middleware.Problem	"unavailable"
//	@Security		UserToken
//	@Router			/policies/evaluate [post]
func (c *controller) evaluate(g *gin.Context) error {
	in, err := middleware.Bind[EvaluateInput](g)
	if err != nil {
		return err
	}
	e, err := c.service.Evaluate(g.Request.Context(), in)
	if err != nil {
		return err
	}
	return middleware.OK(g, e)
}
