package middleware

import (
	"bytes"
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
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// Idempotency stores the responses to requests with an Idempotency-Key. A client that does not know whether its request
// succeeded can repeat the request. The client then receives the first response, and nothing is created twice.
type Idempotency struct {
	Wait time.Duration // how long a repeated request waits for the first request to finish; 10 s by default

	responses *store.Collection[storedResponse]
	rooms     rooms
	secrets   []string
	now       func() time.Time
}

// storedResponse is the response to the requests that a caller sends with a key to a route. Status is 0 until the first request
// is finished.
type storedResponse struct {
	store.Meta  `bson:",inline"`
	Key         string     `json:"key"`         // digest of the caller, the route and the Idempotency-Key
	Owner       string     `json:"owner"`       // see ownerOf
	Fingerprint string     `json:"fingerprint"` // digests of the path and the parameters, one per secret, separated by spaces
	ExpiresAt   store.Time `json:"expiresAt"`
	Status      int        `json:"status"`
	Location    string     `json:"location"`
	ETag        string     `json:"etag"`
	Body        string     `json:"body"`
	Size        int64      `json:"size"` // size of Body in bytes
}

const (
	responseTTL     = 24 * time.Hour
	responseWait    = 10 * time.Second       // default of Idempotency.Wait
	responsePoll    = 10 * time.Millisecond  // first interval at which a repeated request polls; the interval then doubles
	maxResponsePoll = 250 * time.Millisecond // longest polling interval
	createTimeout   = 30 * time.Second       // time limit of the first request with a key, even if its client disconnects
	releaseTimeout  = 5 * time.Second        // time limit for deleting the key of a request that failed
	maxKeyLength    = 255                    // bytes
)

// NewIdempotency returns an Idempotency with its collection in db. There must be at least one secret. Idempotency stores a
// fingerprint of each request for every secret. A match for one secret is sufficient, so that secrets can be replaced.
func NewIdempotency(db store.DB, secrets []string, now func() time.Time) *Idempotency {
	return &Idempotency{
		Wait: responseWait,
		responses: store.Open[storedResponse](db, store.Spec{
			Name:    "idempotency",
			Indexes: []store.Index{{Fields: []string{"key"}, Unique: true}, {Fields: []string{"expiresAt"}}, {Fields: []string{"owner", "expiresAt"}}},
		}),
		secrets: secrets,
		now:     now,
	}
}

// Jobs returns the job that deletes expired responses.
func (i *Idempotency) Jobs() []job.Job {
	return []job.Job{{Name: "expired-responses", Interval: job.SweepInterval, Run: i.sweep}}
}

func (i *Idempotency) sweep(ctx context.Context) error {
	_, err := i.responses.Delete(ctx, store.Lte("expiresAt", store.At(i.now())))
	return err
}

// Middleware returns the middleware for a route that creates a record. It runs after authentication. A request that failed
// without creating anything can be repeated with the same key. A replayed response is JSON, with the headers Location and ETag of
// the first response, even after the record was changed or deleted. If it is unknown whether the record was created, because the
// process or the database failed, requests with the key get Conflict until the key expires. TooManyRequests: the stored responses
// of the caller take maxStored bytes; a replay is still possible.
func (i *Idempotency) Middleware() gin.HandlerFunc {
	return func(g *gin.Context) {
		key := g.GetHeader("Idempotency-Key")
		if key == "" {
			return
		}
		if err := i.handle(g, key); err != nil {
			rest.Fail(g, err)
		}
	}
}

func (i *Idempotency) handle(g *gin.Context, key string) error {
	if len(key) > maxKeyLength || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return apperr.Invalid(apperr.Field{
			In: "header", Param: "Idempotency-Key", Code: apperr.Format, Message: "Must be 1 to 255 visible ASCII characters.", Expected: maxKeyLength,
		})
	}
	params, err := rest.Body(g)
	if err != nil {
		return err
	}
	fingerprints := i.fingerprints(g.Request.URL.Path, params)
	now := store.At(i.now())
	claim := storedResponse{
		Meta:        store.NewMeta(store.NewID(), now),
		Key:         digest("", callerName(g)+"\n"+g.Request.Method+" "+g.FullPath()+"\n"+key),
		Owner:       ownerOf(g),
		Fingerprint: strings.Join(fingerprints, " "),
		ExpiresAt:   store.At(now.Add(responseTTL)),
	}
	err = i.claim(g.Request.Context(), claim)
	if apperr.Is(err, apperr.Conflict) {
		return i.replay(g, claim.Key, fingerprints)
	}
	if err != nil {
		return err
	}
	i.runAndStore(g, claim)
	return nil
}

