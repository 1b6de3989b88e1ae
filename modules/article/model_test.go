package article

import (
	"reflect"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
)

// TestCreateInput gives each field alone, and looks for it in the document and in the view.
func TestCreateInput(t *testing.T) {
	t.Parallel()
	meta, author := store.NewMeta(store.NewID(), store.At(time.Now())), store.NewID()
	for name, set := range map[string]func(*CreateInput, *Article, *View){
		"nothing": func(*CreateInput, *Article, *View) {},
		"title": func(in *CreateInput, document *Article, view *View) {
			in.Title, document.Title, view.Title = "amber", "amber", "amber"
		},
		"content": func(in *CreateInput, document *Article, view *View) {
			in.Content, document.Content, view.Content = "daisy", "daisy", "daisy"
		},
	} {
		in := CreateInput{}
		document := Article{
			Meta:   meta,
			UserID: author,
		}
		view := View{
			ID:        meta.ID,
			UserID:    author,
			CreatedAt: meta.CreatedAt,
			UpdatedAt: meta.UpdatedAt,
		}
		set(&in, &document, &view)
		if got := in.document(meta, author); !reflect.DeepEqual(got, document) {
			t.Errorf("%s: the document is %+v", name, got)
		}
		if got := document.View(); !reflect.DeepEqual(got, view) {
			t.Errorf("%s: the view is %+v", name, got)
		}
	}
}

// TestUpdateInput changes each field alone.
func TestUpdateInput(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in   UpdateInput
		want []store.Change
	}{
		"nothing":    {},
		"title":      {UpdateInput{Title: new("amber")}, []store.Change{store.Set("title", "amber")}},
		"content":    {UpdateInput{Content: new("daisy")}, []store.Change{store.Set("content", "daisy")}},
		"no content": {UpdateInput{Content: new("")}, []store.Change{store.Set("content", "")}},
	} {
		if got := test.in.changes(); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
