package webhook

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
)

type controller struct {
	service *Service
	lister  *listing.Lister // for the list of deliveries
}

// create creates a webhook.
//
//	@Summary		Create a webhook
//	@Description	Sends the selected events to url in requests that are signed according to Standard Webhooks. An event contains the record as everybody may read it, or only its id if the record is not public. The secret is returned only in this response. If an event is unknown, the error lists the valid events.
//	@Tags			webhooks
//	@Param			input	formData	Input	true	"the webhook; if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		201		{object}	Created
//	@Failure		409		{object}	rest.Problem	"conflict: there are already 100 webhooks"
//	@x-tag			"HTTP requests to other servers when records change."
//	@Router			/webhooks [post]
func (c *controller) create(g *gin.Context) error {
	in, err := rest.Bind[Input](g, View{})
	if err != nil {
		return apperr.JoinInvalid(err, c.service.check(in.Fields))
	}
	created, err := c.service.Create(g.Request.Context(), rest.Caller(g).UserID, in.Fields)
	if err != nil {
		return err
	}
	g.Header("Location", g.Request.URL.Path+"/"+created.ID.Hex())
	return rest.CreatedSecret(g, created)
}

// list lists webhooks.
//
//	@Summary	List webhooks
//	@Tags		webhooks
//	@Success	200	{object}	List
//	@Router		/webhooks [get]
func (c *controller) list(g *gin.Context) error {
	list, err := c.service.List(g.Request.Context())
	if err != nil {
		return err
	}
	return rest.OK(g, list)
}

// get returns a webhook.
//
//	@Summary	Get a webhook
//	@Tags		webhooks
//	@Success	200	{object}	View
//	@Router		/webhooks/{id} [get]
func (c *controller) get(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	w, err := c.service.Get(g.Request.Context(), id)
	if err != nil {
		return err
	}
	return rest.OK(g, w.View())
}

// update changes a webhook.
//
//	@Summary		Change a webhook
//	@Description	Changes only the given fields. A webhook that is enabled again receives only later events.
//	@Tags			webhooks
//	@Param			input	formData	Input	false	"the fields to change; if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		200		{object}	View
//	@Router			/webhooks/{id} [patch]
func (c *controller) update(g *gin.Context) error {
	in, err := rest.BindPatch[Input](g, View{})
	if err != nil {
		return apperr.JoinInvalid(err, c.service.check(in.Fields.Fields))
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	w, err := c.service.Update(g.Request.Context(), rest.Caller(g).UserID, id, in)
	if err != nil {
		return err
	}
	return rest.OK(g, w.View())
}

// delete deletes a webhook.
//
//	@Summary		Delete a webhook
//	@Description	Also deletes the deliveries of the webhook.
//	@Tags			webhooks
//	@Param			input	formData	access.Proof	false	"if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		204
//	@Router			/webhooks/{id} [delete]
func (c *controller) delete(g *gin.Context) error {
	if _, err := rest.Bind[access.Proof](g); err != nil {
		return err
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	if err := c.service.Delete(g.Request.Context(), id); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// rotate replaces the secret of a webhook.
//
//	@Summary		Replace the secret of a webhook
//	@Description	The new secret is returned only in this response. For 24 hours, requests are also signed with the old secret.
//	@Tags			webhooks
//	@Param			input	formData	access.Proof	false	"if two-factor sign-in is on, exactly one of code and recovery_code, unless the session was opened with two factors"
//	@Success		201		{object}	Created
//	@Router			/webhooks/{id}/secret [post]
func (c *controller) rotate(g *gin.Context) error {
	if _, err := rest.Bind[access.Proof](g); err != nil {
		return err
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	created, err := c.service.Rotate(g.Request.Context(), id)
	if err != nil {
		return err
	}
	return rest.CreatedSecret(g, created)
}

// test sends a test event.
//
//	@Summary		Send a test event
//	@Description	Sends an event of the type webhook.test, even if the webhook is disabled, and returns the result. A failed attempt is not repeated.
//	@Tags			webhooks
//	@Success		200	{object}	DeliveryView
//	@Router			/webhooks/{id}/test [post]
func (c *controller) test(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	d, err := c.service.Test(g.Request.Context(), id)
	if err != nil {
		return err
	}
	return rest.OK(g, d.View())
}

// deliveries lists deliveries.
//
//	@Summary		List the deliveries of a webhook
//	@Description	Returns the deliveries of the last 7 days.
//	@Tags			webhooks
//	@Param			query	query		listing.Params	false	"the parameters of the list"
//	@Success		200		{object}	listing.Page[DeliveryView]
//	@Router			/webhooks/{id}/deliveries [get]
func (c *controller) deliveries(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	q, err := c.lister.Parse(rest.Query(g))
	if err != nil {
		return err
	}
	page, err := c.service.Deliveries(g.Request.Context(), id, q)
	if err != nil {
		return err
	}
	return rest.Page(g, page)
}

// retry sends a delivery again.
//
//	@Summary		Send a delivery again
//	@Description	Queues the delivery again with the same body and webhook-id, and responds before the delivery is sent.
//	@Tags			webhooks
//	@Success		202	{object}	DeliveryView
//	@Failure		409	{object}	rest.Problem	"conflict: the webhook is disabled"
//	@Router			/webhooks/{id}/deliveries/{deliveryId}/retry [post]
func (c *controller) retry(g *gin.Context) error {
	webhookID, err := rest.ID(g)
	if err != nil {
		return err
	}
	id, err := rest.PathID(g, "deliveryId")
	if err != nil {
		return err
	}
	d, err := c.service.Retry(g.Request.Context(), webhookID, id)
	if err != nil {
		return err
	}
	return rest.Accepted(g, d.View())
}
