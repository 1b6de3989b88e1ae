package user

import (
	"testing"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// TestOneAccountPerAddress creates accounts with other spellings of an address.
func TestOneAccountPerAddress(t *testing.T) {
	t.Parallel()
	s, _, _ := limited(t)
	create := func(email string) (User, error) {
		u, _, err := s.Create(t.Context(), access.Client{Trusted: true}, CreateInput{Email: email, Password: "right"})
		return u, err
	}
	first, err := create("äda@BÜCHER.example")
	if err != nil || first.Email != "äda@xn--bcher-kva.example" {
		t.Fatalf("%+v, %v", first, err)
	}
	for _, email := range []string{"äda@bücher.example", "äda@xn--bcher-kva.example", "a\u0308da@bücher.example"} {
		if _, err := create(email); !apperr.Is(err, apperr.Conflict) {
			t.Errorf("%q: %v", email, err)
		}
		if u, err := s.ByEmail(t.Context(), email); err != nil || u.ID != first.ID {
			t.Errorf("%q is the address of %+v, %v", email, u, err)
		}
	}
}

// TestDefaultPicture checks that the default picture depends on the id and the service only.
func TestDefaultPicture(t *testing.T) {
	t.Parallel()
	s, ada, _ := limited(t)
	other, _, _ := limited(t)
	if again := s.defaultPicture(ada.ID); ada.Picture != again || s.defaultPicture(store.NewID()) == again {
		t.Errorf("%s, then %s", ada.Picture, again)
	}
	if same := other.defaultPicture(ada.ID); same != ada.Picture {
		t.Errorf("another instance: %s", same)
	}
}
