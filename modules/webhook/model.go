package webhook

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
)

// Webhook is a stored webhook.
type Webhook struct {
	store.Meta `bson:",inline"`
	Fields     `bson:",inline"`
	// UserID is the admin who created the webhook, or who last changed its URL, its events or whether it is enabled. The webhook
	// is disabled when this user may no longer manage webhooks. It is zero if an earlier version stored the webhook.
	UserID         store.ID `json:"userId"`
	DisabledReason string   `json:"disabledReason"` // why the service disabled the webhook; "" if it did not
	Secret         string   `json:"secret"`         // encrypted; see Service.keys
	OldSecret      string   `json:"oldSecret"`      // encrypted; also signs until OldSecretUntil; "" if there is none
	// OldSecretUntil is nil if there is no OldSecret.
	OldSecretUntil *store.Time `json:"oldSecretUntil"`
	// FromNumber and FromChange are the position in the log when the webhook was created or enabled. The webhook receives only
	// later events.
	FromNumber int64    `json:"fromNumber"`
	FromChange store.ID `json:"fromChange"`
	// FailingSince is the time of the first failed attempt since the last successful attempt; nil if there is none.
	FailingSince *store.Time `json:"failingSince"`
}

const maxWebhooks = 100

// Fields are the fields that clients set.
type Fields struct {
	URL         string   `json:"url" validate:"required,max=2048,plain_http_url" example:"https://example.com/hooks"` // address that receives the events; must use https, except for addresses in WEBHOOK_NETWORKS
	Events      []string `json:"events" validate:"required,max=100" example:"article.created,article.deleted"`        // RECORD.created, RECORD.updated, RECORD.deleted, RECORD.* (all three), or * (all events of all resources)
	Description string   `json:"description" validate:"max=500,plain" example:"search index"`                         // note for admins
	Enabled     bool     `json:"enabled" default:"true" example:"true"`                                               // events that happen while a webhook is disabled are never sent
}

// Input has the parameters of a creation and of a change.
type Input struct {
	Fields
	access.Proof
} //	@name	WebhookInput

// View is the representation of a webhook.
type View struct {
	ID store.ID `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f904"`
	Fields
	UserID         *store.ID  `json:"userId" swaggertype:"string" extensions:"x-nullable,x-reference=users" example:"65f0c1d2e3a4b5c6d7e8f901"` // the admin who created the webhook, or last changed url, events or enabled; null: unknown
	DisabledReason string     `json:"disabledReason" example:""`                                                                                // why the service disabled the webhook; "": it did not
	CreatedAt      store.Time `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
} //	@name	Webhook

// Created is the representation of a webhook with a new secret.
type Created struct {
	View
	Secret string `json:"secret" example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"` // the secret; returned only in this response
} //	@name	WebhookCreated

// List is the response with all webhooks.
type List struct {
	Count int    `json:"count" example:"1"`
	Rows  []View `json:"rows"` // newest first
} //	@name	WebhookList

// View returns the representation of the webhook.
func (w Webhook) View() View {
	v := View{w.ID, w.Fields, nil, w.DisabledReason, w.CreatedAt}
	if !w.UserID.IsZero() {
		v.UserID = &w.UserID
	}
	return v
}

// webhookSpec records in the log of changes what admins do to webhooks, and that a webhook was disabled.
func webhookSpec() store.Spec {
	return store.Spec{Name: "webhooks", Changes: true, LogFields: append(store.FieldNames(reflect.TypeFor[Fields]()), "secret")}
}

// The values of Delivery.Status.
const (
	pending   = "pending"   // waits for an attempt, or is being sent
	delivered = "delivered" // the receiver responded with a status of 200 to 299
	failed    = "failed"    // there are no more attempts
)

// Delivery is the delivery of an event to a webhook.
type Delivery struct {
	store.Meta `bson:",inline"`
	WebhookID  store.ID   `json:"webhookId"`
	Type       string     `json:"type"`
	Collection string     `json:"collection"` // collection of the record; "" for a test
	RecordID   *store.ID  `json:"recordId"`
	EventAt    store.Time `json:"eventAt"`
	Number     int64      `json:"number"` // number of the entry in the log; 0 for a test
	Lane       string     `json:"lane"`   // lane in which the delivery waits; "" if it is not pending
	Body       string     `json:"body"`   // body of the requests if it is small; "" before the first attempt, and with a BodyID
	BodyID     *store.ID  `json:"bodyId"` // ID of the Body that is shared; nil before the first attempt, and if the body is in the field Body
	Status     string     `json:"status"`
	Attempts   int64      `json:"attempts"` // completed attempts
	// ResponseStatus is the status of the response to the last attempt; nil if there was no response.
	ResponseStatus *int64      `json:"responseStatus"`
	DurationMs     *int64      `json:"durationMs"` // duration of the last attempt
	Error          string      `json:"error"`      // error of the last attempt; "" if it did not fail
	NextAttemptAt  *store.Time `json:"nextAttemptAt"`
}

