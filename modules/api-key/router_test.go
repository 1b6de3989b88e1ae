package apikey_test

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/testkit"
)

type request = testkit.Request

const mine = "/users/me/api-keys"

// notes is a module with a resource. A project has none with its name, so that this test runs in every project. The note of a user
// has the user's ID.
type notes struct{}

func (notes) Parts() kit.Parts { return kit.Parts{} }

func (notes) Routes(r *route.Router) {
	r = r.Resource(listing.Spec{Name: "test-notes"})
	r.GET("/test-notes", route.User, rest.NoContent)
	r.POST("/test-notes", route.User, rest.NoContent)
	r.DELETE("/test-notes", route.Admin, rest.NoContent)
	r.PATCH("/test-notes", route.Role("nurse"), rest.NoContent)
	r.GET("/test-notes/:id", route.Public, rest.NoContent)
	r.PATCH("/test-notes/:id", route.User, func(g *gin.Context) error {
		owner, err := rest.ID(g)
		if err == nil {
			err = rest.Caller(g).MayChange(owner)
		}
		if err != nil {
			return err
		}
		return rest.NoContent(g)
	})
	r.DELETE("/test-notes/:id", route.User, rest.NoContent)
}

func withNotes(c *testkit.Config) { c.Modules = append(c.Modules, notes{}) }

func start(t *testing.T) *testkit.API { return apitest.Start(t, withNotes) }

// create returns a request for a key.
func create(a testkit.Account, body map[string]any) request {
	return request{Method: "POST", Path: mine, Email: a.Email, Password: testkit.Password, JSON: body}
}

// newKey creates a key, and returns its ID and the key.
func newKey(api *testkit.API, a testkit.Account, scopes ...string) (id, key string) {
	created := api.Do(create(a, map[string]any{"name": "test", "scopes": scopes})).JSON(201)
	return created["id"].(string), created["key"].(string)
}

func patch(path, as, name, value string) request {
	return request{Method: "PATCH", Path: path, As: as, Form: url.Values{name: {value}}}
}

// TestCreate creates keys with valid and invalid parameters.
func TestCreate(t *testing.T) {
	t.Parallel()
	api := start(t)
	ada, admin := api.SignUp("user"), api.SignUp("admin")
	body := func(pairs ...any) request {
		b := map[string]any{"name": "n", "scopes": []string{"test-notes:read"}}
		for i := 0; i < len(pairs); i += 2 {
			b[pairs[i].(string)] = pairs[i+1]
		}
		return create(ada, b)
	}
	at := func(d time.Duration) string { return api.Clock.Now().Add(d).UTC().Format(time.RFC3339Nano) }
	const day = 24 * time.Hour
	form := create(ada, nil)
	form.JSON, form.Form = nil, url.Values{"name": {"form"}, "scopes": {"test-notes:write,*:read"}}
	byAdmin := create(admin, map[string]any{"name": "n", "scopes": []string{"admin", "*:write"}})
	api.Run(t, []testkit.Scenario{
		testkit.Row("JSON", body(), 201, []string{`"key":"gsk_`, `"lastUsedAt":null`, `"scopes":["test-notes:read"]`}, []string{"hash", "epoch"}),
		testkit.Row("form", form, 201, []string{`"scopes":["*:read","test-notes:write"]`}, nil),
		testkit.Row("scopes given twice", body("scopes", []string{"*:read", "*:read"}), 201, []string{`"scopes":["*:read"]`}, nil),
		testkit.Row("scope admin of an admin", byAdmin, 201, []string{`"admin"`}, nil),
		testkit.Row("scope admin of a user", body("scopes", []string{"admin"}), 403, []string{"forbidden"}, nil),
		testkit.Row("unknown scope", body("scopes", []string{"test-notes:read", "unknown:read"}), 400,
			[]string{"scopes[1]", "one_of", `"expected":["*:read","*:write","admin",`, `"test-notes:read","test-notes:write"`}, []string{"scopes[0]"}),
		testkit.Row("no scopes", body("scopes", []string{}), 400, []string{`"scopes"`, "required"}, nil),
		testkit.Row("many scopes", body("scopes", slices.Repeat([]string{"x"}, 101)), 400, []string{"at most 100"}, []string{"scopes[0]"}),
		testkit.Row("soon", body("expiresAt", at(time.Minute)), 201, nil, nil),
		testkit.Row("a year", body("expiresAt", at(365*day)), 201, nil, nil),
		testkit.Row("more than a year", body("expiresAt", at(367*day)), 400, []string{"expiresAt", `"max"`}, nil),
		testkit.Row("past", body("expiresAt", at(-time.Minute)), 400, []string{"expiresAt", `"min"`}, nil),
		testkit.Row("all errors", body("name", "", "expiresAt", at(-time.Minute), "scopes", []string{"x"}), 400, []string{`"name"`, "expiresAt", "scopes[0]"}, nil),
		testkit.Row("unknown parameter", body("scope", "x"), 400, []string{"unknown", "scopes"}, nil),
	})
	list := api.Do(request{Method: "GET", Path: mine, As: ada.Token}).JSON(200)
	if list["count"] != 5.0 {
		t.Errorf("%v keys, not 5", list["count"])
	}
	first := list["rows"].([]any)[4].(map[string]any)
	if want := api.Clock.Now().AddDate(0, 0, 90).UTC().Format("2006-01-02T15:04"); !strings.HasPrefix(first["expiresAt"].(string), want) {
		t.Errorf("expires at %v, not %v", first["expiresAt"], want)
	}
}

