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

// emailQueue lists the emails that are not sent.
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
	UserID        *store.ID   `json:"userId" swaggertype:"string" extensions:"x-nullable" example:"65f0c1d2e3a4b5c6d7e8f901"`                           // ID of the user that the email concerns; null if the email was requested for an address, whose user is looked up later
	Status        string      `json:"status" enums:"pending,failed" example:"pending"`                                                                  // failed: there are no further attempts, and the email is deleted after a day
	Attempts      int64       `json:"attempts" example:"2"`                                                                                             // number of attempts so far
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
