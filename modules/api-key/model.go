package apikey

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Key is a stored API key, without its secret.
type Key struct {
	store.Meta `bson:",inline"`
	UserID     store.ID    `json:"userId"`
	Epoch      int64       `json:"epoch"` // the user's epoch at creation; see user.User.FirstKeyEpoch
	Name       string      `json:"name"`
	Scopes     []string    `json:"scopes"`
	Hash       string      `json:"hash"` // see digest
	ExpiresAt  store.Time  `json:"expiresAt"`
	LastUsedAt *store.Time `json:"lastUsedAt"` // to the minute; nil: never
	LastUsedIP *string     `json:"lastUsedIp"`
}

const (
	maxKeys    = 50 // maximum number of keys per user
	maxYears   = 1  // maximum lifetime of a key in years
	defaultTTL = 90 * 24 * time.Hour
)

// CreateInput has the parameters of a new key.
type CreateInput struct {
	Name      string      `json:"name" validate:"required,max=100,plain" example:"nightly import"`
	Scopes    []string    `json:"scopes" validate:"required,max=100" example:"articles:read,articles:write"` // RESOURCE:read, RESOURCE:write, *:read or *:write; admins can also use admin
	ExpiresAt *store.Time `json:"expiresAt" swaggertype:"string" format:"date-time" extensions:"x-nullable"` // time at which the key expires; at most a year ahead; the default is in 90 days
	access.Proof
} //	@name	APIKeyCreate

// checkScopes fails with ValidationFailed unless all scopes are valid.
func checkScopes(scopes, resources []string) error {
	valid := []string{access.AnyResource + access.ScopeRead, access.AnyResource + access.ScopeWrite, access.ScopeAdmin}
	for _, name := range resources {
		valid = append(valid, name+access.ScopeRead, name+access.ScopeWrite)
	}
	var fieldErrs []apperr.Field
	for i, scope := range scopes {
		if !slices.Contains(valid, scope) {
			fieldErrs = append(fieldErrs, apperr.Field{
				In: "body", Param: fmt.Sprintf("scopes[%d]", i), Code: apperr.OneOf, Message: "Must be one of " + strings.Join(valid, ", ") + ".", Expected: valid,
			})
		}
	}
	if fieldErrs == nil {
		return nil
	}
	return apperr.Invalid(fieldErrs...)
}

// expiry returns the time at which a key that is created now expires. ValidationFailed: the time in the request is in the past,
// or more than maxYears ahead.
func (in CreateInput) expiry(now time.Time) (store.Time, error) {
	if in.ExpiresAt == nil {
		return store.At(now.Add(defaultTTL)), nil
	}
	if last := store.At(now.AddDate(maxYears, 0, 0)); in.ExpiresAt.After(last.Time) {
		return store.Time{}, apperr.Invalid(apperr.Field{
			In: "body", Param: "expiresAt", Code: apperr.Max, Message: "Must be at most a year ahead.", Expected: last,
		})
	}
	if !in.ExpiresAt.After(now) {
		return store.Time{}, apperr.Invalid(apperr.Field{In: "body", Param: "expiresAt", Code: apperr.Min, Message: "Must be in the future."})
	}
	return *in.ExpiresAt, nil
}

// View is the representation of a key.
type View struct {
	ID         store.ID    `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f901"`
	Name       string      `json:"name" example:"nightly import"`
	Scopes     []string    `json:"scopes" example:"articles:read,articles:write"`
	CreatedAt  store.Time  `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
	ExpiresAt  store.Time  `json:"expiresAt" swaggertype:"string" format:"date-time" example:"2026-04-02T15:04:05.678Z"`
	LastUsedAt *store.Time `json:"lastUsedAt" swaggertype:"string" format:"date-time" extensions:"x-nullable" example:"2026-01-03T15:04:00.000Z"` // time of the last use, to the minute; null: never used
	LastUsedIP *string     `json:"lastUsedIp" extensions:"x-nullable" example:"192.0.2.1"`
} //	@name	APIKey

// Created is the response to the creation of a key.
type Created struct {
	View
	Key string `json:"key" example:"gsk_65f0c1d2e3a4b5c6d7e8f901…"` // the key; returned only in this response
} //	@name	APIKeyCreated

// List is the response with the keys of a user.
type List struct {
	Count int    `json:"count" example:"1"`
	Rows  []View `json:"rows"` // newest first
} //	@name	APIKeyList

// View returns the representation of the key.
func (k Key) View() View {
	return View{
		ID: k.ID, Name: k.Name, Scopes: k.Scopes, CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, LastUsedAt: k.LastUsedAt, LastUsedIP: k.LastUsedIP,
	}
}

func storeSpec() store.Spec {
	return store.Spec{Name: "keys", Indexes: []store.Index{{Fields: []string{"userId", "createdAt"}}, {Fields: []string{"expiresAt"}}}}
}
