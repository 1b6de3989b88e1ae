package user

// Settings are the settings of this module.
type Settings struct {
	// PublicSignup allows sign-up, sign-in and password resets without the master key, for frontends without a server
	// that could keep it.
	PublicSignup bool `mapstructure:"PUBLIC_SIGNUP" default:"false"`
}
