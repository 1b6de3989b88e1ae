package passkey_test

import (
	"strings"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit/authenticator"
)

// TestInvalid sends credentials that do not have the form of a PublicKeyCredential.
func TestInvalid(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, d := api.SignUp("user"), device()
	register(t, api, ada, d).Want(201)
	huge := strings.Repeat("A", 7_000)
	value := func(v any) func(*authenticator.Credential) any {
		return func(*authenticator.Credential) any { return v }
	}
	response := func(name string, v any) func(*authenticator.Credential) any {
		return func(c *authenticator.Credential) any {
			c.Response[name] = v
			return c
		}
	}
	for _, test := range []struct {
		name   string
		edit   func(*authenticator.Credential) any
		status int
		body   string
	}{
		{"missing", value(nil), 400, `"required"`},
		{"a number", value(5), 400, `"type"`},
		{"an operator", value(map[string]any{"$gt": ""}), 400, `"format"`},
		{"empty", value(map[string]any{}), 400, `"format"`},
		{"no response", value(map[string]any{"id": "AA", "rawId": "AA", "type": "public-key"}), 400, `"format"`},
		{"a huge ID", func(c *authenticator.Credential) any { c.ID, c.RawID = huge, huge; return c }, 401, ""},
		{"another type", func(c *authenticator.Credential) any { c.Type = "password"; return c }, 400, `"format"`},
		{"IDs that differ", func(c *authenticator.Credential) any { c.ID = "AAAA"; return c }, 400, `"format"`},
		{"a huge signature", response("signature", huge), 401, ""},
		{"huge authenticator data", response("authenticatorData", huge), 400, `"format"`},
		{"larger than a body", response("signature", huge+huge+huge), 413, ""},
		{"not base64url", response("signature", "/+=="), 400, `"format"`},
		{"a number as user handle", response("userHandle", 5), 400, `"format"`},
		{"client data without fields", response("clientDataJSON", "e30"), 401, ""},
		{"a result that was not requested", func(c *authenticator.Credential) any {
			c.Extensions["credProps"] = map[string]any{"rk": true}
			return c
		}, 201, ""},
		{"a result of another type", func(c *authenticator.Credential) any { c.Extensions["appid"] = "yes"; return c }, 400, `"format"`},
	} {
		params := assertion(t, api, d)
		credential := params["credential"].(authenticator.Credential)
		params["credential"] = test.edit(&credential)
		t.Log(test.name)
		api.Do(request{Method: "POST", Path: "/auth/passkey", JSON: params}).Want(test.status, test.body)
	}
}
