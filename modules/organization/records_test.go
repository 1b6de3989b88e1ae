package organization_test

import (
	"net/url"
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/organization"
)

// TestRecords checks what a record of an organization shows of it, and that nothing reads the record after the organization.
func TestRecords(t *testing.T) {
	t.Parallel()
	api := startNotes(t)
	owner := api.SignUp("user")
	create := func(name string) (id, path string) {
		id = api.Do(request{Method: "POST", Path: "/organizations", As: owner.Token, Form: url.Values{"name": {name}}}).JSON(201)["id"].(string)
		note := map[string]any{"title": "walnut", "organizationId": id}
		path = "/notes/" + api.Do(request{Method: "POST", Path: "/notes", As: owner.Token, JSON: note}).JSON(201)["id"].(string)
		if r := api.Do(request{Method: "POST", Path: "/notes", As: owner.Token, JSON: note}); r.Status != 409 || strings.Contains(string(r.Body), "organizationId") {
			t.Errorf("a conflict: %d %s", r.Status, r.Body)
		}
		return id, path
	}
	id, note := create("Farmers")
	expanded := api.Do(request{Method: "GET", Path: note + "?expand=organizationId", As: owner.Token}).JSON(200)["expand"].(map[string]any)["organizationId"].(map[string]any)
	if _, hasRole := expanded["role"]; hasRole || expanded["name"] != "Farmers" {
		t.Errorf("expanded: %v", expanded)
	}
	api.Do(request{Method: "PUT", Path: note + "/cover", As: owner.Token, Body: "seeds", ContentType: "text/plain"}).Want(200)
	_, link, _ := strings.Cut(api.Do(request{Method: "POST", Path: note + "/cover/link", As: owner.Token}).JSON(201)["url"].(string), "?")
	get := request{Method: "GET", Path: note + "/cover?" + link}
	api.Do(get).Want(200, "seeds")
	api.Do(request{Method: "DELETE", Path: "/organizations/" + id, As: owner.Token}).Want(204)
	api.Do(get).Want(404)

	id, note = create("Growers") // whose deletion is interrupted after the organization
	api.Do(request{Method: "GET", Path: note, As: owner.Token}).Want(200)
	gone, _ := store.ParseID(id)
	if err := store.Open[organization.Organization](api.DB, store.Spec{Name: "organizations"}).DeleteByID(t.Context(), gone, nil); err != nil {
		t.Fatal(err)
	}
	api.Do(request{Method: "GET", Path: note, As: owner.Token}).Want(404)
}
