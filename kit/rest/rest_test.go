package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	for _, code := range apperr.Codes {
		if http.StatusText(statuses[code]) == "" {
			t.Errorf("%s has no status", code)
		}
	}
	if len(statuses) != len(apperr.Codes) {
		t.Errorf("%d statuses for %d codes", len(statuses), len(apperr.Codes))
	}
}

// TestSpecificErrors checks the responses to errors with a code of a module, and with a challenge.
func TestSpecificErrors(t *testing.T) {
	t.Parallel()
	full := apperr.New(apperr.Forbidden, "Full.").WithCode("full").WithCode("no_room")
	challenged := &access.ChallengeError{Err: apperr.New(apperr.Unauthorized, "Send it.").WithCode(apperr.SecondFactorRequired), Challenge: "c"}
	for _, test := range []struct {
		err    error
		status int
		body   string
		cache  string
	}{
		{fmt.Errorf("room: %w", full), 403, `"code":"no_room","detail":"Full."`, ""},
		{challenged, 401, `"code":"second_factor_required","detail":"Send it.","requestId":"","challenge":"c"`, "no-store"},
	} {
		w := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(w)
		c.Request = httptest.NewRequest("GET", "/", nil)
		Fail(c, test.err)
		if cache := w.Header().Get("Cache-Control"); w.Code != test.status || !strings.Contains(w.Body.String(), test.body) || cache != test.cache {
			t.Errorf("%v: %d %s, Cache-Control: %s", test.err, w.Code, w.Body, cache)
		}
	}
}

// TestManyErrors checks that the size of a problem is limited.
func TestManyErrors(t *testing.T) {
	t.Parallel()
	faults := make([]apperr.Field, 10_000)
	for i := range faults {
		faults[i] = apperr.Field{In: "body", Param: fmt.Sprint(i, strings.Repeat("ä", 1000)), Code: apperr.Unknown, Message: "Unknown."}
	}
	w := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(w)
	c.Request = httptest.NewRequest("PUT", "/", nil)
	err := apperr.Invalid(faults...)
	Fail(c, err)
	var p Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Errors) != 100 || !strings.HasSuffix(p.Detail, "There are 9900 more.") || w.Body.Len() > 150_000 {
		t.Errorf("%d errors in %d bytes: %s", len(p.Errors), w.Body.Len(), p.Detail)
	}
	if param := p.Errors[99].Param; !strings.HasPrefix(param, "99ää") || !strings.HasSuffix(param, "ä…") {
		t.Errorf("the last error is of %s", param)
	}
	if len(err.Fields[0].Param) < 2000 {
		t.Error("Fail changed the error")
	}
}

