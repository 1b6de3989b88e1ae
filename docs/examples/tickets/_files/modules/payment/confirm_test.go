package payment_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit"
	"example.com/tickets/modules/apitest"
)

// shop is the service with a payment of a user.
type shop struct {
	*testkit.API
	user, admin testkit.Account
	confirm     testkit.Request
	event       string
}

func openShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{API: apitest.Start(t)}
	s.user, s.admin = s.SignUp("user"), s.SignUp("admin")
	event := store.NewID()
	newEvent(s.API, event, store.ID{})
	s.event = event.Hex()
	created := s.Do(testkit.Request{Method: "POST", Path: "/payments", As: s.user.Token, JSON: map[string]any{"event": s.event}}).JSON(201)
	s.confirm = testkit.Request{Method: "POST", Path: "/payments/" + created["id"].(string) + "/confirm", As: s.admin.Token}
	return s
}

// tickets returns the tickets that an account sees.
func (s *shop) tickets(account testkit.Account) []any {
	return s.Do(testkit.Request{Method: "GET", Path: "/tickets", As: account.Token}).JSON(200)["rows"].([]any)
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	create := testkit.Request{Method: "POST", Path: "/tickets", As: s.admin.Token, JSON: map[string]any{"event": s.event}}
	if status := s.Do(create).Status; status != 405 {
		t.Errorf("a ticket without a payment: %d", status)
	}
	byOwner := s.confirm
	byOwner.As = s.user.Token
	if status := s.Do(byOwner).Status; status != 403 {
		t.Errorf("the owner confirms: %d", status)
	}
	if tickets := s.tickets(s.user); len(tickets) != 0 {
		t.Errorf("tickets of an open payment: %v", tickets)
	}
	if state := s.Do(s.confirm).JSON(200)["state"]; state != "paid" {
		t.Errorf("state: %v", state)
	}
	if status := s.Do(s.confirm).Status; status != 409 {
		t.Errorf("confirmed twice: %d", status)
	}
	tickets := s.tickets(s.user)
	if len(tickets) != 1 {
		t.Fatalf("tickets: %v", tickets)
	}
	ticket := tickets[0].(map[string]any)
	if ticket["event"] != s.event || ticket["state"] != "valid" || ticket["userId"] != s.user.ID {
		t.Errorf("ticket: %v", ticket)
	}
	other := s.SignUp("user")
	get := testkit.Request{Method: "GET", Path: "/tickets/" + ticket["id"].(string), As: other.Token}
	if status := s.Do(get).Status; status != 404 || len(s.tickets(other)) != 0 {
		t.Errorf("another user: %d, %v", status, s.tickets(other))
	}
}

// TestConfirmConcurrently confirms a payment 20 times on two instances.
func TestConfirmConcurrently(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	second := s.Instance()
	var confirmed atomic.Int32
	var group sync.WaitGroup
	for n := range 20 {
		group.Go(func() {
			switch status := []*testkit.API{s.API, second}[n%2].Do(s.confirm).Status; status {
			case 200:
				confirmed.Add(1)
			case 409:
			default:
				t.Errorf("status: %d", status)
			}
		})
	}
	group.Wait()
	if tickets := s.Count("tickets"); confirmed.Load() != 1 || tickets != 1 {
		t.Errorf("%d confirmations, %d tickets", confirmed.Load(), tickets)
	}
}
