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
	"example.com/ginseng/testkit"
)

// database records the service's collections, so that a test can read all documents as from a stolen backup.
type database struct {
	store.DB
	collections map[string]store.Engine
}

// Open records the collection.
func (d *database) Open(spec store.Spec) store.Engine {
	d.collections[spec.Name] = d.DB.Open(spec)
	return d.collections[spec.Name]
}

// recorded is an option that records the service's database in db.
func recorded(d *database) testkit.Option {
	return func(c *testkit.Config) {
		d.DB, d.collections = c.DB, make(map[string]store.Engine)
		c.DB = d
	}
}

// documents returns all stored documents of a collection.
func (d *database) documents(t *testing.T, collection string) []map[string]any {
	t.Helper()
	engine := d.collections[collection]
	if engine == nil {
		t.Fatalf("the service opened no collection %q, only %v", collection, slices.Sorted(maps.Keys(d.collections)))
	}
	var documents []*map[string]any
	_, err := engine.List(t.Context(), store.Query{}, func() any {
		documents = append(documents, new(map[string]any))
		return documents[len(documents)-1]
	})
	raw, marshalError := json.Marshal(documents)
	var plain []map[string]any // converts the types of the engine
	if err := errors.Join(err, marshalError, json.Unmarshal(raw, &plain)); err != nil {
		t.Fatal(err)
	}
	return plain
}

// texts calls found with each string in a document at any depth.
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

// TestStolenDatabase reads every stored document after all kinds of requests, and tries each string as every kind of
// credential. The attacker knows the source code, so the test also combines fields.
func TestStolenDatabase(t *testing.T) {
	t.Parallel()
	var db database
	api := newWorld(t, recorded(&db))
	ada, secrets := useAccount(t, api)
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
					"a look at a reset":        {Method: "GET", Path: "/password-resets/" + url.PathEscape(text)},
					"a reset":                  complete(text, guess),
					"a look at a verification": {Method: "GET", Path: "/email-verifications/" + url.PathEscape(text)},
					"a verification":           {Method: "PUT", Path: "/email-verifications/" + url.PathEscape(text)},
					"a user token":             me(url.QueryEscape(text)),
					"a refresh token":          {Method: "POST", Path: "/auth/refresh", JSON: map[string]string{"refresh_token": text, "access_token": testkit.MasterKey}},
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
		t.Errorf("only %d strings were found", tried)
	}
}

// together is a refresh token that could be built from stored fields.
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
