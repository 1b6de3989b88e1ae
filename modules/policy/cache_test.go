package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// TestWriteDuringLoad makes a write after a reader read the policies and before it keeps them. The next evaluation sees
// the write, because the reader read the stamp before the policies.
func TestWriteDuringLoad(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, reader := w.service(), w.service()
	w.create(s, "n", "1", "a")
	w.next("List policies", func(do func() error) error {
		err := do()
		w.create(s, "n", "2", "a")
		return err
	})
	w.expect(reader, "1")
	w.expect(reader, "1 2")
}

// TestLoadDuringWrite interrupts a write before and after the policy is stored. Another instance then makes a write, and a reader
// evaluates. The next evaluation sees both writes, because a writer sets the stamp after the write.
func TestLoadDuringWrite(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, other, reader := w.service(), w.service(), w.service()
	w.next("Insert policies", func(do func() error) error {
		w.create(other, "n", "1", "a")
		w.expect(reader, "1")
		return do()
	})
	w.create(s, "n", "2", "a")
	w.expect(reader, "1 2")
	w.next("Insert policies", func(do func() error) error {
		err := do()
		w.create(other, "n", "3", "a")
		w.expect(reader, "1 2 3 4")
		return err
	})
	w.create(s, "n", "4", "a")
	w.expect(reader, "1 2 3 4")
}

// TestFirstWriters has two instances insert the first stamp of a namespace at the same time.
func TestFirstWriters(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, other, reader := w.service(), w.service(), w.service()
	w.next("Insert policy-stamps", func(do func() error) error {
		w.create(other, "n", "2", "a")
		w.expect(reader, "1 2")
		return do()
	})
	before := w.count("Update policy-stamps")
	w.create(s, "n", "1", "a")
	w.expect(reader, "1 2")
	if n := w.count("Update policy-stamps") - before; n != 3 {
		t.Errorf("%d updates of the stamp, want 3", n)
	}
}

// TestFailedWrite makes writes that fail after they were stored: the connection is lost, or the client disconnects. The next
// evaluation sees the writes.
func TestFailedWrite(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, reader := w.service(), w.service()
	ctx, leave := context.WithCancel(t.Context())
	attempt := func(name string, after func() error) {
		t.Helper()
		w.next("Insert policies", func(do func() error) error { return errors.Join(do(), after()) })
		if _, err := s.Create(ctx, Input{Namespace: "n", Name: name}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	w.expect(reader, "")
	attempt("1", func() error { return store.Unavailable(errors.New("connection lost")) })
	w.expect(reader, "1")
	attempt("2", func() error { leave(); return ctx.Err() })
	w.expect(reader, "1 2")
}

// TestStampNotWritten checks that a write without its stamp is not acknowledged, and becomes visible when snapshots expire. A
// crash between the write and its stamp has the same effect.
func TestStampNotWritten(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, reader := w.service(), w.service()
	first := w.create(s, "n", "1", "a")
	w.expect(reader, "1")
	w.next("Update policy-stamps", func(func() error) error { return errors.New("lost") })
	if _, err := s.Create(t.Context(), Input{Namespace: "n", Name: "2"}); !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("the error is %v, want Unavailable", err)
	}
	w.next("Update policy-stamps", func(func() error) error { return errors.New("lost") })
	if err := s.Delete(t.Context(), first.ID, nil); !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("the error is %v, want Unavailable", err)
	}
	w.clock = w.clock.Add(maxAge - time.Millisecond)
	w.expect(reader, "1")
	w.clock = w.clock.Add(time.Millisecond)
	w.expect(reader, "2")
}

// TestRejectedWrite checks that a rejected write also sets a stamp.
func TestRejectedWrite(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, reader := w.service(), w.service()
	w.create(s, "n", "1", "a")
	w.expect(reader, "1")
	w.insert(s, "2")
	if _, err := s.Create(t.Context(), Input{Namespace: "n", Name: "2"}); !apperr.Is(err, apperr.Conflict) {
		t.Errorf("the error is %v, want Conflict", err)
	}
	w.expect(reader, "1 2")
}

