package organization_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email/emailtest"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/modules/organization"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/testkit"
)

type request = testkit.Request

const page = testkit.LinkOrigin + "/invitation/{token}"

// stored is a membership as the module stores it.
type stored struct {
	store.Meta              `bson:",inline"`
	resource.InOrganization `bson:",inline"`
	UserID                  store.ID    `json:"userId"`
	Role                    access.Role `json:"role"`
}

// world is a service with an organization.
type world struct {
	*testkit.API
	t                                          *testing.T
	id                                         string
	owner, admin, member, stranger, superAdmin testkit.Account
}

func start(t *testing.T, options ...testkit.Option) world {
	t.Helper()
	t.Parallel()
	w := world{API: apitest.Start(t, options...), t: t}
	w.owner, w.admin, w.member, w.stranger, w.superAdmin = w.verified(), w.verified(), w.verified(), w.verified(), w.SignUp("admin")
	w.id = w.create(w.owner)
	w.join(w.id, w.admin, "admin")
	w.join(w.id, w.member, "member")
	return w
}

func (w world) create(a testkit.Account) string {
	w.t.Helper()
	return w.Do(request{Method: "POST", Path: "/organizations", As: a.Token, Form: url.Values{"name": {"Farmers"}}}).JSON(201)["id"].(string)
}

// verified returns a user with a verified address.
func (w world) verified() testkit.Account {
	w.t.Helper()
	a := w.SignUp("user")
	w.setUser(a, store.Set("emailVerified", true))
	return a
}

func (w world) setUser(a testkit.Account, change store.Change) {
	w.t.Helper()
	id, _ := store.ParseID(a.ID)
	if _, err := store.Open[user.User](w.DB, store.Spec{Name: "users"}).Update(w.t.Context(), store.Eq("id", id), change); err != nil {
		w.t.Fatal(err)
	}
}

// join makes a user a member by an invitation.
func (w world) join(id string, a testkit.Account, role string) {
	w.t.Helper()
	w.Do(request{Method: "PUT", Path: "/organization-invitations/" + w.invite(id, a.Email, role), As: a.Token}).Want(200, `"role":"`+role+`"`, a.ID)
}

// invite returns the token of an invitation.
func (w world) invite(id, email, role string) string {
	w.t.Helper()
	w.Do(request{Method: "POST", Path: "/organizations/" + id + "/invitations", As: w.superAdmin.Token, Form: url.Values{"email": {email}, "role": {role}, "link": {page}}}).Want(202)
	return emailtest.Token(w.t, w.Email.Next(w.t))
}

// TestAccess calls each route as each caller.
func TestAccess(t *testing.T) {
	w := start(t)
	other := w.verified()
	w.join(w.id, other, "member")
	path := "/organizations/" + w.id
	invite := url.Values{"email": {"new@example.com"}, "role": {"member"}, "link": {page}}
	callers := []string{"nobody", "stranger", "member", "admin", "owner", "service admin"}
	tokens := []string{"", w.stranger.Token, w.member.Token, w.admin.Token, w.owner.Token, w.superAdmin.Token}
	for _, test := range []struct {
		request
		statuses [6]int
	}{
		{request{Method: "GET", Path: "/organizations"}, [6]int{401, 200, 200, 200, 200, 200}},
		{request{Method: "GET", Path: path}, [6]int{401, 404, 200, 200, 200, 200}},
		{request{Method: "PATCH", Path: path, Form: url.Values{"name": {"Growers"}}}, [6]int{401, 404, 403, 200, 200, 200}},
		{request{Method: "GET", Path: path + "/members"}, [6]int{401, 404, 200, 200, 200, 200}},
		{request{Method: "PATCH", Path: path + "/members/" + other.ID, Form: url.Values{"role": {"member"}}}, [6]int{401, 404, 403, 200, 200, 200}},
		{request{Method: "PATCH", Path: path + "/members/" + other.ID, Form: url.Values{"role": {"boss"}}}, [6]int{401, 400, 400, 400, 400, 400}},
		{request{Method: "PATCH", Path: path + "/members/" + w.owner.ID, Form: url.Values{"role": {"owner"}}}, [6]int{401, 404, 403, 403, 200, 200}},
		{request{Method: "PATCH", Path: path + "/members/" + w.stranger.ID, Form: url.Values{"role": {"member"}}}, [6]int{401, 404, 403, 404, 404, 404}},
		{request{Method: "DELETE", Path: path + "/members/" + w.owner.ID}, [6]int{401, 404, 403, 403, 409, 409}},
		{request{Method: "POST", Path: path + "/invitations", Form: invite}, [6]int{401, 404, 403, 202, 202, 202}},
		{request{Method: "GET", Path: path + "/invitations"}, [6]int{401, 404, 403, 200, 200, 200}},
		{request{Method: "DELETE", Path: path + "/invitations/" + store.NewID().Hex()}, [6]int{401, 404, 403, 404, 404, 404}},
		{request{Method: "DELETE", Path: path}, [6]int{401, 404, 403, 403, 204, 0}},
		{request{Method: "GET", Path: path}, [6]int{401, 404, 404, 404, 404, 404}},
	} {
		for i, status := range test.statuses {
			test.As = tokens[i]
			if got := w.Do(test.request); status != 0 && got.Status != status {
				t.Errorf("%s %s as %s: %d, want %d: %s", test.Method, test.Path, callers[i], got.Status, status, got.Body)
			}
		}
	}
}

