package social

import (
	"context"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// usedToken is an ID token that was accepted. Its ID is the id of the idToken.
type usedToken struct {
	store.Meta `bson:",inline"`
	ExpiresAt  store.Time `json:"expiresAt"`
}

func usedTokenSpec() store.Spec {
	return store.Spec{Name: "id-tokens", Indexes: []store.Index{{Fields: []string{"expiresAt"}}}}
}

// use records that an ID token is used. Unauthorized: the ID token was used before.
func (s *Service) use(ctx context.Context, t idToken) error {
	if t.id.IsZero() { // not an ID token
		return nil
	}
	now := store.At(s.now())
	err := s.tokens.Insert(ctx, usedToken{Meta: store.NewMeta(t.id, now), ExpiresAt: store.At(t.until.Add(clockSkew))})
	return apperr.Replace(err, apperr.Conflict, rejected())
}

// release reverses use, so that the client can send the ID token again. It ignores errors: the client then needs another ID token.
func (s *Service) release(ctx context.Context, t idToken) {
	if !t.id.IsZero() {
		_, _ = s.tokens.Delete(context.WithoutCancel(ctx), store.Eq("id", t.id))
	}
}

func (s *Service) sweep(ctx context.Context) error {
	_, err := s.tokens.Delete(ctx, store.Lte("expiresAt", store.At(s.now())))
	return err
}
