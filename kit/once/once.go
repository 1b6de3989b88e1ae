// Package once processes messages that can arrive several times, such as webhooks: each message has its effect once.
//
//	events := once.New(d.DB, d.Now, "payment-events", 30*24*time.Hour)
//	err := events.Do(ctx, event.ID, func(ctx context.Context) error { … }) // writes with ctx
//
// The Jobs of the module's kit.Parts include events.Job().
package once

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/store"
)

const (
	lease      = time.Minute      // how long a call without a transaction excludes others
	maxRun     = 50 * time.Second // time limit of f in such a call; shorter than lease, because clocks of instances differ
	endTimeout = 5 * time.Second  // time limit for recording the result of such a call
	maxKey     = 512              // maximum bytes of message.Key
)

// message is a message that was received.
type message struct {
	store.Meta `bson:",inline"`
	Key        string     `json:"key"`       // the sender's ID of the message, for debugging
	ExpiresAt  store.Time `json:"expiresAt"` // when the document may be deleted
	// ClaimedUntil is nil if the message has had its effect. Until this time, no other call may begin.
	ClaimedUntil *store.Time `json:"claimedUntil"`
}

// Messages are the messages that a module has received from a sender.
type Messages struct {
	db        store.DB
	now       func() time.Time
	name      string
	retention time.Duration
	messages  *store.Collection[message]
}

// New declares the collection with the name, such as "payment-events". Call New before DB.Prepare, for each sender. retention is how
// long a message is recognized; it must be longer than the sender can repeat a message.
func New(db store.DB, now func() time.Time, name string, retention time.Duration) *Messages {
	if retention <= lease {
		panic(fmt.Sprintf("once: the retention of %s must be longer than %s", name, lease))
	}
	spec := store.Spec{Name: name, Indexes: []store.Index{{Fields: []string{"expiresAt"}}}}
	return &Messages{db, now, name, retention, store.Open[message](db, spec)}
}

// Job returns the job that deletes expired messages.
func (m *Messages) Job() job.Job {
	return job.Job{Name: "expired-" + m.name, Interval: job.SweepInterval, Run: func(ctx context.Context) error {
		_, err := m.messages.Delete(ctx, store.Lte("expiresAt", store.At(m.now())))
		return err
	}}
}

// Do calls f, unless the message with the id has already had its effect; it then returns nil. If f returns an error, Do returns it,
// and the next message with the id calls f again. ValidationFailed: id is "". Unavailable: a call without transactions is
// processing the same message, or its process was killed less than a minute ago.
//
// If the database has transactions, f runs in a store.DB.Atomic that also records the id, and its rules apply: the effect is stored
// once or not at all, also if the same message arrives several times at the same time, or the service is killed. f must have no
// effects except writes with its context, queued emails and store.AfterCommit. Do not call Do in an Atomic: if another call
// processes the same message at the same time, Do can return nil although the Atomic fails with Conflict.
//
// On a MongoDB server without transactions, each write of f is stored immediately. Messages with the same id do not run f at the
// same time. If f panics, the service is killed after a write of f, or the database fails, the message remains without a result:
// Do returns Unavailable for a minute, and then calls f again. f must therefore be able to repeat its writes. f must end within 50
// seconds of the call of Do. In a handler, the time limit is that of the request: 30 seconds.
func (m *Messages) Do(ctx context.Context, id string, f func(context.Context) error) error {
	if id == "" { // all messages without an ID would be the same
		return apperr.New(apperr.ValidationFailed, "The message has no ID.")
	}
	duplicate := false
	err := m.db.Together(ctx, func(ctx context.Context) error {
		duplicate = false // the function can be repeated
		if store.IsSeparate(ctx) {
			return m.claim(ctx, id, f)
		}
		known, err := m.messages.Get(ctx, m.ID(id))
		switch {
		case apperr.Is(err, apperr.NotFound):
			err = m.messages.Insert(ctx, m.message(id, nil))
			duplicate = apperr.Is(err, apperr.Conflict) // another call has stored it since this transaction began
		case err == nil && known.ClaimedUntil == nil:
			return nil
		case err == nil: // claimed by a process without transactions, such as before a single server became a replica set
			_, err = m.take(ctx, known, nil)
		}
		if err != nil {
			return err
		}
		return f(ctx)
	})
	if !duplicate {
		return err
	}
	known, err := m.messages.Get(ctx, m.ID(id))
	if err == nil && known.ClaimedUntil != nil { // by a process without transactions, whose f can still fail
		return errInProgress
	}
	return apperr.Replace(err, apperr.NotFound, errInProgress)
}

// claim is Do without transactions.
func (m *Messages) claim(ctx context.Context, id string, f func(context.Context) error) error {
	// The time limit and the lease begin at the same time, before the operations of the database.
	running, cancel := context.WithTimeout(ctx, maxRun)
	defer cancel()
	until := store.At(m.now().Add(lease))
	claimed := m.message(id, &until)
	err := m.messages.Insert(ctx, claimed)
	if apperr.Is(err, apperr.Conflict) {
		var known message
		if known, err = m.messages.Get(ctx, claimed.ID); err != nil {
			return apperr.Replace(err, apperr.NotFound, errInProgress) // the other call has failed, and released the message
		}
		if known.ClaimedUntil == nil {
			return nil
		}
		claimed, err = m.take(ctx, known, &until)
	}
	if err != nil {
		return err
	}
	failed := f(running)

	// Record the result even if the client has disconnected. If that fails, the lease ends.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	isClaimed := store.And(store.Eq("id", claimed.ID), store.Eq("version", claimed.Version))
	if failed != nil {
		_, _ = m.messages.Delete(ending, isClaimed)
		return failed
	}
	_, err = m.messages.Update(ending, isClaimed, store.Unset("claimedUntil"))
	return apperr.Replace(err, apperr.NotFound, nil) // f has taken longer than the lease, and another call has begun
}

// take replaces the claim of a message whose lease has ended. until is nil in a transaction, which needs no claim. errInProgress:
// the lease has not ended, or another call has taken the message.
func (m *Messages) take(ctx context.Context, known message, until *store.Time) (message, error) {
	now := m.now()
	if known.ClaimedUntil.After(now) {
		return known, errInProgress
	}
	claim := store.Unset("claimedUntil")
	if until != nil {
		claim = store.Set("claimedUntil", *until)
	}
	isKnown := store.And(store.Eq("id", known.ID), store.Eq("version", known.Version))
	taken, err := m.messages.Update(ctx, isKnown, claim, store.Set("expiresAt", store.At(now.Add(m.retention))))
	return taken, apperr.Replace(err, apperr.NotFound, errInProgress)
}

// errInProgress lets the sender repeat the message.
var errInProgress = apperr.New(apperr.Unavailable, "The same message is being processed. Send it again later.")

func (m *Messages) message(id string, claimedUntil *store.Time) message {
	now := m.now()
	return message{store.NewMeta(m.ID(id), store.At(now)), strings.ToValidUTF8(id[:min(len(id), maxKey)], ""), store.At(now.Add(m.retention)), claimedUntil}
}

// ID returns the ID for the message with the id. It is always the same, and differs from the IDs of Messages with other names. If f
// inserts a record with this ID, a later run of f can find the record, for example after retention:
//
//	known, err := payments.Exists(ctx, store.Eq("id", events.ID(event.ID)))
//
// Insert the record only if it is unknown. Do not insert it and ignore Conflict: any error but NotFound fails a transaction.
func (m *Messages) ID(id string) store.ID {
	sum := sha256.Sum256([]byte(m.name + "\x00" + id))
	return store.ID(sum[:len(store.ID{})])
}
