package auth

import "time"

// Config is the section of the settings that this module reads.
type Config struct {
	Secret string        `env:"JWT_SECRET" secret:"yes" example:"change-me-to-another-long-random-secret"`
	TTL    time.Duration `env:"JWT_TTL" default:"1h" min:"1m" max:"720h"`
	// RefreshTTL is how long a session lasts from its sign-in or last refresh.
	RefreshTTL time.Duration `env:"REFRESH_TTL" default:"720h" min:"1h" max:"8760h"`
}
