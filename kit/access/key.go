package access

import (
	"context"
	"slices"

	"example.com/ginseng/kit/store"
)

// KeyPrefix is the beginning of every API key. No user token begins with it.
const KeyPrefix = "gsk_"

// ScopeAdmin is the scope with which the key of an admin has the role admin. It allows no route by itself.
const ScopeAdmin = "admin"

// The actions of scopes. A scope is the name of a resource, or AnyResource, a colon and an action: "articles:read".
const (
	ScopeRead   = ":read"
	ScopeWrite  = ":write"
	AnyResource = "*"
)

// Key is the API key that a caller sent.
type Key struct {
	ID     store.ID
	Scopes []string
}

// Has reports whether the key has a scope of a resource. action is ScopeRead or ScopeWrite. A nil Key has every scope: the
// caller sent another credential.
func (k *Key) Has(resource, action string) bool {
	return k == nil || slices.Contains(k.Scopes, resource+action) || slices.Contains(k.Scopes, AnyResource+action)
}

// KeyVerifier verifies API keys, which begin with KeyPrefix. VerifyKey fails with Unauthorized unless the key is valid and its
// owner may use it. Key of the result is set, and the role is RoleUser unless the owner is an admin and the key has ScopeAdmin.
// VerifyKey records that the client has used the key, unless client is the zero value. The server uses the module that implements
// it.
type KeyVerifier interface {
	VerifyKey(ctx context.Context, client Client, key string) (Principal, error)
}
