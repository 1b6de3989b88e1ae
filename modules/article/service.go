package article

import (
	"context"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// Service has the business rules of articles.
type Service struct {
	*resource.Creator[Article, CreateFields]
	articles *resource.Collection[Article]
	now      func() time.Time
}

// New returns a new article of the caller or, for an admin, of another user. Create and imports store it.
func (s *Service) New(caller access.Principal, in CreateFields) (Article, error) {
	return Article{Meta: store.NewMeta(store.NewID(), store.At(s.now())), Fields: in.Fields, UserID: caller.OwnerOf(in.UserID)}, nil
}

// Get returns an article, or NotFound.
func (s *Service) Get(ctx context.Context, caller access.Principal, id store.ID) (Article, error) {
	return s.articles.Get(ctx, caller, id)
}

// List returns a page of articles.
func (s *Service) List(ctx context.Context, caller access.Principal, q listing.Query) (listing.Page[View], error) {
	return resource.List(ctx, s.articles, caller, q, Article.View)
}

// Changes returns the feed of the changes of articles.
func (s *Service) Changes(q listing.ChangesQuery) rest.Feed {
	return resource.Changes(s.articles, q, Article.View)
}

// Update changes the given fields. NotFound: there is no such article. Forbidden: the caller is neither the owner nor an admin.
// PreconditionFailed: the article has none of the expected versions.
func (s *Service) Update(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions, in store.Patch[Fields]) (Article, error) {
	return s.articles.Update(ctx, caller, id, expected, in.Changes()...)
}

// Delete deletes an article. NotFound: there is no such article. Forbidden: the caller is neither the owner nor an admin.
// PreconditionFailed: the article has none of the expected versions. Conflict: other records refer to it.
func (s *Service) Delete(ctx context.Context, caller access.Principal, id store.ID, expected store.Versions) error {
	return s.articles.Delete(ctx, caller, id, expected)
}