func TestIfMatch(t *testing.T) {
	t.Parallel()
	id := store.NewID()
	for header, want := range map[string]store.Versions{
		"": nil, "*": nil, " * ": nil, `"ID-7-View"`: {7}, `"ID-7-View-gzip", "ID-8-PublicView"`: {7, 8}, `"ID-7-View.0123456789abcdef", "ID-9-View.0123456789abcdef-gzip"`: {7, 9}, `"ID-7-View.012"`: {}, `"ID-7-"`: {}, `"ID-8"`: {}, `W/"ID-7-View"`: {7}, `w/"ID-7-View"`: {},
		`"ID-7-Booking", W/"ID-8-Booking-gzip"`: {7, 8},
		`"` + store.NewID().Hex() + `-7-View"`:  {}, `"7-View"`: {}, "7": {}, `"x"`: {}, `"`: {}, ",": {},
	} {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest("PUT", "/", nil)
		c.Request.Header.Set("If-Match", strings.ReplaceAll(header, "ID", id.Hex()))
		if got := IfMatch(c, id); (got == nil) != (want == nil) || !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}

type (
	PasswordView    struct{}
	Booking         struct{ Seat int }
	Größe           struct{ Seat int }
	Envelope[T any] struct{ Data T }
)

// TestRecordTags changes records with the ETags of views of all kinds of types. The tags of this service's views must not change.
func TestRecordTags(t *testing.T) {
	t.Parallel()
	record := store.NewMeta(store.NewID(), store.Time{})
	for want, view := range map[string]any{
		"PasswordView": PasswordView{}, "Booking": Booking{}, "Booking ": &Booking{}, "digest": Envelope[Booking]{}, "digest of two": Envelope[map[string]Booking]{},
		"digest of a map": map[string]any{"seat": 1}, "digest of Unicode": Größe{},
	} {
		w := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(w)
		c.Request = httptest.NewRequest("PATCH", "/", nil)
		if err := Record(c, record, view); err != nil {
			t.Fatal(err)
		}
		tag := w.Header().Get("ETag")
		if name := strings.TrimSpace(want); !strings.HasPrefix(name, "digest") && tag != fmt.Sprintf(`"%s-%d-%s"`, record.ID.Hex(), record.Version, name) {
			t.Errorf("%T has the tag %s", view, tag)
		}
		c.Request.Header.Set("If-Match", tag)
		if got := IfMatch(c, record.ID); !slices.Equal(got, store.Versions{record.Version}) {
			t.Errorf("%T: the tag %s selects the versions %v", view, tag, got)
		}
	}
}

// TestIfMatchView compares strong, weak and foreign tags with the tag of a view.
func TestIfMatchView(t *testing.T) {
	t.Parallel()
	tag := ContentTag([]byte("{\"Seat\":1}\n"))
	for header, want := range map[string]bool{tag: true, "W/" + tag: true, strings.TrimSuffix(tag, `"`) + `-gzip"`: true, `"x", W/` + tag: true, `"x"`: false, "": true, "*": true} {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest("PATCH", "/", nil)
		c.Request.Header.Set("If-Match", header)
		if matches := IfMatchView(c); (matches == nil || matches(Booking{1})) != want {
			t.Errorf("%q: %t, want %t", header, !want, want)
		}
	}
}

// basicOf parses an Authorization header.
func basicOf(header string) (email, password string, given bool) {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest("POST", "/", nil)
	c.Request.Header["Authorization"] = []string{header}
	return BasicAuth(c)
}

// FuzzBasic checks that every email address and password that a client can send is decoded, with the same result as
// net/http.
func FuzzBasic(f *testing.F) {
	f.Add("ada@example.com", "correct horse battery", "Basic YWRhQGV4YW1wbGUuY29tOnBhdGllbmNl")
	f.Add("", ":", "basic  OjoK")
	f.Add("пароль@example.com", "密码\x00", "Basic /+/=")
	f.Add("a", "\xff", "Bearer YTpi")
	f.Add("a\nb", " blanks ", "Basic")
	f.Fuzz(func(t *testing.T, email, password, header string) {
		r := httptest.NewRequest("POST", "/", nil)
		r.SetBasicAuth(email, password)
		gotEmail, gotPassword, given := basicOf(r.Header.Get("Authorization"))
		sendable := !strings.Contains(email, ":") && utf8.ValidString(email+":"+password) // RFC 7617 section 2
		if !given || sendable && (gotEmail != email || gotPassword != password) {
			t.Errorf("%q and %q were sent, %q and %q were read, %v", email, password, gotEmail, gotPassword, given)
		}

		email, password, given = basicOf(header)
		if strings.Contains(email, ":") || !utf8.ValidString(email+password) || !given && email+password != "" {
			t.Errorf("%q: %q and %q, %v", header, email, password, given)
		}
		r.Header.Set("Authorization", header)
		theirEmail, theirPassword, ok := r.BasicAuth()
		if ok && utf8.ValidString(theirEmail+":"+theirPassword) && (!given || email != theirEmail || password != theirPassword) {
			t.Errorf("%q: %q and %q, net/http reads %q and %q", header, email, password, theirEmail, theirPassword)
		}
	})
}