// TestRoles checks the rules about roles, and about the last owner.
func TestRoles(t *testing.T) {
	w := start(t)
	path := "/organizations/" + w.id
	change := func(as, who testkit.Account, role string, status int, fragments ...string) {
		t.Helper()
		w.Do(request{Method: "PATCH", Path: path + "/members/" + who.ID, As: as.Token, Form: url.Values{"role": {role}}}).Want(status, fragments...)
	}
	change(w.owner, w.owner, "member", 409, w.id, "Farmers")
	w.Do(request{Method: "DELETE", Path: path + "/members/" + w.owner.ID, As: w.owner.Token}).Want(409, w.id)
	w.Do(request{Method: "DELETE", Path: "/users/me", As: w.owner.Token}).Want(409, w.id, "Farmers")
	w.Do(request{Method: "GET", Path: "/users/me", As: w.owner.Token}).Want(200)
	change(w.admin, w.member, "owner", 403)
	change(w.admin, w.member, "admin", 200)
	change(w.member, w.admin, "member", 200)
	change(w.admin, w.member, "member", 403)
	change(w.owner, w.member, "owner", 200, `"role":"owner"`)
	w.Do(request{Method: "GET", Path: path, As: w.member.Token}).Want(200, `"role":"owner"`)
	change(w.member, w.owner, "member", 200)
	w.Do(request{Method: "DELETE", Path: "/users/me", As: w.owner.Token}).Want(204)
	members := w.Do(request{Method: "GET", Path: path + "/members", As: w.member.Token}).JSON(200)
	if members["count"] != 2.0 {
		t.Errorf("members: %v", members)
	}
	w.Do(request{Method: "DELETE", Path: path + "/members/" + w.admin.ID, As: w.admin.Token}).Want(204)
	w.Do(request{Method: "GET", Path: path, As: w.admin.Token}).Want(404)
	w.Do(request{Method: "DELETE", Path: "/users/me", As: w.member.Token}).Want(204) // the only member
	w.Do(request{Method: "GET", Path: path, As: w.superAdmin.Token}).Want(404)
}

