package testkit

import (
	"net/http"
	"slices"
	"strings"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
)

// OrganizationID is the ID of the organization of the records that checks store. Its members are the callers owner and member, and
// org:ROLE for each role. The caller elsewhere is the owner of another organization.
var OrganizationID = store.ID{10: 1, 11: 1}

var otherOrganization = store.ID{10: 1, 11: 2}

// organization and membership are stored as the component organization stores them.
type organization struct {
	store.Meta `bson:",inline"`
	Name       string     `json:"name"`
	OwnerIDs   []store.ID `json:"ownerIds"`
}

type membership struct {
	store.Meta              `bson:",inline"`
	resource.InOrganization `bson:",inline"`
	UserID                  store.ID    `json:"userId"`
	Role                    access.Role `json:"role"`
}

// Join makes a user a member of an organization, which need not exist. If it exists and the role is owner, the user is one of its
// owners, too.
func (a *API) Join(id store.ID, user Account, role access.Role) {
	a.t.Helper()
	userID, _ := store.ParseID(user.ID)
	if role == "owner" {
		organizations := store.Open[organization](a.DB, store.Spec{Name: "organizations"})
		o, err := organizations.Get(a.t.Context(), id)
		if err == nil {
			_, err = organizations.Update(a.t.Context(), store.Eq("id", id), store.Set("ownerIds", append(o.OwnerIDs, userID)))
		}
		if err != nil && !apperr.Is(err, apperr.NotFound) {
			a.t.Fatal(err)
		}
	}
	Insert(a, "memberships", membership{store.NewMeta(store.NewID(), store.At(a.Clock.Now())), resource.InOrganization{OrganizationID: id}, userID, role})
}

// inOrganization reports whether members of an organization may call a method: records, or their parents, belong to organizations.
func (r Resource) inOrganization() bool {
	for _, rule := range r.Callers {
		if isOrgRule(rule) {
			return true
		}
	}
	return r.Organization
}

// isOrgRule reports whether a rule in Callers is for members.
func isOrgRule(rule string) bool { return rule == "org" || strings.HasPrefix(rule, "org=") }

// hidesOrganization reports whether only members see the records.
func (r Resource) hidesOrganization() bool {
	for _, method := range []string{"show", "list"} {
		if rule, has := r.Callers[method]; has {
			return isOrgRule(rule)
		}
	}
	return true
}

// orgCallers are the callers of a resource of organizations besides those of every resource.
func (r Resource) orgCallers() []string {
	out := []string{"owner", "member", "former member", "elsewhere", "narrow key", "org:owner", "org:admin"}
	for _, rule := range r.Callers {
		if names, ok := strings.CutPrefix(rule, "org="); ok {
			for name := range strings.SplitSeq(names, ",") {
				out = append(out, "org:"+name)
			}
		}
	}
	return out
}

// promisedOrg is promised for a method of a resource of organizations, and callers who are signed in.
func (r Resource) promisedOrg(method, caller string, success int) int {
	role, isRole := strings.CutPrefix(caller, "org:")
	member := isRole || caller == "owner" || caller == "member" || caller == "narrow key"
	names, narrowed := strings.CutPrefix(r.Callers[method], "org=")
	writes := method != "list" && method != "show"
	switch {
	case caller == "admin":
		return success
	case caller == "narrow key" && writes:
		return 403
	case member && narrowed && !(isRole && slices.Contains(strings.Split(names, ","), role)):
		return 403
	case member, method == "list" && r.Under == "", !isOrgRule(r.Callers[method]):
		return success
	case method == "create" && r.Under == "":
		return 400
	case r.hidesOrganization():
		return 404
	}
	return 403
}

// startOrganizations stores the organizations.
func (s *suite) startOrganizations() {
	s.t.Helper()
	if !s.inOrganization() {
		return
	}
	for _, id := range []store.ID{OrganizationID, otherOrganization} {
		Insert(s.API, "organizations", organization{store.NewMeta(id, store.At(s.Clock.Now())), "Example", nil})
	}
}

