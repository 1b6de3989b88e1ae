package passkey

import (
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"example.com/ginseng/kit"
)

// Settings are the settings of this module.
type Settings struct {
	// RPID is the domain of the passkeys.
	RPID string `mapstructure:"PASSKEY_RP_ID" example:"example.com"`
	// Origins are the origins of the pages and apps that use passkeys.
	Origins []string `mapstructure:"PASSKEY_ORIGINS" example:"https://app.example.com"`
}

// Check implements settings.Checker.
func (s *Settings) Check(report func(name, reason string)) {
	if (s.RPID == "") != (len(s.Origins) == 0) {
		const both = "must be set, because PASSKEY_RP_ID and PASSKEY_ORIGINS require each other, for example "
		if s.RPID == "" {
			report("PASSKEY_RP_ID", both+"PASSKEY_RP_ID=example.com")
		} else {
			report("PASSKEY_ORIGINS", both+"PASSKEY_ORIGINS=https://app."+s.RPID)
		}
		return
	}
	if s.RPID == "" {
		return
	}
	if err := protocol.ValidateRPID(s.RPID); err != nil || s.RPID != strings.ToLower(s.RPID) {
		report("PASSKEY_RP_ID", "must be a domain in lower case, without scheme, port and path, for example PASSKEY_RP_ID=example.com")
		return
	}
	for _, origin := range s.Origins {
		if !s.allows(origin) {
			report("PASSKEY_ORIGINS", "must list origins of pages, each https:// and a host that is PASSKEY_RP_ID or below it (http:// only for localhost), "+
				"and of Android apps, each android:apk-key-hash: and the SHA-256 of the certificate, for example PASSKEY_ORIGINS=https://app."+s.RPID)
			return
		}
	}
}

// allows reports whether an origin can use the passkeys of RPID. For a page, it checks the host of the origin. For an app, it
// checks the format of the origin.
func (s *Settings) allows(origin string) bool {
	if protocol.IsOpaqueOrigin(origin) {
		return protocol.IsKnownOpaqueOrigin(origin)
	}
	u, err := url.Parse(origin)
	if err != nil || origin != u.Scheme+"://"+u.Host {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return (u.Scheme == "https" || isLocalhost(u)) && (host == s.RPID || strings.HasSuffix(host, "."+s.RPID))
}

// isLocalhost reports whether a URL leads to localhost, where browsers allow passkeys without https.
func isLocalhost(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() == localhost
}

const localhost = "localhost"

// relyingParty is the configuration of Web Authentication.
type relyingParty struct {
	*webauthn.WebAuthn      // nil: passkeys are off
	localhost          bool // accepts every port of localhost
}

// relyingParty returns the configuration from the settings. Without settings, passkeys work on localhost in development, and are
// off in production.
func (s *Settings) relyingParty(d kit.Deps) relyingParty {
	id, origins, local := s.RPID, s.Origins, false
	if id == "" && d.Development {
		id, origins, local = localhost, []string{"http://" + localhost}, true
	}
	if id == "" {
		d.Log.Warn("passkeys are off: PASSKEY_RP_ID and PASSKEY_ORIGINS are not set")
		return relyingParty{}
	}
	timeout := webauthn.TimeoutConfig{Timeout: challengeTTL}
	web, err := webauthn.New(&webauthn.Config{
		RPID: id, RPDisplayName: d.Name, RPOrigins: origins,
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		},
		Timeouts: webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
		// Some password managers return extension outputs that were not requested. Only the output of credProps is used.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil { // unreachable after Check
		d.Log.Error("passkeys are off: their settings are invalid", "error", err)
	}
	return relyingParty{web, local}
}

// withOrigin returns the data of a ceremony. If p.localhost is true and the client is on localhost, withOrigin first sets the
// origin to the client's origin. Every port is then accepted. Package webauthn has no setting for this.
func (p relyingParty) withOrigin(ceremony webauthn.SessionData, client protocol.CollectedClientData) webauthn.SessionData {
	if u, err := url.Parse(client.Origin); p.localhost && err == nil && isLocalhost(u) {
		ceremony.Origin = client.Origin
	}
	return ceremony
}
