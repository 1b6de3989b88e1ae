package social

import (
	"regexp"
	"strings"
)

// MicrosoftSettings are the settings for Microsoft. Tenant is the ID or domain of a tenant, or "common", "organizations" or
// "consumers".
type MicrosoftSettings struct {
	IDs    []string `mapstructure:"MICROSOFT_CLIENT_ID" example:"6731de76-14a6-49ae-97bc-6eba6914391e"`
	Secret string   `mapstructure:"MICROSOFT_CLIENT_SECRET" validate:"required_with=IDs" example:"0123~abcdefghijklmnopqrstuvwxyz0123456789"`
	Tenant string   `mapstructure:"MICROSOFT_TENANT" default:"common" validate:"hostname_rfc1123"`
	URL    string   `mapstructure:"MICROSOFT_URL" default:"https://login.microsoftonline.com"`
}

// Check implements settings.Checker.
func (c *MicrosoftSettings) Check(report func(name, reason string)) {
	checkBase("MICROSOFT_URL", &c.URL, report)
}

const (
	microsoftVersion    = "/v2.0"
	microsoftTemplate   = "{tenantid}"
	microsoftConsumers  = "9188040d-6c67-4c5b-b112-36a304b66dad" // the tenant of personal accounts
	microsoftWorkTenant = "organizations"                        // all accounts except personal accounts
)

// tenantShape is the form of the ID of a tenant, a UUID.
var tenantShape = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// newMicrosoft returns the configuration of Microsoft (see "ID token claims reference" and "Claims validation" in the
// documentation of the Microsoft identity platform). If Tenant stands for several tenants, the issuer in the discovery document
// is a template with a placeholder for the user's tenant. If Tenant is a domain, the issuer contains the ID of the tenant.
//
// An administrator of any tenant can give an account any email address, so an address never counts as verified.
func newMicrosoft(c MicrosoftSettings) openID {
	return openID{
		name: "Microsoft", issuer: c.URL + "/" + c.Tenant + microsoftVersion, ids: c.IDs, secret: c.Secret,
		pkce: true, unverified: true, // pkce: not in the discovery document
		isIssuer: func(discovered string) bool {
			return strings.HasPrefix(discovered, c.URL+"/") && strings.HasSuffix(discovered, microsoftVersion)
		},
		tokenIssuer: func(discovered string, claims claims) string {
			if !tenantShape.MatchString(claims.Tenant) || c.Tenant == microsoftWorkTenant && claims.Tenant == microsoftConsumers {
				return ""
			}
			return strings.Replace(discovered, microsoftTemplate, claims.Tenant, 1)
		},
	}
}
