package passwordreset

import (
	"net/url"
	"time"

	"example.com/ginseng/kit/email"
)

// Config is the section of the settings that this module reads.
type Config struct {
	// TTL is how long a reset is good.
	TTL time.Duration `env:"RESET_TTL" default:"1h" min:"1m" max:"24h"`
	// LinkOrigins are the sites to which the link of a mail may lead. In development any localhost is one of them.
	LinkOrigins []string `env:"RESET_LINK_ORIGINS" example:"https://app.example.com"`
	Mail        email.Config
}

// Check finds what the tags cannot say.
func (c *Config) Check(_ bool, bad func(name, wrong string)) {
	for _, text := range c.LinkOrigins {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || text != u.Scheme+"://"+u.Host {
			bad("RESET_LINK_ORIGINS", "must list origins, each http:// or https:// and a host without a path, for example RESET_LINK_ORIGINS=https://app.example.com")
		}
	}
}
