package auth

import "time"

// Settings are the settings of this module.
type Settings struct {
	Secret string        `mapstructure:"JWT_SECRET" validate:"secret" example:"change-me-to-another-long-random-secret"`
	TTL    time.Duration `mapstructure:"JWT_TTL" default:"1h" validate:"min=1m,max=720h"`
	// RefreshTTL is the lifetime of a session since its creation or last refresh.
	RefreshTTL time.Duration `mapstructure:"REFRESH_TTL" default:"720h" validate:"min=1h,max=8760h,gtefield=TTL"`
}