// TestInvitations follows invitations through replacement, withdrawal, expiry and use.
func TestInvitations(t *testing.T) {
	w := start(t)
	path := "/organizations/" + w.id + "/invitations"
	get := func(token string, status int) {
		t.Helper()
		w.Do(request{Method: "GET", Path: "/organization-invitations/" + token}).Want(status)
	}
	first := w.invite(w.id, w.stranger.Email, "member")
	get(first, 200)
	second := w.invite(w.id, w.stranger.Email, "admin")
	get(first, 404)
	w.Do(request{Method: "PUT", Path: "/organization-invitations/" + second, As: w.member.Token}).Want(403, "forbidden")
	unverified := w.SignUp("user")
	w.Do(request{Method: "PUT", Path: "/organization-invitations/" + w.invite(w.id, unverified.Email, "member"), As: unverified.Token}).Want(403, "verify")
	w.Do(request{Method: "GET", Path: "/organization-invitations/" + second}).Want(200, `"organization":"Farmers"`, `"role":"admin"`)
	w.Do(request{Method: "PUT", Path: "/organization-invitations/" + second, As: w.stranger.Token}).Want(200, `"role":"admin"`)
	w.Do(request{Method: "PUT", Path: "/organization-invitations/" + second, As: w.stranger.Token}).Want(404)
	w.Do(request{Method: "POST", Path: path, As: w.admin.Token, Form: url.Values{"email": {"x@example.com"}, "role": {"owner"}, "link": {page}}}).Want(403)
	w.Do(request{Method: "POST", Path: path, As: w.admin.Token, Form: url.Values{"email": {"x@example.com"}, "role": {"member"}, "link": {"https://evil.example/"}}}).Want(400, "link")
	w.Do(request{Method: "POST", Path: path, As: w.admin.Token, Form: url.Values{"email": {w.member.Email}, "role": {"member"}, "link": {page}}}).Want(202)
	// An address that changes hands: the invitation is for the user who has the address at that moment.
	address := w.stranger.Email
	w.Do(request{Method: "DELETE", Path: "/organizations/" + w.id + "/members/" + w.stranger.ID, As: w.stranger.Token}).Want(204)
	moving, heir := w.invite(w.id, address, "member"), w.verified()
	w.setUser(w.stranger, store.Set("email", "moved@example.com"))
	w.setUser(heir, store.Set("email", address))
	w.Do(request{Method: "PUT", Path: "/organization-invitations/" + moving, As: w.stranger.Token}).Want(403)
	w.Do(request{Method: "PUT", Path: "/organization-invitations/" + moving, As: heir.Token}).Want(200, heir.ID)
	third := w.invite(w.id, "new@example.com", "member") // the next email is not to the member
	list := w.Do(request{Method: "GET", Path: path, As: w.admin.Token}).JSON(200)
	newest := list["rows"].([]any)[0].(map[string]any)
	if newest["email"] != "new@example.com" || strings.Contains(fmt.Sprint(list), third) {
		t.Errorf("invitations: %v", list)
	}
	w.Do(request{Method: "DELETE", Path: path + "/" + newest["id"].(string), As: w.admin.Token}).Want(204)
	get(third, 404)
	fourth := w.invite(w.id, "new@example.com", "member")
	w.Clock.Advance(8 * 24 * time.Hour)
	get(fourth, 404)
	w.RunJobs()
	if n := w.Count("organization-invitations"); n != 0 {
		t.Errorf("%d invitations after the sweep", n)
	}
}

// TestLimits checks the limits of memberships and invitations.
func TestLimits(t *testing.T) {
	w := start(t)
	owner, _ := store.ParseID(w.owner.ID)
	id, _ := store.ParseID(w.id)
	insert := func(organization, user store.ID) {
		testkit.Insert(w.API, "memberships", stored{store.NewMeta(store.NewID(), store.At(w.Clock.Now())), resource.InOrganization{OrganizationID: organization}, user, "member"})
	}
	token := w.invite(w.id, w.stranger.Email, "member")
	for range 997 { // with the three of start
		insert(id, store.NewID())
	}
	w.Do(request{Method: "PUT", Path: "/organization-invitations/" + token, As: w.stranger.Token}).Want(409, "1000")
	for range 49 {
		insert(store.NewID(), owner)
	}
	w.Do(request{Method: "POST", Path: "/organizations", As: w.owner.Token, Form: url.Values{"name": {"One more"}}}).Want(409, "50")
}

