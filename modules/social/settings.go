package social

import (
	"log/slog"
	"maps"
	"net/url"
	"strings"
	"time"
)

// Settings are the settings of this module.
type Settings struct {
	Facebook FacebookSettings
	GitHub   GitHubSettings
	Google   GoogleSettings
}

// providers returns the configured providers by name.
func (c Settings) providers(calls *client, log *slog.Logger, now func() time.Time) map[string]provider {
	all := map[string]provider{
		"facebook": {c.Facebook.ID != "", c.Facebook.GraphURL, newFacebook(c.Facebook, calls).profile},
		"github":   {c.GitHub.ID != "", c.GitHub.APIURL, newGitHub(c.GitHub, calls).profile},
		"google":   {len(c.Google.IDs) > 0, c.Google.Issuer, newGoogle(c.Google, calls, log, now).profile},
	}
	maps.DeleteFunc(all, func(_ string, p provider) bool { return !p.configured })
	return all
}

// checkBase removes trailing slashes from a base URL. It reports one that is invalid or to which no path can be added.
func checkBase(name string, address *string, report func(name, reason string)) {
	*address = strings.TrimRight(*address, "/")
	u, err := url.Parse(*address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.ContainsAny(*address, "?#") {
		report(name, "must be a URL with https:// or http://, without user, query and fragment, for example "+name+"=https://login.example.com")
	}
}