const retention = 7 * 24 * time.Hour // how long deliveries are stored

// DeliveryView is the representation of a delivery.
type DeliveryView struct {
	ID             store.ID    `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f905"` // ID of the delivery; also in the header webhook-id
	Type           string      `json:"type" example:"article.created"`
	Status         string      `json:"status" enums:"pending,delivered,failed" example:"pending"`                                                        // failed: there are no further attempts
	Attempts       int64       `json:"attempts" example:"2"`                                                                                             // number of attempts so far
	ResponseStatus *int64      `json:"responseStatus" extensions:"x-nullable" example:"503"`                                                             // status of the response to the last attempt; null: there was no response
	DurationMs     *int64      `json:"durationMs" extensions:"x-nullable" example:"120"`                                                                 // duration of the last attempt in milliseconds
	Error          string      `json:"error" example:"The response has the status 503."`                                                                 // error of the last attempt; "" if the attempt succeeded
	NextAttemptAt  *store.Time `json:"nextAttemptAt" swaggertype:"string" format:"date-time" extensions:"x-nullable" example:"2026-01-02T15:04:11.678Z"` // time of the next attempt; null: there is no further attempt
	CreatedAt      store.Time  `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
} //	@name	WebhookDelivery

// View returns the representation of the delivery.
func (d Delivery) View() DeliveryView {
	return DeliveryView{d.ID, d.Type, d.Status, d.Attempts, d.ResponseStatus, d.DurationMs, d.Error, d.NextAttemptAt, d.CreatedAt}
}

func deliverySpec() listing.Spec {
	return listing.Spec{
		Name: "webhook-deliveries", Sort: []string{"createdAt"}, View: DeliveryView{}, ETag: listing.NoETag,
		Filter: []listing.Filter{{Field: "status", Type: listing.Enum, Values: []string{"pending", "delivered", "failed"}}},
	}
}

func deliveryStoreSpec() store.Spec {
	return store.Spec{Name: "webhook-deliveries", Indexes: []store.Index{
		{Fields: []string{"webhookId", "lane", "number"}}, {Fields: []string{"webhookId", "lane", "nextAttemptAt"}},
		{Fields: []string{"webhookId", "createdAt"}}, {Fields: []string{"webhookId", "status", "createdAt"}}, {Fields: []string{"createdAt"}},
		{Fields: []string{"bodyId"}},
	}}
}

// The kinds of lanes. A lane is a queue of a webhook's deliveries. One instance at a time sends the deliveries one after another.
const (
	first = "first" // for first attempts, in the order of the log
	retry = "retry" // for later attempts, when they are due
)

// Lane is the state of a lane of a webhook.
type Lane struct {
	store.Meta `bson:",inline"`
	WebhookID  store.ID    `json:"webhookId"`
	Kind       string      `json:"kind"`
	NextAt     *store.Time `json:"nextAt"`     // when the next delivery is due; nil: there is none
	Holder     string      `json:"holder"`     // random ID of the goroutine that sends the deliveries
	LeaseUntil *store.Time `json:"leaseUntil"` // when another goroutine can take the lane; nil: there is no holder
	Touches    int64       `json:"touches"`    // see Service.touch
}

func laneID(webhookID store.ID, kind string) store.ID { return idOf("lane", webhookID.Hex(), kind) }

// deliveryID returns the ID of the delivery of a log entry to a webhook. The ID is always the same for the entry and the webhook.
func deliveryID(webhookID store.ID, p store.Position) store.ID {
	return idOf("delivery", webhookID.Hex(), fmt.Sprint(p.Number), p.ChangeID.Hex())
}

func idOf(parts ...string) store.ID {
	sum := sha256.Sum256(fmt.Append(nil, parts))
	return store.ID(sum[:len(store.ID{})])
}

func laneSpec() store.Spec {
	return store.Spec{Name: "webhook-lanes", Indexes: []store.Index{{Fields: []string{"nextAt"}}, {Fields: []string{"webhookId"}}}}
}

// Cursor is the position in the log up to which deliveries were created. There is only one Cursor, with the ID cursorID.
type Cursor struct {
	store.Meta `bson:",inline"`
	Number     int64    `json:"number"`
	ChangeID   store.ID `json:"changeId"`
}

var cursorID = idOf("cursor")

func cursorSpec() store.Spec { return store.Spec{Name: "webhook-cursors"} }

func (c Cursor) position() store.Position {
	return store.Position{Number: c.Number, ChangeID: c.ChangeID}
}