// TestManage reads and deletes keys as their owner, an admin and another user, and with a key.
func TestManage(t *testing.T) {
	t.Parallel()
	api := start(t)
	ada, eve, admin := api.SignUp("user"), api.SignUp("user"), api.SignUp("admin")
	id, key := newKey(api, ada, "*:read", "*:write")
	other, _ := newKey(api, eve, "test-notes:read")
	keys := "/users/" + ada.ID + "/api-keys"
	do := func(method, path, as string) request { return request{Method: method, Path: path, As: as} }
	api.Run(t, []testkit.Scenario{
		testkit.Row("owner", do("GET", keys+"/"+id, ada.Token), 200, []string{id}, []string{"gsk_"}),
		testkit.Row("list", do("GET", mine, ada.Token), 200, []string{id}, []string{"gsk_", other}),
		testkit.Row("list of an admin", do("GET", keys, admin.Token), 200, []string{id}, []string{other}),
		testkit.Row("a key of another user", do("GET", mine+"/"+other, ada.Token), 404, nil, nil),
		testkit.Row("an unknown user", do("GET", "/users/0123456789abcdef01234567/api-keys", admin.Token), 404, nil, nil),
		testkit.Row("delete another's", do("DELETE", mine+"/"+other, ada.Token), 404, nil, nil),
		testkit.Row("still valid", do("GET", "/test-notes", key), 204, nil, nil),
		testkit.Row("delete", do("DELETE", mine+"/"+id, ada.Token), 204, nil, nil),
		testkit.Row("deleted", do("GET", "/test-notes", key), 401, []string{"unauthorized"}, nil),
		testkit.Row("delete again", do("DELETE", mine+"/"+id, ada.Token), 404, nil, nil),
		testkit.Row("delete as an admin", do("DELETE", "/users/"+eve.ID+"/api-keys/"+other, admin.Token), 204, nil, nil),
	})
}

