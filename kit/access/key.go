package access

import (
	"context"
	"slices"

	"example.com/ginseng/kit/store"
)

// KeyPrefix is the prefix of every API key. No user token begins with KeyPrefix.
const KeyPrefix = "gsk_"

// ScopeAdmin is the scope with which an admin's API key has the role admin. Without other scopes, the key cannot call the
// routes of resources.
const ScopeAdmin = "admin"

// Parts of scopes. A scope is the name of a resource followed by an action, for example "articles:read". AnyResource stands for
// all resources.
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

// Has reports whether the key has the scope for an action on a resource. action is ScopeRead or ScopeWrite. A nil Key has every
// scope, because the caller did not send an API key.
func (k *Key) Has(resource, action string) bool {
	return k == nil || slices.Contains(k.Scopes, resource+action) || slices.Contains(k.Scopes, AnyResource+action)
}

// KeyVerifier verifies API keys, which begin with KeyPrefix. VerifyKey fails with Unauthorized unless the key is valid and its
// owner may use the key. It returns the owner as a Principal, with Key set. The role is RoleAdmin if the owner is an admin and
// the key has ScopeAdmin, and otherwise RoleUser. VerifyKey records that the client has used the key, unless client is the zero
// value. The server uses the one in the kit.Parts of a module.
type KeyVerifier interface {
	VerifyKey(ctx context.Context, client Client, key string) (Principal, error)
}
