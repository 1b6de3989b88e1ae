package appointment

import "time"

// Settings are the settings of this module.
type Settings struct {
	// CancelNotice is how long before the start patients can cancel.
	CancelNotice time.Duration `mapstructure:"CANCEL_NOTICE" default:"24h" validate:"min=0s,max=720h"`
	// InsurerURL is the address of the insurer's API. Without it, insurance numbers are not checked.
	InsurerURL string `mapstructure:"INSURER_URL" validate:"omitempty,web_page" example:"https://api.insurer.example/v1"`
	// InsurerTimeout is the timeout of a call to the insurer.
	InsurerTimeout time.Duration `mapstructure:"INSURER_TIMEOUT" default:"2s" validate:"min=10ms,max=10s"`
}

// Check implements settings.Checker, for rules that tags cannot express.
func (s *Settings) Check(report func(name, reason string)) {
	if s.CancelNotice%time.Minute != 0 {
		report("CANCEL_NOTICE", "must be whole minutes, for example CANCEL_NOTICE=24h")
	}
}
