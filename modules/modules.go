// Package modules is the registry of the service's modules.
package modules

import (
	"example.com/ginseng/kit"
	"example.com/ginseng/modules/admin"
	apikey "example.com/ginseng/modules/api-key"
	"example.com/ginseng/modules/article"
	"example.com/ginseng/modules/auth"
	emailcode "example.com/ginseng/modules/email-code"
	emailverification "example.com/ginseng/modules/email-verification"
	"example.com/ginseng/modules/mcp"
	"example.com/ginseng/modules/organization"
	"example.com/ginseng/modules/passkey"
	passwordreset "example.com/ginseng/modules/password-reset"
	"example.com/ginseng/modules/policy"
	"example.com/ginseng/modules/social"
	twofactor "example.com/ginseng/modules/two-factor"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/modules/webhook"
)

// Settings has the settings of every module.
type Settings struct {
	Admin             admin.Settings
	Auth              auth.Settings
	EmailCode         emailcode.Settings
	EmailVerification emailverification.Settings
	Organization      organization.Settings
	Passkey           passkey.Settings
	PasswordReset     passwordreset.Settings
	Social            social.Settings
	TwoFactor         twofactor.Settings
	User              user.Settings
	Webhook           webhook.Settings
}

// New creates the modules, dependencies first. A constructor can register its module with the modules that it receives, for
// example to delete the data of a deleted user. The doc comment of each constructor states what the constructor registers.
func New(d kit.Deps, s Settings) []kit.Module {
	users := user.New(d, s.User)
	sessions := auth.New(d, s.Auth, users)
	socials := social.New(d, s.Social, users, sessions)
	resets := passwordreset.New(d, s.PasswordReset, users)
	verifications := emailverification.New(d, s.EmailVerification, users)
	codes := emailcode.New(d, s.EmailCode, users, sessions)
	factors := twofactor.New(d, s.TwoFactor, users, sessions)
	passkeys := passkey.New(d, s.Passkey, users, sessions)
	keys := apikey.New(d, users)
	organizations := organization.New(d, s.Organization, users)
	articles := article.New(d, users)
	policies := policy.New(d)
	tools := mcp.New(d)
	webhooks := webhook.New(d, s.Webhook, users)
	admins := admin.New(d, s.Admin, users)
	return []kit.Module{
		users,
		sessions,
		socials,
		resets,
		verifications,
		codes,
		factors,
		passkeys,
		keys,
		organizations,
		articles,
		policies,
		tools,
		webhooks,
		admins,
	}
}