// TestScopes calls routes with keys of different scopes.
func TestScopes(t *testing.T) {
	t.Parallel()
	api := start(t)
	ada, admin := api.SignUp("user"), api.SignUp("admin")
	note := "/test-notes/" + ada.ID
	_, read := newKey(api, ada, "test-notes:read")
	_, write := newKey(api, ada, "test-notes:write")
	_, all := newKey(api, ada, "*:read", "*:write")
	_, asUser := newKey(api, admin, "*:read", "*:write")
	_, asAdmin := newKey(api, admin, "*:read", "*:write", "admin")
	_, onlyAdmin := newKey(api, admin, "admin")
	do := func(method, path, as string) request { return request{Method: method, Path: path, As: as} }
	forged := read[:28] + write[28:92] // without the CRC-32
	inBody := request{Method: "POST", Path: "/test-notes", Form: url.Values{"access_token": {write}}}
	api.Run(t, []testkit.Scenario{
		testkit.Row("read", do("GET", note, read), 204, nil, nil),
		testkit.Row("HEAD", do("HEAD", note, read), 204, nil, nil),
		testkit.Row("write with read", do("PATCH", note, read), 403, []string{"insufficient_scope", "test-notes:write"}, nil),
		testkit.Row("in the body", inBody, 204, nil, nil),
		testkit.Row("an admin's route", do("DELETE", "/test-notes", all), 403, []string{`"forbidden"`}, nil),
		testkit.Row("an admin's route as an admin without the scope", do("DELETE", "/test-notes", asUser), 403, []string{`"forbidden"`}, nil),
		testkit.Row("an admin's route as an admin", do("DELETE", "/test-notes", asAdmin), 204, nil, nil),
		testkit.Row("another's record as an admin without the scope", do("PATCH", note, asUser), 403, []string{`"forbidden"`}, nil),
		testkit.Row("another's record as an admin", do("PATCH", note, asAdmin), 204, nil, nil),
		testkit.Row("me", do("GET", "/users/me", onlyAdmin), 200, []string{admin.ID}, nil),
		testkit.Row("with the secret of another key", do("GET", note, forged+fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(forged)))), 401, nil, nil),
		testkit.Row("only the prefix", do("GET", note, "gsk_"), 401, nil, nil),
	})
	api.Do(patch("/users/me", admin.Token, "role", "user")).JSON(200)
	api.Run(t, []testkit.Scenario{
		testkit.Row("the owner is no longer an admin", do("DELETE", "/test-notes", asAdmin), 403, []string{`"forbidden"`}, nil),
		testkit.Row("read as a user", do("GET", "/test-notes", asAdmin), 204, nil, nil),
	})
}

// TestRoles gives users a role that a project has added. Their keys do not have the role. It then removes the role.
func TestRoles(t *testing.T) {
	t.Parallel()
	api := start(t)
	nurse, admin, owner := api.SignUp("user"), api.SignUp("admin"), api.SignUp("admin")
	give := func(to testkit.Account) {
		id, _ := store.ParseID(to.ID)
		_, err := store.Open[user.User](api.DB, store.Spec{Name: "users"}).Update(t.Context(), store.Eq("id", id), store.Set("role", "nurse"))
		if err != nil {
			t.Fatal(err)
		}
	}
	_, key := newKey(api, nurse, "*:write")
	_, asAdmin := newKey(api, owner, "*:write", "admin")
	change := func(as string) request { return request{Method: "PATCH", Path: "/test-notes", As: as} }
	allowed := func(name, as string, status int) testkit.Scenario {
		return testkit.Row(name, change(as), status, nil, nil)
	}
	api.Run(t, []testkit.Scenario{
		allowed("without the role", nurse.Token, 403), allowed("an admin", admin.Token, 204), allowed("an admin's key", asAdmin, 204),
	})
	give(nurse)
	give(owner)
	api.Run(t, []testkit.Scenario{
		allowed("with the role", nurse.Token, 204), allowed("a key", key, 403), allowed("a key of a former admin", asAdmin, 403),
		testkit.Row("another's role", patch("/users/"+admin.ID, nurse.Token, "role", "user"), 403, nil, nil),
		testkit.Row("lose it", patch("/users/"+nurse.ID, admin.Token, "role", "user"), 200, nil, nil),
		allowed("without the role again, with the same token", nurse.Token, 403),
	})
}

