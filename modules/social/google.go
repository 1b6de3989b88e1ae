package social

const googleIssuer = "https://accounts.google.com"

// GoogleSettings are the settings for Google. IDs are the client IDs for the web, iOS and Android. Authorization codes are
// exchanged with the first ID and Secret. The client IDs of apps have no secret.
type GoogleSettings struct {
	IDs    []string `mapstructure:"GOOGLE_CLIENT_ID" example:"1234-web.apps.googleusercontent.com,1234-ios.apps.googleusercontent.com"`
	Secret string   `mapstructure:"GOOGLE_CLIENT_SECRET" example:"GOCSPX-0123456789abcdefghijklmnopqr"`
	Issuer string   `mapstructure:"GOOGLE_ISSUER" default:"https://accounts.google.com"`
}

// Check implements settings.Checker.
func (c *GoogleSettings) Check(report func(name, reason string)) {
	checkBase("GOOGLE_ISSUER", &c.Issuer, report)
}

// newGoogle returns the configuration of Google (see "OpenID Connect" in Google's identity documentation). The discovery document
// does not contain the URL of the tokeninfo endpoint.
func newGoogle(c GoogleSettings) openID {
	base := c.Issuer
	if base == googleIssuer {
		base = "https://oauth2.googleapis.com"
	}
	return openID{name: "Google", issuer: c.Issuer, ids: c.IDs, secret: c.Secret, tokenInfo: base + "/tokeninfo"}
}
