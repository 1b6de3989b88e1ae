package invoice

import (
	"time"

	"example.com/ginseng/kit/signature"
)

// Settings are the settings of this module.
type Settings struct {
	// PaymentSecrets are the secrets with which the payment provider signs its events: one or, while it is replaced, two. Without
	// them, the service has no route for events.
	PaymentSecrets []string `mapstructure:"PAYMENT_SECRETS" example:"whsec_the-secret-that-the-provider-shows"`
}

// Check implements settings.Checker.
func (s *Settings) Check(report func(name, reason string)) {
	if len(s.PaymentSecrets) == 0 {
		return
	}
	if _, err := signature.NewTimestamped(time.Now, paymentSignature, s.PaymentSecrets...); err != nil {
		report("PAYMENT_SECRETS", err.Error())
	}
}
