package middleware

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Idempotency keeps the answers to requests that bear an Idempotency-Key, so that a client who does not know whether
// its request arrived can send it again: the record is made once, and the answer is the first one's.
type Idempotency struct {
	Wait time.Duration // how long to wait for a first request that still runs

	answers *store.Collection[savedAnswer]
	secrets []string
	now     func() time.Time
	newID   func() store.ID
}

// savedAnswer is the answer to one key of one caller on one route. Status is 0 while the first request runs.
type savedAnswer struct {
	store.Meta  `bson:",inline"`
	Key         string     `json:"key"`         // digest of caller, route and key
	Fingerprint string     `json:"fingerprint"` // digests of the parameters
	ExpiresAt   store.Time `json:"expiresAt"`
	Status      int        `json:"status"`
	Location    string     `json:"location"`
	ETag        string     `json:"etag"`
	Body        string     `json:"body"`
}

const (
	answerLife    = 24 * time.Hour         // how long an answer is kept
	answerWait    = 10 * time.Second       // Idempotency.Wait
	answerPoll    = 10 * time.Millisecond  // how soon to look for an answer; twice as long each time
	maxAnswerPoll = 250 * time.Millisecond // at most
	releaseTime   = 5 * time.Second        // how long to try to let a key go
	maxKeyLength  = 255
)

// NewIdempotency opens the collection. The secrets are the service's, at least one.
func NewIdempotency(db store.DB, secrets []string, now func() time.Time, newID func() store.ID) *Idempotency {
	return &Idempotency{
		Wait:    answerWait,
		secrets: secrets,
		answers: store.Open[savedAnswer](db, store.Spec{
			Name:    "idempotency",
			Indexes: []store.Index{{Fields: []string{"key"}, Unique: true}, {Fields: []string{"expiresAt"}}},
		}),
		now: now, newID: newID,
	}
}

// Sweep deletes the answers that are no longer kept.
func (i *Idempotency) Sweep(ctx context.Context) error {
	_, err := i.answers.Delete(ctx, store.Lte("expiresAt", store.At(i.now())))
	return err
}

// Idempotent lets a route that creates a record be repeated under an Idempotency-Key. A request that was refused may be
// repeated, or mended. Of one that was cut off, with the process or by a database that went away, it is not known whether
// it made its record: its key answers Conflict until it expires, and nothing is made twice.
func (r *Router) Idempotent(h Handler) Handler {
	i := r.idempotency
	return func(c *gin.Context) error {
		key := c.GetHeader("Idempotency-Key")
		if key == "" {
			return h(c)
		}
		if !validKey(key) {
			return apperr.Invalid(apperr.Field{
				In: "header", Param: "Idempotency-Key", Code: apperr.Format, Message: "Must be 1 to 255 visible ASCII characters.", Expected: maxKeyLength,
			})
		}
		claim, err := i.claim(c, key)
		if apperr.Is(err, apperr.Conflict) {
			return i.repeat(c, claim)
		}
		if err != nil {
			return err
		}
		return i.first(c, claim, h)
	}
}

func validKey(key string) bool {
	for _, b := range []byte(key) {
		if b <= ' ' || b > '~' {
			return false
		}
	}
	return len(key) <= maxKeyLength
}

// claim takes the key for this request. Conflict: another has it.
func (i *Idempotency) claim(c *gin.Context, key string) (savedAnswer, error) {
	now := store.At(i.now())
	a := savedAnswer{
		Meta:        store.NewMeta(i.newID(), now),
		Key:         digest("", callerName(c)+"\n"+c.Request.Method+" "+c.FullPath()+"\n"+key),
		Fingerprint: strings.Join(i.fingerprints(c), " "),
		ExpiresAt:   store.At(now.Add(answerLife)),
	}
	ctx := c.Request.Context()
	err := i.answers.Insert(ctx, a)
	if !apperr.Is(err, apperr.Conflict) {
		return a, err
	}
	expired := store.And(store.Eq("key", a.Key), store.Lte("expiresAt", now))
	if n, err := i.answers.Delete(ctx, expired); err != nil || n == 0 {
		return a, cmp.Or(err, error(store.Duplicate("key")))
	}
	return a, i.answers.Insert(ctx, a)
}

