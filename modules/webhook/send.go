package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/signature"
	"example.com/ginseng/kit/store"
)

const (
	attemptTimeout = 15 * time.Second   // time limit of an attempt
	maxReason      = 300                // maximum bytes of Delivery.Error
	maxResponse    = 64 << 10           // maximum bytes of a response body that are read, so that the connection can be reused
	jitter         = 0.1                // maximum random extension of a delay, as a fraction of the delay
	giveUp         = 5 * 24 * time.Hour // how long all attempts must fail before the webhook is disabled
	testType       = "webhook.test"
)

// backoff has the delays between the attempts to send an event.
var backoff = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// retried is the result label of an attempt that failed and is repeated. The other labels are delivered and failed.
const retried = "retried"

var errSealed = errors.New("webhook: a secret cannot be decrypted: its key is missing from MASTER_KEY")

// result is the result of an attempt.
type result struct {
	status   int // status of the response; 0 if there was no response
	duration time.Duration
	reason   string // "" if the event was delivered
}

// deliver attempts to send a delivery of a lane, and stores the result. After an error, the delivery remains due. NotFound: the
// webhook was deleted.
func (s *Service) deliver(ctx context.Context, id store.ID, lane string) error {
	d, err := s.deliveries.First(ctx, store.And(store.Eq("id", id), store.Eq("lane", lane)))
	if err != nil {
		return apperr.Replace(err, apperr.NotFound, nil) // the delivery was sent or deleted
	}
	w, err := s.webhooks.Get(ctx, d.WebhookID)
	if err != nil {
		return err
	}
	if w.Enabled {
		w.Enabled, err = s.mayManage(ctx, w)
		if err == nil && !w.Enabled {
			err = s.disable(ctx, w, "The admin who created or last changed it was suspended or deleted, or is no longer an admin.")
		}
		if err != nil {
			return err
		}
	}
	if !w.Enabled {
		return s.save(ctx, d, failed, result{reason: "The webhook is disabled."})
	}
	body, err := s.bodyOf(ctx, d)
	if errors.Is(err, errNoBody) {
		return s.save(ctx, d, failed, result{reason: "The body is no longer in the database."})
	}
	if err != nil {
		return apperr.Replace(err, apperr.NotFound, nil) // the delivery was deleted, or another instance has the lane
	}
	r, err := s.attempt(ctx, w, d.ID, body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	return s.conclude(ctx, w, d, r)
}

func encode(eventType string, at store.Time, data any) (string, error) {
	var b bytes.Buffer
	err := store.EncodeJSON(&b, struct {
		Type      string     `json:"type"`
		Timestamp store.Time `json:"timestamp"`
		Data      any        `json:"data"`
	}{eventType, at, data})
	return b.String(), err
}

// attempt sends the body of a delivery once, and returns the result even if the request fails. Unavailable: ctx ended, or the database is
// unavailable. errSealed: a secret cannot be decrypted.
func (s *Service) attempt(ctx context.Context, w Webhook, delivery store.ID, body string) (result, error) {
	secrets, err := s.secrets(ctx, w)
	if err != nil {
		return result{}, err
	}
	begun := time.Now()
	attemptCtx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	status, err := s.sender.send(attemptCtx, w.URL, delivery.Hex(), body, s.now(), secrets)
	if ctx.Err() != nil {
		return result{}, store.Unavailable(ctx.Err())
	}
	return result{status, time.Since(begun), reason(status, err)}, nil
}

// reason returns the reason why an attempt failed, or "" if the attempt succeeded.
func reason(status int, err error) string {
	var unknown *net.DNSError
	switch {
	case err == nil && status/100 == 2:
		return ""
	case err == nil:
		return fmt.Sprintf("The response has the status %d.", status)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("There was no response within %d s.", int(attemptTimeout.Seconds()))
	case errors.Is(err, errAddress):
		return "The address of the host is not public, and WEBHOOK_NETWORKS does not allow it."
	case errors.As(err, &unknown):
		return "The name of the host cannot be resolved."
	}
	text := strings.ToValidUTF8("The request failed: "+err.Error(), "?")
	return strings.ToValidUTF8(text[:min(len(text), maxReason)], "")
}

// conclude stores the result of an attempt. It disables the webhook if the receiver responded 410 Gone, or if all attempts have
// failed for giveUp.
func (s *Service) conclude(ctx context.Context, w Webhook, d Delivery, r result) error {
	now := s.now()
	if r.reason == "" {
		if w.FailingSince != nil {
			_, err := s.webhooks.Update(ctx, store.Eq("id", w.ID), store.Unset("failingSince"))
			if err != nil {
				return err
			}
		}
		return s.save(ctx, d, delivered, r)
	}
	switch {
	case d.Type == testType:
		return s.save(ctx, d, failed, r)
	case r.status == http.StatusGone:
		if err := s.disable(ctx, w, "The receiver responded 410 Gone."); err != nil {
			return err
		}
	case w.FailingSince == nil:
		_, err := s.webhooks.Update(ctx, store.And(store.Eq("id", w.ID), store.Eq("failingSince", nil)), store.Set("failingSince", store.At(now)))
		if apperr.Replace(err, apperr.NotFound, nil) != nil {
			return err
		}
	case now.Sub(w.FailingSince.Time) >= giveUp:
		if err := s.disable(ctx, w, "All requests of the last five days failed. The last reason: "+r.reason); err != nil {
			return err
		}
	}
	if d.Attempts >= int64(len(backoff)) || r.status == http.StatusGone {
		return s.save(ctx, d, failed, r)
	}
	delay := backoff[d.Attempts]
	at := store.At(now.Add(delay + time.Duration(rand.Float64()*jitter*float64(delay))))
	if err := s.save(ctx, d, pending, r, store.Set("lane", retry), store.Set("nextAttemptAt", at)); err != nil {
		return err
	}
	return s.touch(ctx, d.WebhookID, retry, at)
}

// save stores the result of an attempt and the new status of the delivery. It stores nothing if another attempt has ended since d
// was read.
func (s *Service) save(ctx context.Context, d Delivery, status string, r result, changes ...store.Change) error {
	outcome := status
	if status == pending {
		outcome = retried
	} else {
		changes = append(changes, store.Set("lane", ""), store.Unset("nextAttemptAt"))
	}
	changes = append(changes, store.Set("status", status), store.Set("error", r.reason), store.Unset("responseStatus"))
	if r.status != 0 {
		changes[len(changes)-1] = store.Set("responseStatus", int64(r.status))
	}
	if r.duration != 0 { // there was an attempt
		changes = append(changes, store.Inc("attempts", 1), store.Set("durationMs", r.duration.Milliseconds()))
		s.attempts.Inc(outcome)
	}
	_, err := s.deliveries.Update(ctx, store.And(store.Eq("id", d.ID), store.Eq("attempts", d.Attempts)), changes...)
	return apperr.Replace(err, apperr.NotFound, nil)
}

// Test sends an event of the type webhook.test to a webhook once, even if the webhook is disabled, and returns the result.
// NotFound: there is no such webhook.
func (s *Service) Test(ctx context.Context, id store.ID) (Delivery, error) {
	w, err := s.webhooks.Get(ctx, id)
	if err != nil {
		return Delivery{}, err
	}
	now := store.At(s.now())
	d := Delivery{Meta: store.NewMeta(store.NewID(), now), WebhookID: id, Type: testType, EventAt: now, Status: failed, Attempts: 1}
	d.Body, err = encode(d.Type, now, map[string]any{"id": id})
	if err != nil {
		return d, err
	}
	r, err := s.attempt(ctx, w, d.ID, d.Body)
	if err != nil {
		return d, err
	}
	if r.reason == "" {
		d.Status = delivered
	}
	status, ms := int64(r.status), r.duration.Milliseconds()
	d.Error, d.DurationMs = r.reason, &ms
	if status != 0 {
		d.ResponseStatus = &status
	}
	s.attempts.Inc(d.Status)
	return d, s.deliveries.Insert(ctx, d)
}

// sender sends signed requests to allowed addresses.
type sender struct {
	userAgent string
	allowed   addresses
	public    *http.Client // for https: connects only to public addresses and networks in WEBHOOK_NETWORKS
	private   *http.Client // for http: connects only to networks in WEBHOOK_NETWORKS
}

// send sends a request, and returns the status of the response.
func (s *sender) send(ctx context.Context, url, id, body string, now time.Time, secrets [][]byte) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	timestamp := strconv.FormatInt(now.Unix(), 10)
	request.Header = http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {s.userAgent},
		signature.HeaderID: {id}, signature.HeaderTimestamp: {timestamp},
		signature.HeaderSignature: {signature.Standard(secrets, id, timestamp, []byte(body))},
	}
	client := s.public
	if request.URL.Scheme == "http" {
		client = s.private
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.CopyN(io.Discard, response.Body, maxResponse) // an error does not matter: the status is the result
	return response.StatusCode, nil
}
