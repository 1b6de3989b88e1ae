package policy

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// fixture is a database with instances of the service on it.
type fixture struct {
	*testing.T
	clock time.Time
	db    store.DB

	mu     sync.Mutex
	calls  map[string]int // by verb and collection, such as "List policies"
	around map[string]hook
}

// hook runs in place of a call to the database and makes the call with do.
type hook func(do func() error) error

func newFixture(t *testing.T) *fixture {
	return &fixture{
		T: t, clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), db: testdb.Open(t),
		calls: make(map[string]int), around: make(map[string]hook),
	}
}

// service starts an instance of the service.
func (w *fixture) service() *Service {
	w.Helper()
	s := newService(kit.Deps{DB: testdb.Intercept(w.db, w.call), Now: func() time.Time { return w.clock }})
	w.must(w.db.Prepare(w.Context()))
	return s
}

// next installs a hook for the next call only.
func (w *fixture) next(call string, h hook) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.around[call] = h
}

func (w *fixture) call(_ context.Context, c testdb.Call, do func() error) error {
	w.mu.Lock()
	w.calls[c.Name]++
	h := w.around[c.Name]
	delete(w.around, c.Name)
	w.mu.Unlock()
	if h == nil {
		return do()
	}
	return h(do)
}

func (w *fixture) count(call string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[call]
}

func (w *fixture) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// names evaluates for a workload of the namespace n with the label app, and returns the names of the policies.
func (w *fixture) names(s *Service, app string) string {
	w.Helper()
	e, err := s.Evaluate(w.Context(), EvaluateInput{Namespace: "n", Limit: 100, Instance: Source{map[string]string{"app": app}}})
	if err != nil {
		w.Error(err)
	}
	names := make([]string, len(e.Rows))
	for i, row := range e.Rows {
		names[i] = row.Name
	}
	return strings.Join(names, " ")
}

// expect compares the names of the policies for app=a.
func (w *fixture) expect(s *Service, want string) {
	w.Helper()
	if got := w.names(s, "a"); got != want {
		w.Errorf("%q apply, want %q", got, want)
	}
}

func (w *fixture) create(s *Service, namespace, name, app string) Policy {
	w.Helper()
	p, err := s.Create(w.Context(), Input{Namespace: namespace, Name: name, Selector: appIs(app)})
	w.must(err)
	return p
}

// insert stores a policy without setting a stamp.
func (w *fixture) insert(s *Service, name string) Policy {
	w.Helper()
	p := Policy{Meta: store.NewMeta(store.NewID(), store.At(w.clock)), Namespace: "n", Name: name, Selector: appIs("a")}
	w.must(s.policies.Insert(w.Context(), p))
	return p
}

func appIs(app string) *Selector { return &Selector{map[string]string{"app": app}} }