// TestRaces lets callers change an organization at the same time, with and without transactions.
func TestRaces(t *testing.T) {
	for name, options := range map[string][]testkit.Option{"transactions": nil, "separate": {testkit.Separate}} {
		t.Run(name, func(t *testing.T) {
			w := start(t, options...)
			path := "/organizations/" + w.id
			w.Do(request{Method: "PATCH", Path: path + "/members/" + w.admin.ID, As: w.owner.Token, Form: url.Values{"role": {"owner"}}}).Want(200)
			atOnce := func(requests ...request) map[int]int {
				var mu sync.Mutex
				count := map[int]int{}
				var group sync.WaitGroup
				for _, r := range requests {
					group.Go(func() {
						status := w.Do(r).Status
						mu.Lock()
						defer mu.Unlock()
						count[status]++
					})
				}
				group.Wait()
				return count
			}
			// Two owners demote each other.
			demote := func(as, who testkit.Account) request {
				return request{Method: "PATCH", Path: path + "/members/" + who.ID, As: as.Token, Form: url.Values{"role": {"member"}}}
			}
			if got := atOnce(demote(w.owner, w.admin), demote(w.admin, w.owner)); got[200] != 1 || got[403]+got[409] != 1 {
				t.Errorf("two owners demote each other: %v", got)
			}
			// The last two owners leave.
			for _, a := range []testkit.Account{w.owner, w.admin} {
				w.Do(request{Method: "PATCH", Path: path + "/members/" + a.ID, As: w.superAdmin.Token, Form: url.Values{"role": {"owner"}}}).Want(200)
			}
			leave := func(a testkit.Account) request {
				return request{Method: "DELETE", Path: path + "/members/" + a.ID, As: a.Token}
			}
			if got := atOnce(leave(w.owner), leave(w.admin)); !maps.Equal(got, map[int]int{204: 1, 409: 1}) {
				t.Errorf("the last two owners leave: %v", got)
			}
			// One invitation is accepted and withdrawn several times.
			token := w.invite(w.id, w.stranger.Email, "member")
			rows := w.Do(request{Method: "GET", Path: path + "/invitations", As: w.superAdmin.Token}).JSON(200)["rows"].([]any)
			accept := request{Method: "PUT", Path: "/organization-invitations/" + token, As: w.stranger.Token}
			withdraw := request{Method: "DELETE", Path: path + "/invitations/" + rows[0].(map[string]any)["id"].(string), As: w.superAdmin.Token}
			if got := atOnce(accept, accept, withdraw, accept); got[200]+got[204] != 1 || got[404] != 3 {
				t.Errorf("accept and withdraw: %v", got)
			}
			// An invitation expires, and is swept, while it is accepted.
			late := w.verified()
			token = w.invite(w.id, late.Email, "member")
			var status int
			var group sync.WaitGroup
			group.Go(func() {
				status = w.Do(request{Method: "PUT", Path: "/organization-invitations/" + token, As: late.Token}).Status
			})
			invitations := store.Open[organization.Invitation](w.DB, store.Spec{Name: "organization-invitations"})
			if _, err := invitations.Update(t.Context(), nil, store.Set("expiresAt", store.At(w.Clock.Now()))); err != nil && !apperr.Is(err, apperr.NotFound) {
				t.Error(err)
			}
			w.RunJobs()
			group.Wait()
			want := map[int]int{200: 200, 404: 404}[status] // of the organization, for the user
			w.Do(request{Method: "GET", Path: path, As: late.Token}).Want(want)
			w.Do(request{Method: "GET", Path: "/organization-invitations/" + token}).Want(404)
			// Everybody leaves while the organization is deleted.
			atOnce(leave(w.member), request{Method: "DELETE", Path: path, As: w.superAdmin.Token}, leave(w.stranger))
			w.Do(request{Method: "GET", Path: path, As: w.superAdmin.Token}).Want(404)
			w.Clock.Advance(5 * time.Minute)
			w.RunJobs()
			wantNone(w.API, t, "memberships", "organization-invitations")
		})
	}
}

// wantNone checks that the collections are empty, and that no removal is left.
func wantNone(api *testkit.API, t *testing.T, collections ...string) {
	t.Helper()
	for _, collection := range collections {
		if n := api.Count(collection); n != 0 {
			t.Errorf("%d documents in %s", n, collection)
		}
	}
	type removals struct {
		store.Meta `bson:",inline"`
		List       []struct{} `json:"list"`
	}
	left, err := store.Open[removals](api.DB, store.Spec{Name: "removals"}).List(t.Context(), store.Query{})
	if err != nil || slices.ContainsFunc(left, func(r removals) bool { return len(r.List) > 0 }) {
		t.Errorf("removals: %v, %v", left, err)
	}
}

// TestAPIKeys checks that API keys cannot call the routes of organizations.
func TestAPIKeys(t *testing.T) {
	w := start(t)
	apitest.Need(t, w.API, "POST /users/me/api-keys")
	key := w.Do(request{Method: "POST", Path: "/users/me/api-keys", As: w.owner.Token, JSON: map[string]any{"name": "x", "scopes": []string{"*:read", "*:write"}}}).JSON(201)["key"].(string)
	w.Do(request{Method: "GET", Path: "/organizations", As: key}).Want(403, "forbidden")
	w.Do(request{Method: "POST", Path: "/organizations", As: key, Form: url.Values{"name": {"x"}}}).Want(403, "forbidden")
}

// TestRoleInTag checks that the ETag of an organization depends on the role of the caller, and that each is accepted by If-Match.
func TestRoleInTag(t *testing.T) {
	w := start(t)
	path := "/organizations/" + w.id
	get := request{Method: "GET", Path: path, As: w.member.Token}
	get.Header = http.Header{"If-None-Match": {w.Do(get).Header.Get("ETag")}}
	w.Do(get).Want(304)
	w.Do(request{Method: "PATCH", Path: path + "/members/" + w.member.ID, As: w.superAdmin.Token, Form: url.Values{"role": {"admin"}}}).Want(200)
	again := w.Do(get)
	again.Want(200, `"role":"admin"`)
	w.Do(request{Method: "PATCH", Path: path, As: w.member.Token, Form: url.Values{"name": {"Growers"}}, Header: http.Header{"If-Match": {again.Header.Get("ETag")}}}).Want(200, "Growers")
}