// TestInvalidSelector checks that invalid selectors of Go callers are rejected: they would make every evaluation of the namespace fail.
func TestInvalidSelector(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.service()
	p := w.create(s, "n", "1", "a")
	for _, selector := range []*Selector{{}, {map[string]string{}}, {map[string]string{"app": "*"}}} {
		if _, err := s.Create(t.Context(), Input{Namespace: "n", Name: "2", Selector: selector}); !apperr.Is(err, apperr.ValidationFailed) {
			t.Errorf("Create %v: the error is %v, want ValidationFailed", selector, err)
		}
		in := store.Patch[Input]{Fields: Input{Selector: selector}, Given: []string{"selector"}}
		if _, err := s.Update(t.Context(), p.ID, nil, in); !apperr.Is(err, apperr.ValidationFailed) {
			t.Errorf("Update %v: the error is %v, want ValidationFailed", selector, err)
		}
	}
	w.expect(s, "1")
}

// TestVersions changes and deletes a policy that has another version than expected, also one that another request changes between
// the check and the write.
func TestVersions(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, other := w.service(), w.service()
	p := w.create(s, "n", "1", "a")
	rename := func(s *Service, name string, expected store.Versions) error {
		_, err := s.Update(t.Context(), p.ID, expected, store.Patch[Input]{Fields: Input{Name: name}, Given: []string{"name"}})
		return err
	}
	stale := store.Versions{p.Version}
	w.next("Update policies", func(do func() error) error {
		w.must(rename(other, "2", stale))
		return do()
	})
	for what, err := range map[string]error{
		"a change at the same time": rename(s, "3", stale), "a change": rename(s, "3", stale), "a deletion": s.Delete(t.Context(), p.ID, stale),
	} {
		if !apperr.Is(err, apperr.PreconditionFailed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := s.Update(t.Context(), p.ID, stale, store.Patch[Input]{}); !apperr.Is(err, apperr.PreconditionFailed) {
		t.Errorf("a change of nothing: %v", err)
	}
	w.expect(s, "2")
	w.must(rename(s, "4", nil))
	w.must(s.Delete(t.Context(), p.ID, store.Versions{p.Version + 2}))
}

// TestEmptiedNamespace deletes all policies of a namespace and creates one again. A snapshot from before the first
// stamp must not become valid again.
func TestEmptiedNamespace(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, reader, other := w.service(), w.service(), w.service()
	imported := w.insert(s, "1")
	w.expect(reader, "1")
	w.must(s.Delete(t.Context(), imported.ID, nil))
	w.expect(reader, "")
	w.expect(other, "")
	again := w.create(other, "n", "1", "b")
	w.expect(reader, "")
	w.must(s.Delete(t.Context(), again.ID, nil))
	w.create(s, "n", "1", "a")
	w.expect(reader, "1")
	w.expect(other, "1")
}

// TestStampede starts many evaluations during a load. The evaluations use the snapshot of the load.
func TestStampede(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.service()
	w.create(s, "n", "1", "a")
	var running sync.WaitGroup
	w.next("List policies", func(do func() error) error {
		startCallers(w, s, &running, "1")
		return do()
	})
	w.expect(s, "1")
	running.Wait()
	if n := w.count("List policies"); n != 1 {
		t.Errorf("%d loads, want 1", n)
	}
}

// TestDisconnectedCaller checks that a caller stops waiting for a load when its context ends.
func TestDisconnectedCaller(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.service()
	w.create(s, "n", "1", "a")
	ctx, cancel := context.WithCancel(w.Context())
	disconnected := make(chan error, 1)
	w.next("List policies", func(do func() error) error {
		cancel()
		if err := <-disconnected; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		return do()
	})
	go func() {
		_, err := s.cache.get(ctx, "n")
		disconnected <- err
	}()
	<-ctx.Done()
	w.expect(s, "1")
}

// startCallers starts evaluations, and returns when each of them has begun.
func startCallers(w *fixture, s *Service, running *sync.WaitGroup, want string) {
	var arrived sync.WaitGroup
	for range 30 {
		arrived.Add(1)
		running.Go(func() {
			_, _, err := s.cache.lookup(w.Context(), "n")
			arrived.Done()
			if err != nil {
				w.Error(err)
			}
			w.expect(s, want)
		})
	}
	arrived.Wait()
}

// TestLateCallers makes a write during a load. Evaluations that begin after the write must not share this load; they share the
// next load.
func TestLateCallers(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, other := w.service(), w.service()
	w.create(s, "n", "1", "a")
	var running sync.WaitGroup
	var loaded atomic.Bool
	w.next("List policies", func(do func() error) error {
		defer loaded.Store(true)
		err := do()
		w.create(other, "n", "2", "a")
		w.next("List policies", func(do func() error) error {
			if !loaded.Load() {
				t.Error("two loads of one namespace at the same time")
			}
			return do()
		})
		startCallers(w, s, &running, "1 2")
		return err
	})
	w.expect(s, "1")
	running.Wait()
	if n := w.count("List policies"); n != 2 {
		t.Errorf("%d loads, want 2", n)
	}
}

// TestCost counts the calls to the database that an evaluation makes.
func TestCost(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, other := w.service(), w.service()
	cost := func(what string, wantStamps, wantLoads int) {
		t.Helper()
		stamps, loads := w.count("First policy-stamps"), w.count("List policies")
		w.names(s, "a")
		stamps, loads = w.count("First policy-stamps")-stamps, w.count("List policies")-loads
		if stamps != wantStamps || loads != wantLoads {
			t.Errorf("%s: %d reads of the stamp and %d loads, want %d and %d", what, stamps, loads, wantStamps, wantLoads)
		}
	}
	cost("no policies", 2, 1)
	cost("still no policies", 1, 0)
	w.create(s, "n", "1", "a")
	cost("first", 2, 1)
	cost("nothing new", 1, 0)
	for i := range 10 {
		w.create(other, "n", fmt.Sprint("more-", i), "a")
	}
	cost("ten new", 2, 1)
	w.create(other, "m", "1", "a")
	cost("new in another namespace", 1, 0)
	w.clock = w.clock.Add(maxAge)
	cost("expired", 2, 1)
}

// TestEviction checks the limit of memory: the least recently used namespaces are removed, and loaded again on use.
func TestEviction(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.service()
	for i := range 3 {
		w.create(s, fmt.Sprint("n", i), "p", "a")
	}
	get := func(namespace string) *snapshot {
		t.Helper()
		snapshot, err := s.cache.get(t.Context(), namespace)
		w.must(err)
		return snapshot
	}
	one := get("n0").bytes
	s.cache.max = 2 * one
	first := get("n1")
	get("n0")
	get("n2")
	if keys := slices.Sorted(maps.Keys(s.cache.kept)); !slices.Equal(keys, []string{"n0", "n2"}) || s.cache.bytes != 2*one {
		t.Errorf("%v are kept, %d bytes", keys, s.cache.bytes)
	}
	if again := get("n1"); again == first || len(again.policies) != 1 {
		t.Errorf("%d policies in an evicted namespace", len(again.policies))
	}
	s.cache.max = 1
	for i := range 5 {
		w.create(s, "n1", fmt.Sprint("more-", i), "a")
	}
	large := get("n1")
	if keys := slices.Collect(maps.Keys(s.cache.kept)); len(large.policies) != 6 || !slices.Equal(keys, []string{"n1"}) || s.cache.bytes != large.bytes {
		t.Errorf("%d policies, %v are kept, %d bytes of %d", len(large.policies), keys, s.cache.bytes, large.bytes)
	}
}

// TestRandomWorld makes random writes through random instances, and compares the evaluations of random instances with a list of
// policies.
func TestRandomWorld(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	random := rand.New(rand.NewPCG(1, 2))
	instances := []*Service{w.service(), w.service(), w.service()}
	anyInstance := func() *Service { return instances[random.IntN(len(instances))] }
	app := func() string { return fmt.Sprint("app-", random.IntN(3)) }
	var alive []Policy // oldest first
	for step := range 200 {
		w.clock = w.clock.Add(time.Duration(random.IntN(10)) * time.Second)
		at := 0
		if len(alive) > 0 {
			at = random.IntN(len(alive))
		}
		switch what := random.IntN(4); {
		case what < 2 || len(alive) == 0:
			w.clock = w.clock.Add(time.Millisecond)
			alive = append(alive, w.create(anyInstance(), "n", fmt.Sprint("p", step), app()))
		case what == 2:
			in := store.Patch[Input]{Fields: Input{Selector: appIs(app())}, Given: []string{"selector"}}
			if random.IntN(4) == 0 {
				in.Fields.Selector = nil
			}
			p, err := anyInstance().Update(t.Context(), alive[at].ID, nil, in)
			w.must(err)
			alive[at] = p
		default:
			w.must(anyInstance().Delete(t.Context(), alive[at].ID, nil))
			alive = slices.Delete(alive, at, at+1)
		}
		if random.IntN(3) > 0 {
			continue // so that snapshots become old
		}
		wanted := app()
		var want []string
		for _, p := range alive {
			if p.Selector == nil || p.Selector.MatchLabels["app"] == wanted {
				want = append(want, p.Name)
			}
		}
		if got := w.names(anyInstance(), wanted); got != strings.Join(want, " ") {
			t.Fatalf("step %d: %q apply, want %q", step, got, want)
		}
	}
}
