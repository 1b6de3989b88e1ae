package emailverification_test

import (
	"context"
	"net/url"
	"sync"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit"
)

// TestConcurrentConfirm checks that one of many calls with one token succeeds, for each purpose.
func TestConcurrentConfirm(t *testing.T) {
	t.Parallel()
	api := start(t)
	ada, eve, grace := api.SignUp("user"), api.SignUp("user"), api.SignUp("user")
	for purpose, token := range map[string]string{
		"verify": api.verification(ada),
		"change": api.changeOf(eve.Email, testkit.Password, "eve@example.org"),
		"undo":   api.changed(grace.Email, testkit.Password, "grace@example.org"),
	} {
		statuses := make(chan int)
		for range 10 {
			go func() { statuses <- api.Do(confirm(token)).Status }()
		}
		count := map[int]int{}
		for range 10 {
			count[<-statuses]++
		}
		if count[200] != 1 || count[404] != 9 {
			t.Errorf("%s: statuses %v", purpose, count)
		}
	}
	api.Finish()
	api.want(200, show(tokenIn(t, api.Email.Next(t))))
	api.Email.None(t) // there is only one link that undoes the change
}

// TestRaceForAddress lets two users, on two instances, confirm a change to the same address: one gets it.
func TestRaceForAddress(t *testing.T) {
	t.Parallel()
	for name, options := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := start(t, options...)
			b := api{a.Instance(options...), t}
			const to = "new@example.org"
			ada, eve := a.SignUp("user"), a.SignUp("user")
			tokens := []string{a.changeOf(ada.Email, testkit.Password, to), a.changeOf(eve.Email, testkit.Password, to)}
			statuses := make(chan int)
			for i, instance := range []api{a, b} {
				go func() { statuses <- instance.Do(confirm(tokens[i])).Status }()
			}
			if one, two := <-statuses, <-statuses; one+two != 200+409 {
				t.Errorf("statuses %d and %d", one, two)
			}
			a.SignIn(to, testkit.Password)
			a.Finish()
			b.Finish()
			if m := a.Email.Next(t); m.To != ada.Email && m.To != eve.Email {
				t.Errorf("an email to %s", m.To)
			}
			a.Email.None(t) // no email to the other user
		})
	}
}

// databases are the options for a service with and without transactions.
var databases = map[string][]testkit.Option{"as opened": nil, "without transactions": {testkit.Separate}}

// paused is a database that calls a function, once, before a change or an insert of a user. It calls the function before a
// Together, because other writes would wait for the Together.
type paused struct {
	store.DB
	mu     sync.Mutex
	before func() // can be nil
}

func (p *paused) Open(spec store.Spec) store.Engine {
	engine := p.DB.Open(spec)
	if spec.Name == "users" {
		engine = pausedUsers{engine, p}
	}
	return engine
}

func (p *paused) Together(ctx context.Context, f func(context.Context) error) error {
	p.call()
	return p.DB.Together(ctx, f)
}

// set sets the function.
func (p *paused) set(before func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before = before
}

func (p *paused) call() {
	p.mu.Lock()
	before := p.before
	p.before = nil
	p.mu.Unlock()
	if before != nil {
		before()
	}
}

type pausedUsers struct {
	store.Engine
	db *paused
}

func (e pausedUsers) Insert(ctx context.Context, id store.ID, doc any) error {
	e.db.call()
	return e.Engine.Insert(ctx, id, doc)
}

func (e pausedUsers) Update(ctx context.Context, f store.Filter, changes []store.Change, into any) error {
	e.db.call()
	return e.Engine.Update(ctx, f, changes, into)
}

// TestRaceForFormerAddress makes a sign-up and a change to an address that becomes free, but reserved, after the request has
// checked the address. The request must fail and store nothing.
func TestRaceForFormerAddress(t *testing.T) {
	t.Parallel()
	for name, options := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testRaceForFormerAddress(t, options)
		})
	}
}

func testRaceForFormerAddress(t *testing.T, options []testkit.Option) {
	db := &paused{}
	slow := start(t, append(options, func(c *testkit.Config) { db.DB, c.DB = c.DB, db })...)
	fast := api{slow.Instance(options...), t}
	eve := fast.SignUp("user")
	for name, attack := range map[string]func(former string) request{
		"sign-up": signUp,
		"change": func(former string) request {
			return confirm(fast.changeOf(eve.Email, testkit.Password, former))
		},
	} {
		t.Run(name, func(t *testing.T) {
			former, to := store.NewID().Hex()+"@example.com", store.NewID().Hex()+"@example.org"
			r := attack(former) // before the address is registered
			var undo string
			register := func() {
				fast.want(201, signUp(former))
				fast.want(200, confirm(fast.verification(testkit.Account{Session: fast.SignIn(former, testkit.Password)})))
				undo = fast.changed(former, testkit.Password, to)
			}
			db.set(register)
			slow.want(409, r)
			if status := fast.Do(signIn(former, testkit.Password)).Status; status != 401 {
				t.Errorf("the former address signs in: status %d", status)
			}
			eve.Session = fast.SignIn(eve.Email, testkit.Password)
			fast.want(200, confirm(undo))
		})
	}
}

// TestRaceForRecovery has an admin change the address after a request to undo a change has checked its link.
func TestRaceForRecovery(t *testing.T) {
	t.Parallel()
	db := &paused{}
	slow := start(t, func(c *testkit.Config) { db.DB, c.DB = c.DB, db })
	fast := api{slow.Instance(), t}
	ada, admin := fast.SignUp("user"), fast.SignUp("admin")
	undo := fast.changed(ada.Email, testkit.Password, "eve@example.org")
	db.set(func() {
		fast.want(200, request{Method: "PATCH", Path: "/users/" + ada.ID, As: admin.Token, Form: url.Values{"email": {"ada@example.net"}}})
	})
	slow.want(404, confirm(undo))
	fast.SignIn("ada@example.net", testkit.Password)
}
