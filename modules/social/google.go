package social

const googleIssuer = "https://accounts.google.com"

// GoogleSettings are the settings for Google. The IDs are those of all clients: web, iOS, Android. Codes are exchanged with
// the first one, whose secret is Secret; clients of apps have none.
type GoogleSettings struct {
	IDs    []string `mapstructure:"GOOGLE_CLIENT_ID" example:"1234-web.apps.googleusercontent.com,1234-ios.apps.googleusercontent.com"`
	Secret string   `mapstructure:"GOOGLE_CLIENT_SECRET" example:"GOCSPX-0123456789abcdefghijklmnopqr"`
	Issuer string   `mapstructure:"GOOGLE_ISSUER" default:"https://accounts.google.com"`
}

// Check implements settings.Checker.
func (c *GoogleSettings) Check(report func(name, reason string)) {
	checkBase("GOOGLE_ISSUER", &c.Issuer, report)
}

// newGoogle returns Google ("OpenID Connect" in its identity documentation). The URL of tokeninfo is not in its discovery
// document.
func newGoogle(c GoogleSettings) openID {
	base := c.Issuer
	if base == googleIssuer {
		base = "https://oauth2.googleapis.com"
	}
	return openID{name: "Google", issuer: c.Issuer, ids: c.IDs, secret: c.Secret, tokenInfo: base + "/tokeninfo"}
}
