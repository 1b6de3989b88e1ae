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
	lease      = time.Minute      // how long a call of f without a transaction excludes others
	maxRun     = 50 * time.Second // time limit of that call; the rest of the lease is for differences between clocks
	endTimeout = 5 * time.Second  // time limit for recording its result
	maxKey     = 512              // maximum bytes of message.Key
)

// message is a message that was received.
type message struct {
	store.Meta `bson:",inline"`
	Key        string     `json:"key"`       // the id that the sender has given it, for people
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
// and the next message with the id calls f again. ValidationFailed: id is "".
//
// If the database has transactions, f runs in a store.DB.Atomic that also records the id, and its rules apply: the effect is stored
// once or not at all, also if the same message arrives several times at the same time, or the service is killed. f must have no
// effects except writes with its context, queued emails and store.AfterCommit.
//
// On a MongoDB server without transactions, each write of f is stored immediately. Messages with the same id do not run f at the
// same time: Do returns Unavailable for the others. If the service is killed after a write of f, or the database fails, the
// message remains without a result: it calls f again a minute later, so f must be able to repeat its writes. f has 50 seconds.
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
		if known, err := m.messages.Exists(ctx, store.Eq("id", ID(id))); err != nil || known {
			return err
		}
		if err := m.messages.Insert(ctx, m.message(id, nil)); err != nil {
			duplicate = apperr.Is(err, apperr.Conflict) // another transaction has stored it since this one began
			return err
		}
		return f(ctx)
	})
	if duplicate {
		return nil
	}
	return err
}

// claim is Do without transactions.
func (m *Messages) claim(ctx context.Context, id string, f func(context.Context) error) error {
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
		if known.ClaimedUntil.After(m.now()) {
			return errInProgress
		}
		isKnown := store.And(store.Eq("id", known.ID), store.Eq("version", known.Version))
		claimed, err = m.messages.Update(ctx, isKnown, store.Set("claimedUntil", until), store.Set("expiresAt", claimed.ExpiresAt))
		err = apperr.Replace(err, apperr.NotFound, errInProgress)
	}
	if err != nil {
		return err
	}
	running, cancel := context.WithTimeout(ctx, maxRun)
	defer cancel()
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

// errInProgress lets the sender repeat the message.
var errInProgress = apperr.New(apperr.Unavailable, "The same message is being processed. Send it again later.")

func (m *Messages) message(id string, claimedUntil *store.Time) message {
	now := m.now()
	return message{store.NewMeta(ID(id), store.At(now)), strings.ToValidUTF8(id[:min(len(id), maxKey)], ""), store.At(now.Add(m.retention)), claimedUntil}
}

// ID returns an ID that is always the same for the id of a message. If f inserts a record with this ID, and ignores Conflict, it can
// repeat the insertion.
func ID(id string) store.ID {
	sum := sha256.Sum256([]byte(id))
	return store.ID(sum[:len(store.ID{})])
}