// TestScopesOfBatch sends batches with an operation that needs test-notes:write.
func TestScopesOfBatch(t *testing.T) {
	t.Parallel()
	api := start(t)
	ada := api.SignUp("user")
	_, read := newKey(api, ada, "test-notes:read")
	_, write := newKey(api, ada, "test-notes:write")
	batch := func(as string) request {
		return request{Method: "POST", Path: "/batch", As: as, JSON: `{"operations":[{"method":"DELETE","path":"/test-notes/0123456789abcdef01234567"}]}`}
	}
	if api.Do(batch(ada.Token)).Status == http.StatusNotImplemented {
		t.Skip("the database has no transactions")
	}
	api.Run(t, []testkit.Scenario{
		testkit.Row("a batch without the scope", batch(read), 403, []string{"insufficient_scope", "test-notes:write", `"operation":0`}, nil),
		testkit.Row("a batch", batch(write), 200, []string{`"status":204`}, nil),
	})
}

// link is the link in the emails of these tests.
const link = testkit.LinkOrigin + "/{token}"

// tokenTo returns the token in the next email to an address.
func tokenTo(t *testing.T, api *testkit.API, to string) string {
	for {
		if m := api.Email.Next(t); m.To == to {
			_, after, _ := strings.Cut(m.Text, testkit.LinkOrigin+"/")
			return strings.Fields(after)[0]
		}
	}
}

