package user_test

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// TestPicture stores, reads, replaces and deletes the picture of a user.
func TestPicture(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	owner, other, admin := api.SignUp("user"), api.SignUp("user"), api.SignUp("admin")
	one := "/users/" + owner.ID
	path := one + "/picture"
	put := func(width int, token string) testkit.Request {
		var data bytes.Buffer
		if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, width, 1))); err != nil {
			t.Fatal(err)
		}
		return testkit.Request{Method: "PUT", Path: path, As: token, Body: data.String(), ContentType: "image/png"}
	}
	picture := func() string {
		t.Helper()
		return api.Do(testkit.Request{Method: "GET", Path: one}).JSON(200)["picture"].(string)
	}
	patch := func(value string) {
		t.Helper()
		api.Do(testkit.Request{Method: "PATCH", Path: one, As: owner.Token, JSON: map[string]any{"picture": value}}).Want(200)
	}
	initial := picture()
	api.Do(put(1, "")).Want(401)
	api.Do(put(1, other.Token)).Want(403)
	stale := put(1, owner.Token)
	stale.Header = http.Header{"If-Match": {`"stale"`}}
	api.Do(stale).Want(412)
	api.Do(testkit.Request{Method: "PUT", Path: path, As: owner.Token, Body: "text", ContentType: "image/png"}).Want(400, `"code":"type"`)
	api.Do(testkit.Request{Method: "GET", Path: path}).Want(404)

	view := api.Do(put(1, owner.Token)).JSON(200)
	first := view["picture"].(string)
	if !strings.HasPrefix(first, testkit.PublicURL+path+"?v=") || picture() != first {
		t.Errorf("the picture is %s", first)
	}
	sent := api.Do(testkit.Request{Method: "GET", Path: strings.TrimPrefix(first, testkit.PublicURL)}).Want(200)
	if sent.Header.Get("Content-Type") != "image/png" || sent.Header.Get("Cache-Control") != "public, no-cache" {
		t.Errorf("%v", sent.Header)
	}
	list := api.Do(testkit.Request{Method: "GET", Path: "/users?fields=picture", As: admin.Token}).Want(200, first)
	if strings.Contains(string(list.Body), "pictureFile") {
		t.Errorf("%s", list.Body)
	}
	patch(first) // the current value changes nothing
	api.Do(put(2, admin.Token)).Want(200)
	if second := picture(); second == first {
		t.Errorf("the picture is still %s", second)
	}
	patch("https://example.com/a.png")
	if got := picture(); got != "https://example.com/a.png" {
		t.Errorf("the picture is %s", got)
	}
	api.Do(testkit.Request{Method: "GET", Path: path}).Want(404)
	api.Do(put(3, owner.Token)).Want(200)
	api.Do(testkit.Request{Method: "DELETE", Path: path, As: other.Token}).Want(403)
	api.Do(testkit.Request{Method: "DELETE", Path: "/users/me/picture", As: owner.Token}).Want(204)
	api.Do(testkit.Request{Method: "DELETE", Path: path, As: owner.Token}).Want(404)
	if got := picture(); got != initial {
		t.Errorf("the picture is %s, want %s", got, initial)
	}
}
