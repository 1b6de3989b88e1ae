package attack_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/testkit"
)

// database keeps the collections that the service opens, so that a test can read them as whoever stole a backup does.
type database struct {
	store.DB
	collections map[string]store.Engine
}

// Open remembers the collection.
func (d *database) Open(spec store.Spec) store.Engine {
	d.collections[spec.Name] = d.DB.Open(spec)
	return d.collections[spec.Name]
}

// recorded lets the test read the service's database.
func recorded(d *database) testkit.Option {
	return func(c *testkit.Config) {
		d.DB, d.collections = c.DB, make(map[string]store.Engine)
		c.DB = d
	}
}

// documents are all that a collection holds, as it is stored.
func (d *database) documents(t *testing.T, collection string) []map[string]any {
	t.Helper()
	engine := d.collections[collection]
	if engine == nil {
		t.Fatalf("the service opens no collection %q; there are %v", collection, slices.Sorted(maps.Keys(d.collections)))
	}
	var documents []*map[string]any
	err := engine.List(t.Context(), store.Query{}, func() any {
		documents = append(documents, new(map[string]any))
		return documents[len(documents)-1]
	})
	raw, marshalError := json.Marshal(documents)
	var plain []map[string]any // whatever types the engine has of its own
	if err := errors.Join(err, marshalError, json.Unmarshal(raw, &plain)); err != nil {
		t.Fatal(err)
	}
	return plain
}

// texts calls found with each text in a document, however deep.
func texts(value any, found func(string)) {
	switch v := value.(type) {
	case string:
		found(v)
	case []any:
		for _, item := range v {
			texts(item, found)
		}
	case map[string]any:
		for _, item := range v {
			texts(item, found)
		}
	}
}

// TestStolenDatabase reads every document that a life leaves behind, and tries whatever stands in them for whatever it
// could be good for. Who steals a database knows the source too: what is put together of two fields, she puts together.
func TestStolenDatabase(t *testing.T) {
	t.Parallel()
	var db database
	api := newWorld(t, recorded(&db))
	ada, secrets := life(t, api)
	tried := 0
	for _, collection := range slices.Sorted(maps.Keys(db.collections)) {
		for _, document := range db.documents(t, collection) {
			raw, err := json.Marshal(document)
			if err != nil {
				t.Fatal(err)
			}
			for name, secret := range secrets {
				if strings.Contains(string(raw), secret) {
					t.Errorf("the attack succeeded: the attacker read %s in %s: %s", name, collection, raw)
				}
			}
			candidates := []string{together(document["family"], document["current"])}
			texts(document, func(text string) { candidates = append(candidates, text) })
			for _, text := range candidates {
				tried++
				for use, r := range map[string]request{
					"a look at a reset": {Method: "GET", Path: "/password-resets/" + url.PathEscape(text)},
					"a reset":           complete(text, guess),
					"a user token":      me(url.QueryEscape(text)),
					"a refresh token":   {Method: "POST", Path: "/auth/refresh", JSON: map[string]string{"refresh_token": text, "access_token": testkit.MasterKey}},
				} {
					if got := api.Do(r); got.Status < 400 {
						t.Errorf("the attack succeeded: the attacker used %q of %s as %s: %d %s", text, collection, use, got.Status, got.Body)
					}
				}
			}
			if hash, _ := document["password"].(string); hash != "" {
				want(t, 401, api.Do(signIn(ada.Email, hash)), "a hash as password")
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d texts were found", tried)
	}
}

// together is the refresh token whose parts are stored as they are, if they are.
func together(family, secret any) string {
	var token []byte
	for _, part := range []any{family, secret} {
		text, _ := part.(string)
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			return ""
		}
		token = append(token, raw...)
	}
	return base64.RawURLEncoding.EncodeToString(token)
}
