package attack_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/ginseng/testkit"
)

// TestSecretsInTelemetry looks for secrets in the metrics and spans of all flows.
func TestSecretsInTelemetry(t *testing.T) {
	t.Parallel()
	o, exported := testkit.Observe(t)
	api := newWorld(t, testkit.Observed(o))
	ada, secrets := useAccount(t, api)
	ok(t, api.Do(request{Method: "DELETE", Path: "/users/me", As: ada.Token}))
	secrets["email address"] = ada.Email
	api.Finish()
	page := httptest.NewRecorder()
	o.Metrics(slog.New(slog.DiscardHandler)).ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if err := o.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := exported.GetSpans()
	raw := fmt.Sprintf("%+v", spans)
	if len(spans) < 200 || !strings.Contains(raw, ada.ID) || page.Body.Len() < 10_000 {
		t.Fatalf("%d spans and %d bytes of metrics are too few for all flows", len(spans), page.Body.Len())
	}
	calls := map[string]bool{}
	for _, s := range spans {
		calls[s.Name] = true
	}
	for _, name := range []string{"POST /auth/github", "PUT /password-resets/:token", "send email", "verify password", "POST", "insert identities"} {
		if !calls[name] {
			t.Errorf("there is no span %s", name)
		}
	}
	for name, secret := range secrets {
		if strings.Contains(raw, secret) {
			t.Errorf("the attack succeeded: the attacker read %s in a span", name)
		}
		if bytes.Contains(page.Body.Bytes(), []byte(secret)) {
			t.Errorf("the attack succeeded: the attacker read %s in the metrics", name)
		}
	}
}