// TestEnd checks which events invalidate a key on another instance, and which do not.
func TestEnd(t *testing.T) {
	t.Parallel()
	api := start(t)
	second := api.Instance(withNotes)
	admin := api.SignUp("admin")
	askReset := func(a testkit.Account) {
		form := url.Values{"email": {a.Email}, "link": {link}}
		api.Do(request{Method: "POST", Path: "/password-resets", As: testkit.MasterKey, Form: form}).JSON(202)
	}
	changeAddress := func(a testkit.Account) {
		form := url.Values{"email": {"new" + a.Email}, "link": {link}}
		api.Do(request{Method: "PUT", Path: "/users/me/email", Email: a.Email, Password: testkit.Password, Form: form}).JSON(202)
		api.Do(request{Method: "PUT", Path: "/email-verifications/" + tokenTo(t, api, "new"+a.Email), Form: url.Values{}}).JSON(200)
	}
	alive := func(key string) int { return second.Do(request{Method: "GET", Path: "/test-notes", As: key}).Status }
	for _, test := range []struct {
		name  string
		needs string // a route
		end   func(a testkit.Account)
		want  int
	}{
		{"password change", "", func(a testkit.Account) {
			r := request{Method: "PUT", Path: "/users/me/password", Email: a.Email, Password: testkit.Password, Form: url.Values{"password": {"another password"}}}
			api.Do(r).JSON(200)
		}, 204},
		{"all sessions", "", func(a testkit.Account) {
			api.Do(request{Method: "DELETE", Path: "/users/me/sessions", As: a.Token})
		}, 204},
		{"suspension", "", func(a testkit.Account) {
			api.Do(patch("/users/"+a.ID, admin.Token, "suspended", "true")).JSON(200)
		}, 401},
		{"suspension that was lifted", "", func(a testkit.Account) {
			api.Do(patch("/users/"+a.ID, admin.Token, "suspended", "true")).JSON(200)
			api.Do(patch("/users/"+a.ID, admin.Token, "suspended", "false")).JSON(200)
		}, 401},
		{"deletion", "", func(a testkit.Account) {
			api.Do(request{Method: "DELETE", Path: "/users/" + a.ID, As: admin.Token})
		}, 401},
		{"a requested reset", "POST /password-resets", askReset, 204},
		{"a reset", "POST /password-resets", func(a testkit.Account) {
			askReset(a)
			api.Do(request{Method: "PUT", Path: "/password-resets/" + tokenTo(t, api, a.Email), Form: url.Values{"password": {testkit.Password}}}).JSON(200)
		}, 401},
		{"a change of the address", "PUT /users/me/email", changeAddress, 204},
		{"an undone change of the address", "PUT /users/me/email", func(a testkit.Account) {
			changeAddress(a)
			api.Do(request{Method: "PUT", Path: "/email-verifications/" + tokenTo(t, api, a.Email), Form: url.Values{}}).JSON(200)
		}, 401},
	} {
		if test.needs != "" && !slices.Contains(api.Handler.Routes(), test.needs) {
			continue
		}
		a := api.SignUp("user")
		_, key := newKey(api, a, "*:read")
		if got := alive(key); got != 204 {
			t.Fatalf("%s: %d before", test.name, got)
		}
		test.end(a)
		if got := alive(key); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
	a := api.SignUp("user")
	id, key := newKey(api, a, "*:read")
	api.Clock.Advance(90*24*time.Hour - time.Minute)
	if got := alive(key); got != 204 {
		t.Errorf("%d before it expires", got)
	}
	api.Clock.Advance(time.Minute)
	if got := alive(key); got != 401 {
		t.Errorf("%d after it has expired", got)
	}
	api.RunJobs()
	again := api.SignIn(a.Email, testkit.Password)
	if got := api.Do(request{Method: "GET", Path: mine + "/" + id, As: again.Token}).Status; got != 404 {
		t.Errorf("an expired key: %d", got)
	}
}

// TestLastUse checks that the use of a key is recorded to the minute.
func TestLastUse(t *testing.T) {
	t.Parallel()
	api := start(t)
	a := api.SignUp("user")
	_, key := newKey(api, a, "*:read")
	use := func() {
		api.Do(request{Method: "GET", Path: "/users/me", As: key}).JSON(200)
	}
	used := func() string {
		row := api.Do(request{Method: "GET", Path: mine, As: a.Token}).JSON(200)["rows"].([]any)[0].(map[string]any)
		return fmt.Sprint(row["lastUsedAt"], " ", row["lastUsedIp"])
	}
	if got := used(); got != "<nil> <nil>" {
		t.Errorf("a new key was used %s", got)
	}
	for range 2 {
		use()
		if got, want := used(), api.Clock.Now().UTC().Format("2006-01-02T15:04")+":00.000Z 127.0.0.1"; got != want {
			t.Errorf("used %s, want %s", got, want)
		}
		api.Clock.Advance(time.Minute)
	}
}

// TestTooMany creates the last keys of a user concurrently.
func TestTooMany(t *testing.T) {
	t.Parallel()
	api := start(t)
	a := api.SignUp("user")
	for range 48 {
		newKey(api, a, "*:read")
	}
	statuses := make([]int, 4)
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() {
			statuses[i] = api.Do(create(a, map[string]any{"name": "n", "scopes": []string{"*:read"}})).Status
		})
	}
	wg.Wait()
	created := len(slices.DeleteFunc(slices.Clone(statuses), func(status int) bool { return status == 409 }))
	list := api.Do(request{Method: "GET", Path: mine, As: a.Token}).JSON(200)
	if n := list["count"].(float64); created > 2 || n != float64(48+created) {
		t.Errorf("%v: %v keys", statuses, n)
	}
}

// TestRestrictedOwner checks that a key has no more rights than a restricted owner.
func TestRestrictedOwner(t *testing.T) {
	t.Parallel()
	api := start(t)
	required := api.Instance(withNotes, testkit.Env("SIGNUP_EMAIL", "required"))
	a := api.SignUp("user")
	_, key := newKey(api, a, "*:read", "*:write")
	if got := required.Do(request{Method: "POST", Path: "/test-notes", As: key}); got.Status != 403 || !strings.Contains(string(got.Body), "email_not_verified") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if got := required.Do(request{Method: "GET", Path: "/test-notes", As: key}); got.Status != 204 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}