// callerName tells callers apart, who may choose the same key: nobody by the address.
func callerName(c *gin.Context) string {
	switch p := Caller(c); {
	case p.Master:
		return "master"
	case p.IsUser():
		return p.UserID.Hex()
	}
	return c.ClientIP()
}

// fingerprints are what is stored of a request's parameters, one for each secret, so that a secret can be replaced while
// the service runs. The parameters may hold a password: without a secret, whoever reads the database cannot guess it.
func (i *Idempotency) fingerprints(c *gin.Context) []string {
	canonical := string(values(c).Canonical(credential))
	out := make([]string, len(i.secrets))
	for n, secret := range i.secrets {
		out[n] = digest("idempotency "+secret, canonical)
	}
	return out
}

func digest(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// first runs the handler, keeps its answer, and only then sends it. It goes on when the client goes away, who may come
// back for the answer.
func (i *Idempotency) first(c *gin.Context, claim savedAnswer, h Handler) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), requestTime)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	var held heldAnswer
	c.Set(heldKey, &held)
	if err := h(c); err != nil {
		if refused(err) {
			release, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
			defer cancel()
			_, _ = i.answers.Delete(release, store.Eq("id", claim.ID)) // if this fails, the key stays taken until it expires
		}
		return err
	}
	header := c.Writer.Header()
	_, err := i.answers.Update(ctx, store.Eq("id", claim.ID), store.Set("status", int64(held.status)), store.Set("body", string(held.body)),
		store.Set("location", header.Get("Location")), store.Set("etag", header.Get("ETag")))
	if err != nil {
		_ = c.Error(err) // for the log: the record is made, and the client shall know
	}
	write(c, held.status, jsonType, held.body)
	return nil
}

// refused reports whether an error proves that nothing was made.
func refused(err error) bool {
	var e *apperr.Error
	return errors.As(err, &e) && (e.Overload || statuses[e.Code] < http.StatusInternalServerError)
}

// repeat answers as the first request with the key was answered, and waits for it a while.
func (i *Idempotency) repeat(c *gin.Context, claim savedAnswer) error {
	ctx, cancel := context.WithTimeout(c.Request.Context(), i.Wait)
	defer cancel()
	for poll := answerPoll; ; poll = min(2*poll, maxAnswerPoll) {
		a, err := i.answers.First(c.Request.Context(), store.Eq("key", claim.Key))
		switch {
		case apperr.Is(err, apperr.NotFound):
			return apperr.New(apperr.Conflict, "The first request with this Idempotency-Key has just failed. Send it again.")
		case err != nil:
			return err
		case !slices.ContainsFunc(i.fingerprints(c), func(known string) bool { return strings.Contains(a.Fingerprint, known) }):
			return apperr.New(apperr.IdempotencyMismatch, "This Idempotency-Key was used with other parameters. Use a new key for a new request.")
		case a.Status != 0:
			c.Header("Location", a.Location)
			c.Header("ETag", a.ETag)
			c.Header("Idempotency-Replayed", "true")
			write(c, a.Status, jsonType, []byte(a.Body))
			return nil
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return apperr.New(apperr.Conflict, "The first request with this Idempotency-Key still runs, or was cut off. Look whether the record is there.")
		}
	}
}

// heldAnswer is an answer that is kept before it is sent.
type heldAnswer struct {
	status int
	body   []byte
}

const heldKey = "ginseng.held"

// hold keeps an answer for first, if it asked for it, instead of sending it.
func hold(c *gin.Context, status int, body []byte) bool {
	v, ok := c.Get(heldKey)
	if ok {
		*v.(*heldAnswer) = heldAnswer{status, slices.Clone(body)}
	}
	return ok
}
