package auth

import "time"

// Config is the section of the settings that this module reads.
type Config struct {
	Secret string        `env:"JWT_SECRET" secret:"yes" example:"change-me-to-another-long-random-secret"`
	TTL    time.Duration `env:"JWT_TTL" default:"1h" min:"1m" max:"720h"`
	// RefreshTTL is how long a session lasts from its sign-in or last refresh.
	RefreshTTL time.Duration `env:"REFRESH_TTL" default:"720h" min:"1h" max:"8760h"`
}

// Check finds what the tags cannot say.
func (c *Config) Check(_ bool, bad func(name, wrong string)) {
	if c.RefreshTTL < c.TTL {
		bad("REFRESH_TTL", "must not be shorter than JWT_TTL, for example JWT_TTL=1h and REFRESH_TTL=720h")
	}
}
