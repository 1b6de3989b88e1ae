package telemetry

import (
	"context"

	"example.com/ginseng/kit/meter"
)

// Hasher hashes passwords, and verifies them.
type Hasher interface {
	Hash(ctx context.Context, password string) (string, error)
	Verify(ctx context.Context, password, hash string) (match, outdated bool, err error)
}

// Hasher is h with every call seen, and its own metrics if it has some.
func (o *Observer) Hasher(h Hasher) Hasher {
	if o == nil {
		return h
	}
	if metered, ok := h.(meter.Metered); ok {
		o.Meter(metered)
	}
	if o.traces == nil {
		return h
	}
	return hasher{h, o.traces}
}

type hasher struct {
	Hasher
	traces *traces
}

func (h hasher) Hash(ctx context.Context, password string) (string, error) {
	ctx, span := h.traces.Start(ctx, "hash password")
	hash, err := h.Hasher.Hash(ctx, password)
	end(span, err)
	return hash, err
}

func (h hasher) Verify(ctx context.Context, password, hash string) (match, outdated bool, err error) {
	ctx, span := h.traces.Start(ctx, "verify password")
	match, outdated, err = h.Hasher.Verify(ctx, password, hash)
	end(span, err)
	return match, outdated, err
}
