package user

// Config is the section of the settings that this module reads.
type Config struct {
	// PublicSignup lifts the master key from sign-up, sign-in and asking for a password reset, for frontends that have no server of their own to
	// keep it.
	PublicSignup bool `env:"PUBLIC_SIGNUP" default:"false"`
}