// orgAccount returns the account of one of orgCallers; ok is false for other callers.
func (s *suite) orgAccount(caller string) (a Account, ok bool) {
	s.t.Helper()
	role, isRole := strings.CutPrefix(caller, "org:")
	if !s.inOrganization() || !isRole && !slices.Contains([]string{"owner", "member", "former member", "elsewhere", "narrow key"}, caller) {
		return a, false
	}
	a = s.SignUp("user")
	switch caller {
	case "elsewhere":
		s.Join(otherOrganization, a, "owner")
		return a, true
	case "former member":
		s.Join(OrganizationID, a, "member")
		s.Do(Request{Method: "GET", Path: s.Path, As: a.Token})
		id, _ := store.ParseID(a.ID)
		_, err := store.Open[membership](s.DB, store.Spec{Name: "memberships"}).Delete(s.t.Context(), store.Eq("userId", id))
		s.must(err)
		return a, true
	}
	if !isRole {
		role = "member"
	}
	s.Join(OrganizationID, a, access.Role(role))
	if caller == "narrow key" {
		key := s.Do(Request{Method: "POST", Path: "/users/me/api-keys", As: a.Token, JSON: map[string]any{"name": "narrow", "scopes": []string{"*:read"}}})
		if key.Status == http.StatusNotFound || key.Status == http.StatusMethodNotAllowed {
			s.t.Skip("without the component api-key")
		}
		a.Token = textOf(key.JSON(201)["key"])
	}
	return a, true
}

// elsewhere changes the body of a creation so that the record belongs to the other organization, if to any, and refers to records of
// the other organization. It returns the body.
func (s *suite) elsewhere(body map[string]any) map[string]any {
	s.t.Helper()
	if !s.Organization {
		return body
	}
	body[resource.OrganizationID] = otherOrganization.Hex()
	id := store.NewID()
	s.organization = otherOrganization
	defer func() { s.organization = OrganizationID }()
	for _, insert := range s.Records {
		insert(s.API, id, s.ownerID())
	}
	for _, f := range s.Fields {
		if _, set := body[f.Name]; !set || f.Refers == nil || f.Refers.Self {
			continue
		}
		body[f.Name] = id.Hex()
		if f.kind.isList {
			body[f.Name] = slices.Repeat([]any{id.Hex()}, len(f.Samples[0].([]any)))
		}
	}
	return body
}

// checkOrganization checks the organization of a record: the default at creation, that it never changes, and the filter.
func checkOrganization(s *suite) {
	s = s.start(true)
	elsewhere := s.account("elsewhere")
	if s.has("create") && s.status("create", "owner") == 201 {
		body := s.valid()
		delete(body, resource.OrganizationID)
		created := s.create(body).JSON(201)
		s.compare(created, map[string]any{resource.OrganizationID: OrganizationID.Hex()})
		for _, token := range []string{s.account("user").Token, s.account("admin").Token} {
			s.reject(Request{Method: "POST", Path: s.Path, As: token, JSON: without(s.valid(), resource.OrganizationID)}, resource.OrganizationID, "required")
		}
		s.reject(Request{Method: "POST", Path: s.Path, As: elsewhere.Token, JSON: s.valid()}, resource.OrganizationID, "unknown_reference")
	}
	path := s.add(s.valid())
	if s.has("update") {
		update := Request{Method: "PATCH", Path: path, As: s.as("update"), JSON: withValue(s.preparedUpdate(map[string]any{}), resource.OrganizationID, otherOrganization.Hex())}
		s.reject(update, resource.OrganizationID, "read_only")
		update.JSON = withValue(s.preparedUpdate(map[string]any{}), resource.OrganizationID, OrganizationID.Hex())
		s.expect(200, update)
	}
	if s.has("list") {
		s.rowsOf("a member", s.page(s.as("list"), "organizationId="+OrganizationID.Hex()).Rows, path)
		if page := s.page(s.as("list"), "organizationId="+otherOrganization.Hex()); !page.has(0, 0) {
			s.t.Errorf("organizationId of another organization: %d records", len(page.Rows))
		}
	}
}

func without(body map[string]any, field string) map[string]any {
	delete(body, field)
	return body
}
