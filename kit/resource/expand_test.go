package resource

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// watched is a Target that calls before in each Find. It counts the calls of Find, and the maximum number of records per call.
type watched struct {
	*Collection[node]
	calls, most atomic.Int64
	before      func(ctx context.Context)
}

func (c *watched) Find(ctx context.Context, caller access.Principal, ids []store.ID, size *store.Size, fields ...string) (map[store.ID]any, []store.ID, error) {
	c.calls.Add(1)
	if c.before != nil {
		c.before(ctx)
	}
	found, unread, err := c.Collection.Find(ctx, caller, ids, size, fields...)
	c.most.Store(max(c.most.Load(), int64(len(found))))
	return found, unread, err
}

// largeTargets returns a collection with one record that refers to n records of the size, the collection of these records, and
// the view of the record.
func largeTargets(w world, n, size int) (*Collection[node], *watched, view) {
	targets := &watched{Collection: w.open("targets", Public, Public)}
	nodes := w.open("nodes", Public, Public, To("many", targets, Clear))
	var many []store.ID
	for range n {
		many = append(many, w.add(targets.Collection, node{Name: strings.Repeat("x", size)}))
	}
	w.add(nodes, node{Many: many})
	return nodes, targets, view{Many: many}
}

var expandMany = listing.Query{Query: store.Query{Limit: 5}, Expand: []string{"many"}}

func sharer() string { return "" }

// TestExpandReservesAsItGrows expands more than the budget. The remaining records must not be read.
func TestExpandReservesAsItGrows(t *testing.T) {
	testdb.SQLiteOnly(t)
	w := newWorld(t)
	nodes, targets, one := largeTargets(w, 9, 400<<10)
	budget := rest.NewBudget(4*4<<20, 4*1<<20, time.Millisecond)
	for name, expand := range map[string]func(context.Context) error{
		"list": func(ctx context.Context) error {
			_, err := List(ctx, nodes, nobody, expandMany, node.view)
			return err
		},
		"record": func(ctx context.Context) error {
			_, err := ExpandView(ctx, nodes, nobody, url.Values{"expand": {"many"}}, one)
			return err
		},
	} {
		targets.calls.Store(0)
		ctx, release := budget.Context(t.Context(), sharer)
		w.want(expand(ctx), apperr.Unavailable)
		release()
		if n := targets.calls.Load(); n > 6 {
			t.Errorf("%s: %d queries before the error", name, n)
		}
		ctx, release = rest.NewBudget(4*32<<20, 4*32<<20, time.Millisecond).Context(t.Context(), sharer)
		w.want(expand(ctx), "")
		release()
	}
	if n := targets.most.Load(); n > expandBytes/(400<<10) {
		t.Errorf("a query reads %d records", n)
	}
	ctx, release := budget.Context(t.Context(), sharer)
	w.want(rest.ReservePage(ctx, 4<<20), "") // the quarter of the budget is free again
	release()
}

// TestExpandConcurrently makes several requests that have a part of the budget and need more than is free. The requests must not
// wait for each other.
func TestExpandConcurrently(t *testing.T) {
	testdb.SQLiteOnly(t)
	w := newWorld(t)
	nodes, targets, _ := largeTargets(w, 4, 500<<10)
	const requests = 12
	first := listing.MaxPageBytes + readBytes // the share that a request waits for
	budget := rest.NewBudget(4*2*int64(first), 1, time.Minute)
	var holders atomic.Int64
	both := make(chan struct{})
	targets.before = func(ctx context.Context) {
		if !rest.Reserved(ctx) {
			return
		}
		if holders.Add(1) == 2 {
			close(both)
		}
		<-both // until two requests have the quarter of the budget
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	request := func() error {
		ctx, release := budget.Context(ctx, sharer)
		defer release()
		_, err := List(ctx, nodes, nobody, expandMany, node.view)
		return err
	}
	errs := make(chan error)
	for range requests {
		go func() { errs <- request() }()
	}
	for range requests {
		if err := <-errs; err != nil && !apperr.Is(err, apperr.Unavailable) {
			t.Error(err)
		}
	}
	if ctx.Err() != nil {
		t.Fatal("the requests waited for each other")
	}
	w.want(request(), "")
}

// TestFindInParts reads records in parts, some of which the caller does not see.
func TestFindInParts(t *testing.T) {
	w := newWorld(t)
	owners := w.open("owners", Own, Own)
	targets := w.open("targets", nil, nil, Under("to", owners))
	mine, others := w.add(owners, node{UserID: alice.UserID}), w.add(owners, node{UserID: bob.UserID})
	var ids []store.ID
	for i := range 20 {
		to := mine
		if i%5 > 0 {
			to = others
		}
		ids = append(ids, w.add(targets, node{To: to, Name: strings.Repeat("x", 1000)}))
	}
	seen, parts := map[store.ID]bool{}, 0
	for unread := append([]store.ID{store.NewID()}, ids...); len(unread) > 0; parts++ {
		found, rest, err := targets.Find(t.Context(), alice, unread, &store.Size{Max: 2500})
		if w.want(err, ""); len(rest) >= len(unread) {
			t.Fatalf("%d of %d IDs are left", len(rest), len(unread))
		}
		for id := range found {
			seen[id] = true
		}
		unread = rest
	}
	if len(seen) != 4 || parts < 5 {
		t.Errorf("%d records in %d parts", len(seen), parts)
	}
}

// heavy is a target with one record of 1 MiB. It counts how often the record is encoded.
type heavy struct{ encoded int }

func (h *heavy) Find(_ context.Context, _ access.Principal, ids []store.ID, size *store.Size, _ ...string) (map[store.ID]any, []store.ID, error) {
	size.Add(1 << 20)
	return map[store.ID]any{ids[0]: h}, nil, nil
}

func (h *heavy) lock(context.Context, []store.ID) error     { return nil }
func (h *heavy) referredBy(planner, remover, restricts)     {}
func (h *heavy) hasGroup() bool                             { return false }
func (h *heavy) exists(context.Context, store.ID) error     { return nil }
func (h *heavy) removed(context.Context) ([]removal, error) { return nil, nil }
func (h *heavy) resource() string                           { return "heavy" }

func (h *heavy) rules(context.Context, access.Principal) (string, error) { return "", nil }

func (h *heavy) groupsOf(context.Context, []store.ID) (map[store.ID]store.ID, access.MembershipReader, error) {
	return nil, nil, nil
}

// MarshalJSON implements json.Marshaler.
func (h *heavy) MarshalJSON() ([]byte, error) {
	h.encoded++
	return []byte("{}"), nil
}

// TestReserveBeforeEncoding reads a record that needs a share of the budget. The share must be reserved before the encoding.
func TestReserveBeforeEncoding(t *testing.T) {
	t.Parallel()
	target := &heavy{}
	used := &meter{reserved: rest.LargeResponse, reserve: func(int64) error { return errNoShare }}
	_, err := Reference{target: target}.encode(t.Context(), nobody, []store.ID{store.NewID()}, used)
	if !errors.Is(err, errNoShare) || target.encoded > 0 {
		t.Errorf("%v, encoded %d times", err, target.encoded)
	}
}
