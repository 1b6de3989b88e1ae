package social

import (
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/testkit/providers"
)

// microsoftOf returns Microsoft as it is configured for a tenant.
func microsoftOf(tenant string) subject {
	return subject{
		fake: func(now func() time.Time) providers.Fake { return providers.NewMicrosoft(clientApp, now) },
		connect: func(n *internet, address, secret string) provider {
			openIDOf(n).SetIssuer(address)
			return n.environment().openID(newMicrosoft(MicrosoftSettings{IDs: []string{clientApp.ID}, Secret: secret, Tenant: tenant, URL: address}))
		},
	}
}

// TestMicrosoft signs in with a code. The address is not verified, even if a claim says so.
func TestMicrosoft(t *testing.T) {
	t.Parallel()
	n := microsoftOf("common").start(t)
	want := Profile{Subject: ada.ID, Email: ada.Email, Name: ada.Name, Picture: ada.Picture}
	for name, proof := range map[string]Proof{"code": n.code(ada.ID), "ID token": {IDToken: openIDOf(n).IDToken(ada.ID, providers.Claim("email_verified", true))}} {
		if p, err := n.ask(t, proof); err != nil || p != want {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	address, pkce, err := n.connect().authorization(t.Context())
	if err != nil || !pkce || address != n.address+"/common/oauth2/v2.0/authorize" {
		t.Errorf("%s, %t, %v", address, pkce, err)
	}
}

// TestMicrosoftTenants compares the issuer of an ID token with the tenant of the token and the tenant in the settings.
func TestMicrosoftTenants(t *testing.T) {
	t.Parallel()
	const tenant, other = providers.MicrosoftTenant, "f0000000-0000-4000-8000-000000000000"
	for _, test := range []struct {
		setting, discovered string // tenants in the settings and in the discovery document
		tid, iss            string // of the token; "": the token has no issuer
		want                apperr.Code
	}{
		{"common", "{tenantid}", tenant, tenant, ""},
		{"common", "{tenantid}", microsoftConsumers, microsoftConsumers, ""},
		{"common", "{tenantid}", tenant, other, apperr.Unauthorized},
		{"common", "{tenantid}", "", tenant, apperr.Unauthorized},
		{"common", "{tenantid}", "", "{tenantid}", apperr.Unauthorized},
		{"common", "{tenantid}", "../evil", "../evil", apperr.Unauthorized},
		{"common", "{tenantid}", tenant + "/x", tenant + "/x", apperr.Unauthorized},
		{"organizations", "{tenantid}", tenant, tenant, ""},
		{"organizations", "{tenantid}", microsoftConsumers, microsoftConsumers, apperr.Unauthorized},
		{"organizations", "{tenantid}", microsoftConsumers, "", apperr.Unauthorized},
		{"contoso.onmicrosoft.com", tenant, tenant, tenant, ""},
		{"contoso.onmicrosoft.com", tenant, other, other, apperr.Unauthorized},
		{tenant, tenant, tenant, tenant, ""},
		{tenant, tenant, tenant, other, apperr.Unauthorized},
	} {
		n := microsoftOf(test.setting).start(t)
		document := `{"issuer":"` + n.address + "/" + test.discovered + `/v2.0","authorization_endpoint":"` + n.address + `/x","token_endpoint":"` + n.address + `/x","jwks_uri":"` + n.address + `/common/discovery/v2.0/keys"}`
		n.respondJSON("/"+test.setting+"/v2.0"+discoveryPath, document)
		issuer := providers.Claim("iss", n.address+"/"+test.iss+"/v2.0")
		if test.iss == "" {
			issuer = providers.Claim("iss", nil)
		}
		token := openIDOf(n).IDToken(ada.ID, providers.Claim("tid", test.tid), issuer)
		if _, err := n.ask(t, Proof{IDToken: token}); apperr.CodeOf(err) != test.want {
			t.Errorf("%+v: %v", test, err)
		}
		n.respondJSON("/"+test.setting+"/v2.0"+discoveryPath, strings.Replace(document, n.address, "https://evil.example.com", 1))
		if _, err := n.ask(t, Proof{IDToken: token}); !apperr.Is(err, apperr.Unavailable) {
			t.Errorf("another issuer: %v", err)
		}
	}
}

func TestMicrosoftSettings(t *testing.T) {
	t.Parallel()
	for tenant, want := range map[string]string{"common": "", "contoso.onmicrosoft.com": "", providers.MicrosoftTenant: "", "a/b": "MICROSOFT_TENANT", "": "MICROSOFT_TENANT"} {
		s := MicrosoftSettings{IDs: []string{"1"}, Secret: "x", Tenant: tenant, URL: "https://login.microsoftonline.com"}
		if got := invalidSettings(&s); got != want {
			t.Errorf("%s: %s, want %s", tenant, got, want)
		}
	}
}
