package twofactor

// requireAdmin is a value of REQUIRE_TWO_FACTOR.
const requireAdmin = "admin"

// Settings are the settings of this module.
type Settings struct {
	Keys    []string `mapstructure:"TWO_FACTOR_KEY" validate:"omitempty,secret" example:"change-me-to-a-third-long-random-secret"`
	Require string   `mapstructure:"REQUIRE_TWO_FACTOR" validate:"omitempty,oneof=admin" example:"admin"`
}
