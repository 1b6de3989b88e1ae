package access

import (
	"context"
	"slices"

	"example.com/ginseng/kit/store"
)

// KeyPrefix is the beginning of every API key. No user token begins with it.
const KeyPrefix = "gsk_"

// ScopeAdmin is the scope that gives the key of an admin the role admin. On its own, it allows no route.
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

// Has reports whether the key has a scope of a resource. action is ScopeRead or ScopeWrite. A nil Key, which means that the
// caller sent another credential, has every scope.
func (k *Key) Has(resource, action string) bool {
	return k == nil || slices.Contains(k.Scopes, resource+action) || slices.Contains(k.Scopes, AnyResource+action)
}

// KeyVerifier verifies API keys, which begin with KeyPrefix. VerifyKey fails with Unauthorized unless the key is valid and its
// owner may use it. The Principal has the Key, and the role RoleUser unless the owner is an admin and the key has ScopeAdmin.
// VerifyKey records that the client has used the key, unless client is the zero value. The server uses the module that implements
// it.
type KeyVerifier interface {
	VerifyKey(ctx context.Context, client Client, key string) (Principal, error)
}
