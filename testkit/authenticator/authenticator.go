// Package authenticator provides a virtual authenticator for tests of passkeys (Web Authentication), together with the browser
// or app that uses it. The authenticator uses ES256 keys and returns no attestation.
package authenticator

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
)

// Authenticator is a virtual authenticator. Its fields can be changed between calls. The zero value with an Origin is a
// platform authenticator that verifies the user, without a counter and without backups.
type Authenticator struct {
	Origin         string // origin of the page or app
	RPID           string // if not "", replaces the RP ID of the options
	Roaming        bool   // a security key
	NotVerified    bool   // the authenticator does not verify the user
	NotResident    bool   // the authenticator stores no discoverable credentials
	BackupEligible bool
	BackupState    bool
	Counter        uint32 // the signature counter; Create and Get do not increment it
	NoUserHandle   bool   // sign-ins have no user handle
	UserHandle     []byte // if not nil, replaces the user handle of the credential

	passkeys []passkey
}

// passkey is a credential of an authenticator.
type passkey struct {
	id, userHandle []byte
	rpID           string
	key            *ecdsa.PrivateKey
}

// Credential is the result of PublicKeyCredential.toJSON.
type Credential struct {
	ID         string         `json:"id"`
	RawID      string         `json:"rawId"`
	Type       string         `json:"type"`
	Attachment string         `json:"authenticatorAttachment,omitempty"`
	Response   map[string]any `json:"response"`
	Extensions map[string]any `json:"clientExtensionResults"`
}

// Create creates a passkey, as navigator.credentials.create does. options are PublicKeyCredentialCreationOptionsJSON. Create
// fails if the authenticator has one of the excluded credentials.
func (a *Authenticator) Create(options any) (Credential, error) {
	var o struct {
		Challenge string
		RP        struct{ ID string }
		User      struct{ ID string }
		Exclude   []struct{ ID string } `json:"excludeCredentials"`
	}
	if err := convert(options, &o); err != nil {
		return Credential{}, err
	}
	for _, excluded := range o.Exclude {
		for _, p := range a.passkeys {
			if encode(p.id) == excluded.ID {
				return Credential{}, errors.New("InvalidStateError: the authenticator has one of excludeCredentials")
			}
		}
	}
	handle, err := base64.RawURLEncoding.DecodeString(o.User.ID)
	if err != nil {
		return Credential{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Credential{}, err
	}
	p := passkey{id: make([]byte, 32), userHandle: handle, rpID: o.RP.ID, key: key}
	rand.Read(p.id) // never fails
	a.passkeys = append(a.passkeys, p)
	public, err := key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		return Credential{}, err
	}
	data := bytes.Join([][]byte{
		a.data(o.RP.ID, 0x40), make([]byte, 16), {0, byte(len(p.id))}, p.id, // AAGUID and credential ID
		{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, public[1:33], {0x22, 0x58, 32}, public[33:], // COSE: EC2, ES256, P-256, x, y
	}, nil)
	object := bytes.Join([][]byte{
		[]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), {byte(len(data))}, data, // CBOR
	}, nil)
	c := a.credential(p, map[string]any{"attestationObject": encode(object), "transports": a.transports()}, "webauthn.create", o.Challenge)
	c.Extensions["credProps"] = map[string]any{"rk": !a.NotResident}
	return c, nil
}

// Get signs in with the newest passkey for the RP ID, as navigator.credentials.get does. options are
// PublicKeyCredentialRequestOptionsJSON.
func (a *Authenticator) Get(options any) (Credential, error) {
	var o struct {
		Challenge string
		RPID      string `json:"rpId"`
	}
	if err := convert(options, &o); err != nil {
		return Credential{}, err
	}
	for i := len(a.passkeys) - 1; i >= 0; i-- {
		if p := a.passkeys[i]; p.rpID == o.RPID {
			return a.sign(p, o.RPID, o.Challenge)
		}
	}
	return Credential{}, errors.New("NotAllowedError: the authenticator has no passkey for the domain")
}

func (a *Authenticator) sign(p passkey, rpID, challenge string) (Credential, error) {
	handle := p.userHandle
	if a.UserHandle != nil {
		handle = a.UserHandle
	}
	data := a.data(rpID, 0)
	response := map[string]any{"authenticatorData": encode(data), "userHandle": encode(handle)}
	if a.NoUserHandle {
		response["userHandle"] = nil
	}
	c := a.credential(p, response, "webauthn.get", challenge)
	client, err := base64.RawURLEncoding.DecodeString(response["clientDataJSON"].(string))
	if err != nil {
		return c, err
	}
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(data, hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, p.key, digest[:])
	response["signature"] = encode(signature)
	return c, err
}

// credential adds clientDataJSON to response, and returns a Credential with the response.
func (a *Authenticator) credential(p passkey, response map[string]any, ceremony, challenge string) Credential {
	client, _ := json.Marshal(map[string]any{"type": ceremony, "challenge": challenge, "origin": a.Origin, "crossOrigin": false}) // cannot fail
	response["clientDataJSON"] = encode(client)
	c := Credential{ID: encode(p.id), RawID: encode(p.id), Type: "public-key", Attachment: "platform", Response: response, Extensions: map[string]any{}}
	if a.Roaming {
		c.Attachment = "cross-platform"
	}
	return c
}

func (a *Authenticator) transports() []string {
	if a.Roaming {
		return []string{"usb"}
	}
	return []string{"internal"}
}

// data returns authenticator data (Web Authentication section 6.1), without credential data.
func (a *Authenticator) data(rpID string, flags byte) []byte {
	if a.RPID != "" {
		rpID = a.RPID
	}
	flags |= 1 // the user is present
	for flag, set := range map[byte]bool{4: !a.NotVerified, 8: a.BackupEligible, 16: a.BackupState} {
		if set {
			flags |= flag
		}
	}
	hash := sha256.Sum256([]byte(rpID))
	return binary.BigEndian.AppendUint32(append(hash[:], flags), a.Counter)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// convert encodes options as JSON, and decodes the JSON into dst, a pointer to a struct.
func convert(options, dst any) error {
	raw, err := json.Marshal(options)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, dst)
}
