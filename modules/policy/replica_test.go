package policy

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/testkit/testdb"
)

// world is a database with copies of the service on it.
type world struct {
	*testing.T
	options Options
	clock   time.Time
	db      store.DB

	lists    atomic.Int64 // asked of the database
	overtake func()       // is called once, before a policy is changed or deleted
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), db: testdb.Open(t)}
	w.options = Options{DB: watched{w.db, w}, Now: func() time.Time { return w.clock }, NewID: store.NewID}
	return w
}

// service makes a copy of the service.
func (w *world) service() *Service {
	w.Helper()
	s := newService(w.options)
	if err := w.db.Prepare(w.Context()); err != nil {
		w.Fatal(err)
	}
	return s
}

// watched is a database that counts what is listed, and lets a test act just before a policy is changed or deleted.
type watched struct {
	store.DB
	w *world
}

func (db watched) Open(spec store.Spec) store.Engine {
	return watchedEngine{db.DB.Open(spec), db.w, spec.Name == "policies"}
}

type watchedEngine struct {
	store.Engine
	w        *world
	policies bool
}

func (e watchedEngine) List(ctx context.Context, q store.Query, next func() any) error {
	e.w.lists.Add(1)
	return e.Engine.List(ctx, q, next)
}

func (e watchedEngine) Update(ctx context.Context, f store.Filter, changes []store.Change, into any) error {
	e.overtake()
	return e.Engine.Update(ctx, f, changes, into)
}

func (e watchedEngine) Delete(ctx context.Context, f store.Filter) (int64, error) {
	e.overtake()
	return e.Engine.Delete(ctx, f)
}

func (e watchedEngine) overtake() {
	if act := e.w.overtake; e.policies && act != nil {
		e.w.overtake = nil
		act()
	}
}

// names evaluates for a workload of the namespace n with the label app, and returns the names of what applies.
func (w *world) names(s *Service, app string) string {
	w.Helper()
	e, err := s.Evaluate(w.Context(), EvaluateInput{Namespace: "n", Instance: Source{map[string]string{"app": app}}})
	if err != nil {
		w.Fatal(err)
	}
	names := make([]string, len(e.Rows))
	for i, row := range e.Rows {
		names[i] = row.Name
	}
	return strings.Join(names, " ")
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) create(s *Service, namespace, name, app string) Policy {
	w.Helper()
	p, err := s.Create(w.Context(), CreateInput{Namespace: namespace, Name: name, Selector: appIs(app)})
	w.must(err)
	return p
}

func appIs(app string) *Selector { return &Selector{map[string]string{"app": app}} }

// claim makes a claim as another copy of the service does that has not come to its write yet.
func (w *world) claim(s *Service, p Policy, creates bool) claim {
	w.Helper()
	c, err := s.journal.claim(w.Context(), p, creates)
	w.must(err)
	return c
}

// TestWritesUnderWay holds writes up between their claims and their effects, while later ones are made and seen.
func TestWritesUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.service()
	reader := w.service()
	readers := []*Service{reader}
	expect := func(want string) {
		t.Helper()
		readers = append(readers, w.service()) // one that knows nothing yet
		for i, s := range readers {
			if got := w.names(s, "a"); got != want {
				t.Errorf("reader %d: %q apply, want %q", i, got, want)
			}
		}
	}
	first := w.create(s, "n", "1", "a")
	expect("1")

	slow := Policy{Meta: store.NewMeta(store.NewID(), store.At(w.clock)), Namespace: "n", Name: "slow", Selector: appIs("a")}
	slow.Revision = w.claim(s, slow, true).Revision
	expect("1")
	second := w.create(s, "n", "2", "a")
	expect("1 2")
	w.must(s.policies.Insert(t.Context(), slow))
	expect("1 2 slow")

	rename := w.claim(s, first, false)
	removal := w.claim(s, second, false)
	third := w.create(s, "n", "3", "a")
	expect("1 2 3 slow")
	w.must(s.policies.DeleteByID(t.Context(), second.ID, store.Versions{second.Version}))
	expect("1 3 slow")
	_, err := s.policies.UpdateByID(t.Context(), first.ID, store.Versions{first.Version}, store.Set("name", "renamed"), store.Set("revision", rename.Revision))
	w.must(err)
	expect("3 renamed slow")
	w.must(s.Delete(t.Context(), third.ID, nil))
	expect("renamed slow")
	if r := reader.replicas.use("n"); r.watermark != removal.Revision+2 || len(r.settled) != 0 {
		t.Errorf("settled up to %d and %v, of %d claims", r.watermark, r.settled, removal.Revision+2)
	}
}

