package social

import (
	"net/url"
	"strings"
	"time"
)

// Config is the section of the settings that this module reads.
type Config struct {
	Facebook FacebookConfig
	GitHub   GitHubConfig
	Google   GoogleConfig
}

// providers are those at which this service has a client, by their names.
func (c Config) providers(calls *client, now func() time.Time) map[string]provider {
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

// needSecret finds an id without its secret. The prefix is that of the names of both settings.
func needSecret(prefix, id, secret string, bad func(name, wrong string)) {
	if id != "" && secret == "" {
		bad(prefix+"_CLIENT_SECRET", "is missing; "+prefix+"_CLIENT_ID needs it")
	}
}

// checkBase finds an address to which no path can be added, and takes the slashes from its end.
func checkBase(name string, address *string, bad func(name, wrong string)) {
	*address = strings.TrimRight(*address, "/")
	u, err := url.Parse(*address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.ContainsAny(*address, "?#") {
		bad(name, "must be an address that begins with https:// or http://, without user, query and fragment, for example "+name+"=https://login.example.com")
	}
}
