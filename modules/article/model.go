package article

import (
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
)

// Article is a stored article.
type Article struct {
	store.Meta `bson:",inline"`
	Title      string   `json:"title"`
	Content    string   `json:"content"`
	UserID     store.ID `json:"userId"` // the author
}

// CreateInput has the parameters of a new article.
type CreateInput struct {
	Title   string `json:"title" validate:"required,max=200" example:"On ginseng"`
	Content string `json:"content" validate:"max=100000" example:"A root worth waiting for."`
} //	@name	ArticleCreate

// UpdateInput has the parameters of a change; nil does not change a field.
type UpdateInput struct {
	Title   *string `json:"title" validate:"omitnil,min=1,max=200" example:"On ginseng, again"`
	Content *string `json:"content" null:"clear" validate:"omitnil,max=100000" example:"Six years, at least." extensions:"x-nullable"`
} //	@name	ArticleUpdate

// View is the representation of an article in responses.
type View struct {
	ID        store.ID   `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f902"`
	Title     string     `json:"title" example:"On ginseng"`
	Content   string     `json:"content" example:"A root worth waiting for."`
	UserID    store.ID   `json:"userId" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f901"`
	CreatedAt store.Time `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
	UpdatedAt store.Time `json:"updatedAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
} //	@name	Article

// document returns a new article with the input.
func (in CreateInput) document(meta store.Meta, author store.ID) Article {
	return Article{
		Meta:    meta,
		Title:   in.Title,
		Content: in.Content,
		UserID:  author,
	}
}

// changes returns the changes of the input.
func (in UpdateInput) changes() (changes []store.Change) {
	if in.Title != nil {
		changes = append(changes, store.Set("title", *in.Title))
	}
	if in.Content != nil {
		changes = append(changes, store.Set("content", *in.Content))
	}
	return changes
}

// View returns the representation of the article.
func (a Article) View() View {
	return View{
		ID:        a.ID,
		Title:     a.Title,
		Content:   a.Content,
		UserID:    a.UserID,
		CreatedAt: a.CreatedAt,
		UpdatedAt: a.UpdatedAt,
	}
}

func spec() listing.Spec {
	return listing.Spec{
		Name:   "articles",
		Search: []string{"title", "content"},
		Sort:   []string{"title", "createdAt", "updatedAt"},
		Filter: []listing.Filter{
			{Field: "userId", Type: listing.ID},
			{Field: "createdAt", Type: listing.Time},
		},
		View: View{},
	}
}

func storeSpec() store.Spec {
	return spec().Store()
}