// TestOvertaken has a writer come to its write after a later claim's was made and seen: it must take a later one still.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, other, reader := w.service(), w.service(), w.service()
	p := w.create(s, "n", "1", "a")
	expect := func(want string) {
		t.Helper()
		if got := w.names(reader, "a"); got != want {
			t.Errorf("%q apply, want %q", got, want)
		}
	}
	rename := func(s *Service, name string) {
		_, err := s.Update(t.Context(), p.ID, nil, UpdateInput{Name: &name})
		w.must(err)
	}
	w.overtake = func() {
		rename(other, "2")
		expect("2")
	}
	rename(s, "3")
	expect("3")
	w.overtake = func() {
		rename(other, "4")
		expect("4")
	}
	w.must(s.Delete(t.Context(), p.ID, nil))
	expect("")
	p = w.create(s, "n", "5", "a")
	w.overtake = func() { w.must(other.Delete(t.Context(), p.ID, nil)) }
	if err := s.Delete(t.Context(), p.ID, nil); !apperr.Is(err, apperr.NotFound) {
		t.Errorf("of two deletes the later has %v", err)
	}
	expect("")
}

// TestClaimsWithoutWrites shows when a claim is not looked for any more.
func TestClaimsWithoutWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.service()
	p := w.create(s, "n", "1", "a")
	settled := func(want int64) {
		t.Helper()
		w.names(s, "a")
		if r := s.replicas.use("n"); r.watermark != want {
			t.Errorf("settled up to %d, want %d", r.watermark, want)
		}
	}
	settled(1)
	if _, err := s.Create(t.Context(), CreateInput{Namespace: "n", Name: "1"}); !apperr.Is(err, apperr.Conflict) {
		t.Fatal(err)
	}
	settled(2)
	w.claim(s, Policy{Meta: store.Meta{ID: store.NewID()}, Namespace: "n"}, true) // and its writer is gone
	w.clock = w.clock.Add(claimLife)
	settled(2)
	if _, err := s.Update(t.Context(), p.ID, nil, UpdateInput{Selector: appIs("b")}); err != nil {
		t.Fatal(err)
	}
	settled(2)
	if _, ok := s.replicas.use("n").settled[4]; ok {
		t.Error("a claim is noted whose policy bears its revision")
	}
	w.clock = w.clock.Add(time.Millisecond)
	settled(4)
	if got := w.names(w.service(), "b"); got != "1" {
		t.Errorf("%q apply", got)
	}
}

// TestCost counts what an evaluation asks of the database.
func TestCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, other := w.service(), w.service()
	for i := range 10 {
		w.create(s, "n", fmt.Sprint(i), "a")
	}
	w.names(s, "a")
	cost := func(what string, want int64) {
		t.Helper()
		before := w.lists.Load()
		w.names(s, "a")
		if got := w.lists.Load() - before; got != want {
			t.Errorf("%s: %d queries, want %d", what, got, want)
		}
	}
	cost("nothing new", 1)
	for i := range 10 {
		w.create(other, "n", fmt.Sprint("more-", i), "a")
		w.create(other, "m", fmt.Sprint("elsewhere-", i), "a")
	}
	cost("ten new", 3)
	cost("nothing new again", 1)
	w.clock = w.clock.Add(replicaLife)
	cost("an hour later", 3)
}

// TestHeal shows that a replica does not live on a mistake: what was changed behind the service's back is seen an hour
// later.
func TestHeal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.service()
	p := w.create(s, "n", "1", "a")
	w.names(s, "a")
	_, err := s.policies.Update(t.Context(), store.Eq("id", p.ID), store.Set("name", "by-hand"))
	w.must(err)
	w.clock = w.clock.Add(replicaLife - time.Millisecond)
	if got := w.names(s, "a"); got != "1" {
		t.Errorf("before: %q apply", got)
	}
	w.clock = w.clock.Add(time.Millisecond)
	if got := w.names(s, "a"); got != "by-hand" {
		t.Errorf("after: %q apply", got)
	}
}