// claim reserves the key for this request: it stores r, a response without a status. Conflict: another request has reserved the
// key. TooManyRequests: see checkRoom.
func (i *Idempotency) claim(ctx context.Context, r storedResponse) error {
	valid := store.And(store.Eq("key", r.Key), store.Gt("expiresAt", r.CreatedAt))
	if err := i.checkRoom(ctx, r.Owner); err != nil {
		if exists, existsErr := i.responses.Exists(ctx, valid); exists || existsErr != nil {
			return cmp.Or(existsErr, error(store.Duplicate("key")))
		}
		return err
	}
	err := i.responses.Insert(ctx, r)
	if !apperr.Is(err, apperr.Conflict) {
		return err
	}
	n, err := i.responses.Delete(ctx, store.And(store.Eq("key", r.Key), store.Lte("expiresAt", r.CreatedAt)))
	if err != nil {
		return err
	}
	if n == 0 {
		return store.Duplicate("key")
	}
	return i.responses.Insert(ctx, r)
}

// callerName returns a name that is unique per caller, because different callers may use the same key. Anonymous callers are
// distinguished by their IP address.
func callerName(g *gin.Context) string {
	switch p := rest.Caller(g); {
	case p.Master:
		return "master"
	case p.Key != nil: // an API key does not have all rights of its user
		return "key " + p.Key.ID.Hex()
	case p.IsUser():
		return p.UserID.Hex()
	}
	return g.ClientIP()
}

// fingerprints returns, for each secret, a digest of the path and the parameters. The digest includes the path because the path
// can contain the ID of a parent record. The parameters can contain a password, which could be guessed from a digest without a
// secret.
func (i *Idempotency) fingerprints(path string, params rest.Params) []string {
	canonical := path + "\n" + string(params.Canonical(rest.Credential))
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

// keepResponse stores a response in the transaction of ctx; see KeepResponse.
type keepResponse func(ctx context.Context, status int, body []byte) error

// keepKey is the key of gin.Context for the keepResponse of a request with an Idempotency-Key.
const keepKey = "ginseng.keepResponse"

// KeepResponse stores the response to a request in the transaction of ctx, if the request has an Idempotency-Key. A handler that
// uses a transaction calls KeepResponse, so that the transaction stores both the changes and the response. TooManyRequests: the
// response is larger than what the caller may still store.
func KeepResponse(ctx context.Context, g *gin.Context, status int, body []byte) error {
	if keep, ok := g.Get(keepKey); ok {
		return keep.(keepResponse)(ctx, status, body)
	}
	return nil
}

// store completes the stored response with the ID claim. header has the Location and the ETag of the response.
func (i *Idempotency) store(ctx context.Context, claim store.ID, status int, header http.Header, body []byte) error {
	_, err := i.responses.Update(ctx, store.Eq("id", claim), store.Set("status", int64(status)), store.Set("body", string(body)), store.Set("size", int64(len(body))),
		store.Set("location", header.Get("Location")), store.Set("etag", header.Get("ETag")))
	return err
}

// runAndStore runs the handlers that follow, and then stores and sends their response. claim is the stored response.
// After an error that shows that nothing was created, runAndStore deletes the stored response. runAndStore continues if the
// client disconnects, because the client can repeat the request to get the response.
func (i *Idempotency) runAndStore(g *gin.Context, claim storedResponse) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(g.Request.Context()), createTimeout+storeTime(g))
	defer cancel()
	g.Request = g.Request.WithContext(ctx)
	recorder := &responseRecorder{ResponseWriter: g.Writer, status: http.StatusOK}
	kept := false
	g.Set(keepKey, keepResponse(func(ctx context.Context, status int, body []byte) error {
		if err := i.take(claim.Owner, int64(len(body))); err != nil {
			return err
		}
		kept = true
		return i.store(ctx, claim.ID, status, g.Writer.Header(), body)
	}))
	func() {
		g.Writer = recorder
		defer func() { g.Writer = recorder.ResponseWriter }() // even after a panic
		g.Next()
	}()
	switch {
	case recorder.status < http.StatusBadRequest && kept:
	case recorder.status < http.StatusBadRequest:
		i.rooms.add(claim.Owner, int64(recorder.body.Len())+rowBytes)
		if err := i.store(ctx, claim.ID, recorder.status, g.Writer.Header(), recorder.body.Bytes()); err != nil {
			_ = g.Error(err) // only for the log: the record has been created
		}
	case recorder.status < http.StatusInternalServerError || nothingWritten(g):
		releaseCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		_, _ = i.responses.Delete(releaseCtx, store.Eq("id", claim.ID)) // after an error the key stays reserved until it expires
	}
	g.Writer.WriteHeader(recorder.status)
	_, _ = g.Writer.Write(recorder.body.Bytes()) // fails if the client has disconnected
}

