package social

import (
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

// providers are those at which this service has a client, by their names.
func (c Settings) providers(calls *client, now func() time.Time) map[string]provider {
	all := make(map[string]provider)
	add := func(name string, configured bool, p provider) {
		if configured {
			all[name] = p
		}
	}
	add("facebook", c.Facebook.ID != "", newFacebook(c.Facebook, calls))
	add("github", c.GitHub.ID != "", newGitHub(c.GitHub, calls))
	add("google", len(c.Google.IDs) > 0, newGoogle(c.Google, calls, now))
	return all
}

// checkBase reports a base URL to which no path can be added, and removes trailing slashes.
func checkBase(name string, address *string, report func(name, reason string)) {
	*address = strings.TrimRight(*address, "/")
	u, err := url.Parse(*address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.ContainsAny(*address, "?#") {
		report(name, "must be a URL with https:// or http://, without user, query and fragment, for example "+name+"=https://login.example.com")
	}
}
