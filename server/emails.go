package server

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// emailQueue lists the emails that are not sent.
type emailQueue struct {
	queue  *email.Queue
	lister *listing.Lister
}

// mountEmailQueue mounts GET /emails on api.
func mountEmailQueue(api gin.IRouter, queue *email.Queue, cursors listing.Cursors, admin gin.HandlerFunc) {
	c := emailQueue{queue, listing.NewLister(emailSpec(), cursors)}
	api.GET("/emails", admin, rest.Handle(c.list, rest.AnyQuery))
}

func emailSpec() listing.Spec {
	return listing.Spec{
		Name: "emails", Sort: []string{"createdAt"}, View: EmailView{},
		Filter: []listing.Filter{{Field: "status", Type: listing.Enum, Values: []string{"pending", "failed"}}},
	}
}

// EmailView is the representation of an email that is not sent. It has no address and no content.
type EmailView struct {
	ID            store.ID    `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f903"`
	Kind          string      `json:"kind" example:"password-reset"`
	UserID        *store.ID   `json:"userId" swaggertype:"string" extensions:"x-nullable" example:"65f0c1d2e3a4b5c6d7e8f901"`                           // null: the email is for an address, and the user with this address is looked up later
	Status        string      `json:"status" enums:"pending,failed" example:"pending"`                                                                  // failed: it will not be sent, and is deleted from the list after a day
	Attempts      int64       `json:"attempts" example:"2"`                                                                                             // so far
	Error         string      `json:"error" example:"email: the email server responded 451 4.3.0 to: RCPT TO"`                                          // of the last attempt; "" before the first one has ended
	CreatedAt     store.Time  `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`                             // when the email was accepted
	NextAttemptAt *store.Time `json:"nextAttemptAt" swaggertype:"string" format:"date-time" extensions:"x-nullable" example:"2026-01-02T15:04:11.678Z"` // null: there is no further attempt
} //	@name	QueuedEmail

func emailView(r email.Row) EmailView {
	return EmailView{
		ID: r.ID, Kind: r.Kind, UserID: r.UserID, Status: r.Status, Attempts: r.Attempts, Error: r.Error,
		CreatedAt: r.CreatedAt, NextAttemptAt: r.NextAttemptAt,
	}
}

// list lists the emails that are not sent.
//
//	@Summary		List emails that are not sent
//	@Description	Returns the emails that wait for an attempt, and those that failed in the last day. An email that was sent is not in the list.
//	@Tags			emails
//	@Param			query			query		listing.Params	false	"the list"
//	@Param			If-None-Match	header		string			false	"the ETag of an earlier response"
//	@Success		200				{object}	listing.Page[EmailView]
//	@Failure		403				{object}	rest.Problem	"forbidden: not an admin"
//	@Security		UserToken
//	@x-tag			"Emails that wait to be sent, and those that failed."
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
