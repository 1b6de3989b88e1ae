package passwordreset

import "time"

// Settings are the settings of this module.
type Settings struct {
	// TTL is the lifetime of a reset.
	TTL time.Duration `mapstructure:"RESET_TTL" default:"1h" validate:"min=1m,max=24h"`
	// LinkOrigins are the pages that the link in an email may lead to: with a path, that page and those below it; without, all
	// of the origin. In development localhost is allowed too.
	LinkOrigins []string `mapstructure:"RESET_LINK_ORIGINS" validate:"dive,web_page" example:"https://app.example.com/reset"`
}
