package emailverification_test

import (
	"context"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"

	"example.com/ginseng/kit/email/emailtest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
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
	api.Do(show(emailtest.Token(t, api.Email.Next(t)))).Want(200)
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

// pause returns an option, and a function that sets a function, which runs once: before the next change or insert of a user, or
// before a Together, because other writes would wait for the Together.
func pause() (option testkit.Option, set func(before func())) {
	var before atomic.Pointer[func()]
	return func(c *testkit.Config) {
		c.DB = testdb.Intercept(c.DB, func(_ context.Context, call testdb.Call, do func() error) error {
			if slices.Contains([]string{"Insert users", "Update users", "Together"}, call.Name) {
				if f := before.Swap(nil); f != nil {
					(*f)()
				}
			}
			return do()
		})
	}, func(f func()) { before.Store(&f) }
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
	option, set := pause()
	slow := start(t, append(options, option)...)
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
				fast.Do(signUp(former)).Want(201)
				fast.Do(confirm(fast.verification(testkit.Account{Session: fast.SignIn(former, testkit.Password)}))).Want(200)
				undo = fast.changed(former, testkit.Password, to)
			}
			set(register)
			slow.Do(r).Want(409)
			if status := fast.Do(testkit.SignInRequest(former, testkit.Password)).Status; status != 401 {
				t.Errorf("the former address signs in: status %d", status)
			}
			eve.Session = fast.SignIn(eve.Email, testkit.Password)
			fast.Do(confirm(undo)).Want(200)
		})
	}
}

// TestRaceForRecovery has an admin change the address after a request to undo a change has checked its link.
func TestRaceForRecovery(t *testing.T) {
	t.Parallel()
	option, set := pause()
	slow := start(t, option)
	fast := api{slow.Instance(), t}
	ada, admin := fast.SignUp("user"), fast.SignUp("admin")
	undo := fast.changed(ada.Email, testkit.Password, "eve@example.org")
	set(func() {
		fast.Do(request{Method: "PATCH", Path: "/users/" + ada.ID, As: admin.Token, Form: url.Values{"email": {"ada@example.net"}}}).Want(200)
	})
	slow.Do(confirm(undo)).Want(404)
	fast.SignIn("ada@example.net", testkit.Password)
}