// TestForget bounds the memory: namespaces that were not used for longest go, and are read again when they are.
func TestForget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.service()
	var p Policy
	for i := range 3 {
		p = w.create(s, fmt.Sprint("n", i), "p", "a")
	}
	ask := func(namespace string) *replica {
		r, err := s.replicas.current(t.Context(), namespace)
		w.must(err)
		return r
	}
	one := ask("n0").weight
	s.replicas.maximum = 2 * one
	first := ask("n1")
	ask("n0")
	ask("n2")
	if len(s.replicas.named) != 2 || s.replicas.named["n1"] != nil || s.replicas.weight != 2*one {
		t.Errorf("%d namespaces of weight %d are kept", len(s.replicas.named), s.replicas.weight)
	}
	if again := ask("n1"); again == first || len(again.policies) != 1 {
		t.Errorf("%d policies of a namespace that was dropped", len(again.policies))
	}
	_, err := s.Update(t.Context(), p.ID, nil, UpdateInput{Selector: appIs("b")})
	w.must(err)
	if again := ask("n2").weight; again != one {
		t.Errorf("a policy that was changed weighs %d, and weighed %d", again, one)
	}
	s.replicas.maximum = 1
	for i := range 5 {
		w.create(s, "n1", fmt.Sprint("more-", i), "a")
	}
	if r := ask("n1"); len(r.policies) != 6 || len(s.replicas.named) != 1 || s.replicas.weight != r.weight {
		t.Errorf("%d policies, %d namespaces, weight %d of %d", len(r.policies), len(s.replicas.named), s.replicas.weight, r.weight)
	}
}

// TestTrim shows that claims do not pile up, and that the count goes on.
func TestTrim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, reader := w.service(), w.service()
	p := w.create(s, "n", "1", "a")
	rename := func(times int) {
		for i := range times {
			name := fmt.Sprint("name-", i)
			_, err := s.Update(t.Context(), p.ID, nil, UpdateInput{Name: &name})
			w.must(err)
		}
	}
	count := func(want int64) {
		t.Helper()
		if n, err := s.journal.claims.Count(t.Context(), nil); err != nil || n != want {
			t.Errorf("%d claims, %v, want %d", n, err, want)
		}
	}
	w.create(s, "m", "1", "a")
	rename(trimEvery)
	count(1 + 1 + trimEvery)
	w.names(reader, "a")
	w.clock = w.clock.Add(claimsKept + time.Millisecond)
	rename(trimEvery - 1) // the last takes revision 128, and the 65 of yesterday go
	count(1 + trimEvery - 1)
	rename(1)
	for _, s := range []*Service{reader, w.service()} {
		if got := w.names(s, "a"); got != "name-0" {
			t.Errorf("%q apply", got)
		}
	}
}

// TestRandomWorld makes random writes through random copies of the service, and holds what any copy evaluates against
// a plain list of what should be there.
func TestRandomWorld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	random := rand.New(rand.NewPCG(1, 2))
	copies := []*Service{w.service(), w.service(), w.service()}
	anyCopy := func() *Service { return copies[random.IntN(len(copies))] }
	app := func() string { return fmt.Sprint("app-", random.IntN(3)) }
	var alive []Policy // oldest first
	for step := range 200 {
		w.clock = w.clock.Add(time.Duration(random.IntN(10)) * time.Minute)
		at := 0
		if len(alive) > 0 {
			at = random.IntN(len(alive))
		}
		switch what := random.IntN(4); {
		case what < 2 || len(alive) == 0:
			w.clock = w.clock.Add(time.Millisecond)
			alive = append(alive, w.create(anyCopy(), "n", fmt.Sprint("p", step), app()))
		case what == 2:
			in := UpdateInput{Selector: appIs(app())}
			if random.IntN(4) == 0 {
				in.Selector = &Selector{}
			}
			p, err := anyCopy().Update(t.Context(), alive[at].ID, nil, in)
			w.must(err)
			alive[at] = p
		default:
			w.must(anyCopy().Delete(t.Context(), alive[at].ID, nil))
			alive = slices.Delete(alive, at, at+1)
		}
		if random.IntN(3) > 0 {
			continue // so that copies fall behind
		}
		wanted := app()
		var want []string
		for _, p := range alive {
			if p.Selector == nil || p.Selector.MatchLabels["app"] == wanted {
				want = append(want, p.Name)
			}
		}
		if got := w.names(anyCopy(), wanted); got != strings.Join(want, " ") {
			t.Fatalf("step %d: %q apply, want %q", step, got, want)
		}
	}
}
