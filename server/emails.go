package server

import (
	"context"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

// emailQueue shows, retries and deletes the emails that are not sent.
type emailQueue struct {
	queue  *email.Queue
	lister *listing.Lister
}

func newEmailQueue(d kit.Deps) emailQueue {
	return emailQueue{d.Email, listing.NewLister(emailSpec(), d.Cursors)}
}

// Parts implements kit.Module. It must be the last module with Closers, because Closers of others can enqueue emails.
func (c emailQueue) Parts() kit.Parts {
	return kit.Parts{Jobs: c.queue.Jobs(), Closers: []func(context.Context){c.queue.Close}}
}

// Routes implements kit.Module.
func (c emailQueue) Routes(r *route.Router) {
	r.GET("/emails", route.Admin, c.list, route.List(emailSpec()), route.AllowAdminKey)
	r.POST("/emails/:id/retry", route.Admin, c.retry, route.AllowAdminKey)
	r.DELETE("/emails/:id", route.Admin, c.delete, route.AllowAdminKey)
}

func emailSpec() listing.Spec {
	return listing.Spec{
		Name: "emails", Sort: []string{"createdAt"}, View: EmailView{}, ETag: listing.NoETag,
		Filter: []listing.Filter{{Field: "status", Type: listing.Enum, Values: []string{"pending", "failed"}}},
	}
}

// EmailView is the representation of an email that is not sent. It has no address and no content.
type EmailView struct {
	ID            store.ID    `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f903"`
	Kind          string      `json:"kind" example:"password-reset"`
	UserID        *store.ID   `json:"userId" swaggertype:"string" extensions:"x-nullable,x-reference=users" example:"65f0c1d2e3a4b5c6d7e8f901"`         // ID of the user that the email concerns; null if the email was requested for an address, whose user is looked up later
	Status        string      `json:"status" enums:"pending,failed" example:"pending"`                                                                  // failed: there are no further attempts, and the email is deleted after a day
	Attempts      int64       `json:"attempts" example:"2"`                                                                                             // number of attempts so far; a retry sets it to 1
	Error         string      `json:"error" example:"email: the email server responded 451 4.3.0 to: RCPT TO"`                                          // error of the last attempt; "" before the first attempt has ended
	CreatedAt     store.Time  `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`                             // time at which the email was accepted
	NextAttemptAt *store.Time `json:"nextAttemptAt" swaggertype:"string" format:"date-time" extensions:"x-nullable" example:"2026-01-02T15:04:11.678Z"` // time of the next attempt; null: there is no further attempt
} //	@name	QueuedEmail

func emailView(r email.Row) EmailView {
	return EmailView{
		ID: r.ID, Kind: r.Kind, UserID: r.UserID, Status: r.Status, Attempts: r.Attempts, Error: r.Error,
		CreatedAt: r.CreatedAt, NextAttemptAt: r.NextAttemptAt,
	}
}

// list lists the emails that are not sent.
//
//	@Summary		List unsent emails
//	@Description	Returns the emails that are waiting to be sent, and the emails that failed in the last day.
//	@Tags			emails
//	@Param			query	query		listing.Params	false	"the parameters of the list"
//	@Success		200		{object}	listing.Page[EmailView]
//	@x-tag			"Emails that are waiting to be sent or that failed."
//	@Router			/emails [get]
func (c emailQueue) list(g *gin.Context) error {
	q, err := c.lister.Parse(rest.Query(g))
	if err != nil {
		return err
	}
	page, err := listing.Run(g.Request.Context(), c.queue.Rows(), q, emailView)
	if err != nil {
		return err
	}
	return rest.Page(g, page)
}

// retry makes an email due.
//
//	@Summary		Send an email now
//	@Description	Makes an email due, also one that failed, and responds before it is sent. If the attempt fails, others follow as for a new email.
//	@Tags			emails
//	@Success		202	{object}	EmailView
//	@Failure		404	{object}	rest.Problem	"not_found: there is no such email; it may have been sent"
//	@Failure		409	{object}	rest.Problem	"conflict: the email is being sent"
//	@Router			/emails/{id}/retry [post]
func (c emailQueue) retry(g *gin.Context) error {
	if _, err := rest.Bind[struct{}](g); err != nil { // no parameters besides access_token
		return err
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	r, err := c.queue.Retry(g.Request.Context(), id)
	if err != nil {
		return err
	}
	return rest.Accepted(g, emailView(r))
}

// delete deletes an email.
//
//	@Summary		Delete an unsent email
//	@Description	The email is not sent.
//	@Tags			emails
//	@Success		204
//	@Failure		404	{object}	rest.Problem	"not_found: there is no such email; it may have been sent"
//	@Failure		409	{object}	rest.Problem	"conflict: the email is being sent"
//	@Router			/emails/{id} [delete]
func (c emailQueue) delete(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	if err := c.queue.Delete(g.Request.Context(), id); err != nil {
		return err
	}
	return rest.NoContent(g)
}
