package social

import (
	"context"
	"errors"
	"sync"

	"example.com/ginseng/testkit/providers"
)

// fakeProvider is a provider whose access tokens are the IDs of its accounts. With fakes, the rules of the service are tested
// even in a project that has removed providers.
type fakeProvider struct {
	mu      sync.Mutex
	users   map[string]providers.User
	failure providers.Failure
	asked   int // requests so far
}

// AddUser adds an account, or replaces the account with the same ID.
func (p *fakeProvider) AddUser(u providers.User) providers.User {
	p.mu.Lock()
	defer p.mu.Unlock()
	if u.Email == "" && !u.NoEmail {
		u.Email = "user" + u.ID + "@example.com"
	}
	if p.users == nil {
		p.users = map[string]providers.User{}
	}
	p.users[u.ID] = u
	return u
}

// Fail makes requests fail: Broken, or Slow until the context ends.
func (p *fakeProvider) Fail(f providers.Failure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failure = f
}

func (p *fakeProvider) profile(ctx context.Context, proof Proof) (Profile, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	switch u, ok := p.users[proof.AccessToken]; {
	case p.failure == providers.Slow:
		<-ctx.Done()
		return Profile{}, unavailable(ctx.Err())
	case p.failure != providers.None:
		return Profile{}, unavailable(errors.New("broken"))
	case !ok:
		return Profile{}, rejected()
	case u.NoEmail:
		return Profile{Subject: u.ID, Name: u.Name, Picture: u.Picture}, nil
	default:
		return Profile{Subject: u.ID, Email: u.Email, EmailVerified: u.EmailVerified, Name: u.Name, Picture: u.Picture}, nil
	}
}
