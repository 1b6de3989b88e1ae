package article

import (
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
)

// Article is a stored article.
type Article struct {
	store.Meta `bson:",inline"`
	Fields     `bson:",inline"`
	UserID     store.ID `json:"userId"` // the owner
}

// Fields are the fields that clients set: parameters of create and update, and part of the document and the view.
type Fields struct {
	Title   string `json:"title" validate:"required,max=200" example:"Example title"`
	Content string `json:"content" validate:"max=100000" example:"Example content"`
}

// CreateFields are the parameters of create.
type CreateFields struct {
	Fields
	UserID *store.ID `json:"userId" swaggertype:"string"` // the owner: who creates the record, unless an admin chooses another user
}

// View is the representation of an article in responses.
type View struct {
	ID store.ID `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f902"`
	Fields
	UserID    store.ID   `json:"userId" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f901"`
	CreatedAt store.Time `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
	UpdatedAt store.Time `json:"updatedAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
	resource.Expanded
} //	@name	Article

// View returns the representation of the article.
func (a Article) View() View {
	return View{ID: a.ID, Fields: a.Fields, UserID: a.UserID, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt}
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
		View:    View{},
		Expand:  []string{"userId"},
		Changes: true,
	}
}

func storeSpec() store.Spec {
	return spec().Store()
}
