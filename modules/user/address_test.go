package user

import (
	"fmt"
	"testing"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

func TestNormalEmail(t *testing.T) {
	t.Parallel()
	for email, want := range map[string]string{
		" Ada@Example.COM ":              "ada@example.com",
		"äda@bücher.example":             "äda@xn--bcher-kva.example",
		"äda@BÜCHER.example":             "äda@xn--bcher-kva.example",
		"a\u0308da@bu\u0308cher.example": "äda@xn--bcher-kva.example",
		"äda@XN--BCHER-KVA.example":      "äda@xn--bcher-kva.example",
		"\u212Aate@example.com":          "\u212Aate@example.com", // the Kelvin sign is not k
		"kate@\u212Aate.example":         "kate@\u212Aate.example",
		"ada@ex\u00ADample.com":          "ada@ex\u00ADample.com", // IDNA does not allow a soft hyphen
		"ÄDA@example.com":                "Äda@example.com",       // only the receiving server knows
		"ada@faß.example":                "ada@xn--fa-hia.example",
		`"a@b"@Example.com`:              `"a@b"@example.com`,
		"ada@under_score.Example.com":    "ada@under_score.example.com", // not allowed by IDNA
		"ada@xn--zz.Example":             "ada@xn--zz.example",
		"Ada":                            "ada",
		"":                               "",
	} {
		if got := NormalEmail(email); got != want {
			t.Errorf("%q: got %q, want %q", email, got, want)
		}
		if again := NormalEmail(want); again != want {
			t.Errorf("%q is not its own normal form: %q", want, again)
		}
	}
}

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

// TestEarlierAccounts finds accounts whose addresses an earlier version stored as typed. No other account can be
// created with such an address.
func TestEarlierAccounts(t *testing.T) {
	t.Parallel()
	s, _, _ := limited(t)
	ids := map[string]store.ID{}
	for _, stored := range []string{"äda@bücher.example", "äda@bÜcher.example", "a\u0308da@example.com", "eve@xn--bcher-kva.example", "kim@Österreich.example", "äda@bÜro.example", "ada@ｅｘａｍｐｌｅ.com"} {
		u := User{Meta: store.NewMeta(store.NewID(), store.At(s.now())), Email: stored, Role: access.RoleUser, Password: "hash of right"}
		if err := s.users.Insert(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		ids[stored] = u.ID
	}
	for typed, stored := range map[string]string{
		"äda@bücher.example":             "äda@bücher.example",
		"äda@xn--bcher-kva.example":      "äda@bücher.example",
		" äda@BÜCHER.example":            "äda@bÜcher.example",
		"a\u0308da@example.com":          "a\u0308da@example.com",
		"EVE@bücher.example":             "eve@xn--bcher-kva.example",
		"eve@xn--bcher-kva.example":      "eve@xn--bcher-kva.example",
		"a\u0308da@bu\u0308cher.example": "äda@bücher.example",
		"äda@example.com":                "a\u0308da@example.com",
		"kim@österreich.example":         "kim@Österreich.example",
		"kim@xn--sterreich-z7a.example":  "kim@Österreich.example",
		"äda@büro.example":               "äda@bÜro.example",
		"ada@ｅｘａｍｐｌｅ.com":                "ada@ｅｘａｍｐｌｅ.com", // cannot be registered now
	} {
		u, _, err := s.Authenticate(t.Context(), address(1), typed, "right")
		if err != nil || u.ID != ids[stored] {
			t.Errorf("%q: %+v, %v", typed, u.Email, err)
		}
		if _, _, err := s.Create(t.Context(), access.Client{Trusted: true}, CreateInput{Email: typed, Password: "x"}); !apperr.Is(err, apperr.Conflict) {
			t.Errorf("%q can sign up again: %v", typed, err)
		}
	}
}

// TestDefaultPicture checks that the default picture depends on the id and the service only, also that of an account that an
// earlier version stored.
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
	old := fmt.Sprintf("%s%064x?d=identicon", gravatar, 1)
	if _, err := s.users.Update(t.Context(), store.Eq("id", ada.ID), store.Set("picture", old)); err != nil {
		t.Fatal(err)
	}
	if u, err := s.Get(t.Context(), ada.ID); err != nil || u.Picture != ada.Picture {
		t.Errorf("the picture of an earlier version: %s, %v", u.Picture, err)
	}
}
