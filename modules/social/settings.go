package social

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Settings are the settings of this module.
type Settings struct {
	Apple     AppleSettings
	Facebook  FacebookSettings
	GitHub    GitHubSettings
	GitLab    GitLabSettings
	Google    GoogleSettings
	Microsoft MicrosoftSettings
	OIDC      map[string]OIDCSettings `mapstructure:"OIDC_PROVIDERS" example:"okta,azure"`
}

var (
	nameShape = regexp.MustCompile(`^[a-z][a-z0-9]{0,31}$`)
	routes    = []string{"identities", "passkey", "providers", "refresh", "sessions"} // path segments of other routes below /auth
)

// Check implements settings.Checker.
func (c *Settings) Check(report func(name, reason string)) {
	presets := Settings{}.all(environment{})
	for name := range c.OIDC {
		if _, isPreset := presets[name]; isPreset || slices.Contains(routes, name) || !nameShape.MatchString(name) {
			report("OIDC_PROVIDERS", "must list names of 1 to 32 lower-case letters and digits that begin with a letter. These names are reserved: "+
				strings.Join(append(slices.Sorted(maps.Keys(presets)), routes...), ", "))
		}
	}
}

// all returns all providers by name, including providers that are not configured.
func (c Settings) all(e environment) map[string]provider {
	all := map[string]provider{
		"apple":     e.openID(newApple(c.Apple, e.now)),
		"facebook":  newFacebook(c.Facebook, e.calls).provider(),
		"github":    newGitHub(c.GitHub, e.calls).provider(),
		"gitlab":    e.openID(newGitLab(c.GitLab)),
		"google":    e.openID(newGoogle(c.Google)),
		"microsoft": e.openID(newMicrosoft(c.Microsoft)),
	}
	for name, s := range c.OIDC {
		all[name] = e.openID(newOIDC(name, s))
	}
	return all
}

// providers returns the configured providers by name.
func (c Settings) providers(e environment) map[string]provider {
	all := c.all(e)
	maps.DeleteFunc(all, func(_ string, p provider) bool { return p.clientID == "" })
	return all
}

// clientIDs returns the name of the setting with the client ID of each provider, by the name of the provider, also of providers
// that are not configured.
func (c Settings) clientIDs() map[string]string {
	names := map[string]string{}
	for name := range c.all(environment{}) {
		names[name] = strings.ToUpper(name) + "_CLIENT_ID"
	}
	for name := range c.OIDC {
		names[name] = "OIDC_" + names[name]
	}
	return names
}

// checkBase removes trailing slashes from a base URL. It reports a URL that is invalid or to which no path can be added.
func checkBase(name string, address *string, report func(name, reason string)) {
	*address = strings.TrimRight(*address, "/")
	u, err := url.Parse(*address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.ContainsAny(*address, "?#") {
		report(name, "must be a URL with https:// or http://, without user, query and fragment, for example "+name+"=https://login.example.com")
	}
}
