package emailtest

import (
	"context"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/store"
)

// Full returns db with an email queue that appears to be full and therefore accepts no more emails.
func Full(db store.DB) store.DB { return full{db} }

type full struct{ store.DB }

func (d full) Open(spec store.Spec) store.Engine {
	engine := d.DB.Open(spec)
	if spec.Name == email.Collection {
		return fullQueue{engine}
	}
	return engine
}

type fullQueue struct{ store.Engine }

func (q fullQueue) List(ctx context.Context, query store.Query, next func() any) (int64, error) {
	if next == nil && query.Filter == store.Eq("status", email.Pending) { // Enqueue counts the waiting emails
		return 1e9, nil
	}
	return q.Engine.List(ctx, query, next)
}
