package emailverification

import "time"

// Settings are the settings of this module.
type Settings struct {
	// TTL is the lifetime of a link that verifies an address.
	TTL time.Duration `mapstructure:"VERIFY_TTL" default:"24h" validate:"min=1m,max=168h"`
	// LinkOrigins are the pages that the link in an email may lead to: with a path, that page and those below it; without, all
	// of the origin. In development localhost is allowed too. If exactly one has a path, an email is sent at sign-up.
	LinkOrigins []string `mapstructure:"VERIFY_LINK_ORIGINS" validate:"dive,web_page" example:"https://app.example.com/verify"`
}
