package user

// Settings are the settings of this module.
type Settings struct {
	// PublicSignup allows sign-up, sign-in and password resets without the master key, for frontends without a server
	// that could keep it.
	PublicSignup bool `mapstructure:"PUBLIC_SIGNUP" default:"false"`
	// SignupEmail is optional, or required: an account whose email address is not verified cannot change anything, except
	// its address and its password, end its sessions, and delete itself.
	SignupEmail string `mapstructure:"SIGNUP_EMAIL" default:"optional" validate:"oneof=optional required"`
	// SecurityNotices sends users an email about changes of their account that somebody else may have made.
	SecurityNotices bool `mapstructure:"SECURITY_NOTICES" default:"true"`
}
