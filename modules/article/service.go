package article

import (
	"cmp"
	"context"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
)

// Service holds the rules of articles.
type Service struct {
	articles *store.Collection[Article]
	now      func() time.Time
	newID    func() store.ID
}

// Create makes an article of the caller's.
func (s *Service) Create(ctx context.Context, caller access.Principal, in CreateInput) (Article, error) {
	a := in.document(store.NewMeta(s.newID(), store.At(s.now())), caller.UserID)
	return a, s.articles.Insert(ctx, a)
}

// Get returns an article, or NotFound.
func (s *Service) Get(ctx context.Context, id store.ID) (Article, error) {
	return s.articles.Get(ctx, id)
}

// List returns a page of articles.
func (s *Service) List(ctx context.Context, q listing.Query) (listing.Page[View], error) {
	return listing.Run(ctx, s.articles, q, Article.View)
}

// Update changes what was given. NotFound; Forbidden: the caller is neither the author nor an admin;
// PreconditionFailed: the article has none of the versions expected.
func (s *Service) Update(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions, in UpdateInput) (Article, error) {
	a, err := s.owned(ctx, caller, id, expected)
	if err != nil {
		return Article{}, err
	}
	changes := in.changes()
	if changes == nil {
		return a, nil
	}
	return s.articles.UpdateByID(ctx, id, expected, append(changes, store.Set("updatedAt", store.At(s.now())))...)
}

// Delete removes an article. NotFound; Forbidden: the caller is neither the author nor an admin; PreconditionFailed: the
// article has none of the versions expected.
func (s *Service) Delete(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions) error {
	if _, err := s.owned(ctx, caller, id, expected); err != nil {
		return err
	}
	return s.articles.DeleteByID(ctx, id, expected)
}

// owned returns an article that the caller may change, in one of the versions expected.
func (s *Service) owned(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions) (Article, error) {
	a, err := s.articles.Get(ctx, id)
	if err != nil {
		return Article{}, err
	}
	return a, cmp.Or(caller.MayChange(a.UserID), expected.Check(a.Version))
}
