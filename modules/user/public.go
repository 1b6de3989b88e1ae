package user

// PublicSignUp reports whether anyone may sign up without the master key.
func (s *Service) PublicSignUp() bool { return s.settings.PublicSignup }

// PublicSignIn reports whether anyone may begin a sign-in or a password reset without the master key.
func (s *Service) PublicSignIn() bool {
	if s.settings.PublicSignin != "" {
		return s.settings.PublicSignin == "true"
	}
	return s.settings.PublicSignup || s.openSignIn
}

// OpenSignIn allows sign-in without the master key, unless PUBLIC_SIGNIN is set. If this changes anything, it logs a line with the
// reason, such as "ADMIN=true". It must be called before the server starts.
func (m *Module) OpenSignIn(reason string) {
	required := !m.PublicSignIn()
	m.openSignIn = true
	if required && m.PublicSignIn() {
		m.log.Info("sign-in needs no master key; PUBLIC_SIGNIN=false requires it", "reason", reason)
	}
}