// nothingWritten reports whether the request failed because of overload, or because the database lacks a feature that the request
// needs.
func nothingWritten(g *gin.Context) bool {
	var e *apperr.Error
	return errors.As(rest.Failure(g), &e) && (e.Overload || e.Code == apperr.NotSupported)
}

// replay waits until the first request with the key has finished, and sends its stored response. Conflict: that request failed,
// or did not finish within Wait. IdempotencyMismatch: that request had another path or other parameters. Unavailable: the
// response is large, and other large responses are using the budget (rest.Budget).
func (i *Idempotency) replay(g *gin.Context, key string, fingerprints []string) error {
	ctx, cancel := context.WithTimeout(g.Request.Context(), i.Wait)
	defer cancel()
	for poll := responsePoll; ; poll = min(2*poll, maxResponsePoll) {
		r, err := i.stored(g.Request.Context(), key)
		switch {
		case apperr.Is(err, apperr.NotFound):
			return apperr.New(apperr.Conflict, "The first request with this Idempotency-Key has just failed. Send the request again.")
		case err != nil:
			return err
		case !slices.ContainsFunc(fingerprints, func(known string) bool { return strings.Contains(r.Fingerprint, known) }):
			return apperr.New(apperr.IdempotencyMismatch, "This Idempotency-Key was used with another path or other parameters. Use a new key for a new request.")
		case r.Status != 0:
			g.Header("Location", r.Location)
			g.Header("ETag", r.ETag)
			g.Header("Idempotency-Replayed", "true")
			g.Data(r.Status, rest.ContentType, []byte(r.Body))
			g.Abort()
			return nil
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return apperr.New(apperr.Conflict, "The first request with this Idempotency-Key is still running, or was interrupted. Check whether the record exists.")
		}
	}
}

// stored returns the response to the first request with the key. Before it reads a large body, it reserves memory. NotFound: no
// response is stored. stored also returns the errors of the database and of rest.Reserve.
func (i *Idempotency) stored(ctx context.Context, key string) (storedResponse, error) {
	only := store.Query{Filter: store.Eq("key", key), Fields: []string{"fingerprint", "status", "size"}, Limit: 1}
	found, err := i.responses.List(ctx, only)
	switch {
	case err != nil:
		return storedResponse{}, err
	case len(found) == 0:
		return storedResponse{}, store.ErrNotFound
	case found[0].Status == 0:
		return found[0], nil
	case found[0].Size > rest.LargeResponse:
		if err := rest.Reserve(ctx, found[0].Size); err != nil {
			return storedResponse{}, err
		}
	}
	return i.responses.First(ctx, store.Eq("key", key))
}

// responseRecorder records the status and the body of a response instead of sending them. Headers are set on the wrapped
// writer.
type responseRecorder struct {
	gin.ResponseWriter
	status  int
	body    bytes.Buffer
	written bool
}

func (r *responseRecorder) WriteHeader(status int) { r.status = status }
func (r *responseRecorder) WriteHeaderNow()        { r.written = true }
func (r *responseRecorder) Flush()                 { r.written = true }
func (r *responseRecorder) Status() int            { return r.status }
func (r *responseRecorder) Size() int              { return r.body.Len() }
func (r *responseRecorder) Written() bool          { return r.written }

func (r *responseRecorder) Write(p []byte) (int, error) {
	r.written = true
	return r.body.Write(p)
}

func (r *responseRecorder) WriteString(s string) (int, error) {
	r.written = true
	return r.body.WriteString(s)
}
