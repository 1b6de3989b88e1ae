package user

import (
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// owned is a record of a user.
type owned struct {
	store.Meta `bson:",inline"`
	UserID     store.ID `json:"userId"`
}

func (o owned) view() any { return o.UserID }

// TestDeleteMany deletes a user with more records than one request may delete: the job deletes them, and until then only admins see
// them.
func TestDeleteMany(t *testing.T) {
	t.Parallel()
	db, now := testdb.Open(t), time.Now()
	d := deps(t, db, plain{}, func() time.Time { return now })
	s := newService(d, Settings{})
	records := resource.Open(d, store.Spec{Name: "records", Indexes: []store.Index{{Fields: []string{"userId"}}}}, owned.view, resource.Public, resource.Own,
		resource.Owner(s.referred, resource.Cascade))
	id := store.NewID()
	var docs []store.Document
	for range resource.MaxReferring + 1 {
		docs = append(docs, owned{store.NewMeta(store.NewID(), store.At(now)), id})
	}
	if err := records.Engine().Load(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.users.Insert(t.Context(), User{Meta: store.NewMeta(id, store.At(now)), Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), access.Principal{UserID: id}, id, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), id); !apperr.Is(err, apperr.NotFound) {
		t.Errorf("the user: %v", err)
	}
	for _, test := range []struct {
		caller access.Principal
		code   apperr.Code
	}{{access.Principal{}, apperr.NotFound}, {access.Principal{UserID: store.NewID(), Role: access.RoleAdmin}, ""}} {
		if _, err := records.Get(t.Context(), test.caller, store.IDOf(docs[0])); apperr.CodeOf(err) != test.code {
			t.Errorf("%+v: %v, want %q", test.caller, err, test.code)
		}
	}
	now = now.Add(time.Hour)
	if err := s.removals.Job().Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := records.Unrestricted().Count(t.Context(), nil); err != nil || n != 0 {
		t.Errorf("%d records are left (%v)", n, err)
	}
}
