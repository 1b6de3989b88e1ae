// Package signature verifies the signatures of webhooks that a service receives. A Verifier supports one of two forms:
//
//   - NewStandard: Standard Webhooks (https://www.standardwebhooks.com), with the headers webhook-id, webhook-timestamp and
//     webhook-signature.
//   - NewTimestamped: a header with t=SECONDS,v1=HEX, such as Stripe-Signature.
//
// Package once processes each webhook once. Both forms have an HMAC-SHA-256 of the timestamp and the body, so pass the exact
// bytes of rest.RawBody. This package uses no library: libraries/go of standard-webhooks (v0.0.1) is as short, and has one secret
// per verifier and no clock for tests; stripe-go is a client of the whole API of Stripe.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/ginseng/kit/apperr"
)

// The headers of Standard Webhooks. The sender repeats a delivery with the same HeaderID.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

// Tolerance is the largest accepted difference between the timestamp of a request and the current time. A request that an attacker
// has recorded is rejected later. Senders sign each retry with a new timestamp.
const Tolerance = 5 * time.Minute

const standardPrefix = "whsec_" // of a secret in Standard Webhooks

// Verifier verifies and signs requests. It has one or more secrets. While a secret is replaced, add the new one and keep the old
// one: requests with a signature of either are valid.
type Verifier struct {
	now     func() time.Time
	header  string // of the timestamped form; "" for Standard Webhooks
	secrets [][]byte
}

// NewStandard returns a Verifier for Standard Webhooks. A secret is whsec_ and at least 24 bytes in Base64; the prefix is optional.
// The error is a reason for settings.Checker, without the secret.
func NewStandard(now func() time.Time, secrets ...string) (*Verifier, error) {
	if len(secrets) == 0 {
		return nil, errNoSecret
	}
	v := &Verifier{now: now}
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, standardPrefix))
		if err != nil || len(key) < minStandard {
			return nil, fmt.Errorf("must be %s followed by at least %d bytes in Base64", standardPrefix, minStandard)
		}
		v.secrets = append(v.secrets, key)
	}
	return v, nil
}

// NewTimestamped returns a Verifier for requests whose header has t=SECONDS,v1=HEX. Each v1 is an HMAC of t.BODY. The bytes of a
// secret, including a prefix, are the key. A secret has at least 16 bytes. The error is a reason for settings.Checker, without the
// secret, or the header is "".
func NewTimestamped(now func() time.Time, header string, secrets ...string) (*Verifier, error) {
	if header == "" {
		return nil, errors.New("signature: NewTimestamped needs the name of the header")
	}
	if len(secrets) == 0 {
		return nil, errNoSecret
	}
	v := &Verifier{now: now, header: http.CanonicalHeaderKey(header)}
	for _, secret := range secrets {
		if len(secret) < minTimestamped {
			return nil, fmt.Errorf("must have at least %d characters", minTimestamped)
		}
		v.secrets = append(v.secrets, []byte(secret))
	}
	return v, nil
}

// The minimum sizes of secrets in bytes. The specification of Standard Webhooks requires 24.
const (
	minStandard    = 24
	minTimestamped = 16
)

var errNoSecret = errors.New("is missing") // without a secret, no request would be valid

// Verify verifies a request with these headers and this body. ValidationFailed: a header is missing or malformed, no signature
// matches, or the timestamp differs from the current time by more than Tolerance. Return the error from the handler: the response
// is 400 and names the header and the reason. Senders repeat a request after this status, as after every status but 2xx, so that no
// event is lost if a setting has the wrong secret.
func (v *Verifier) Verify(header http.Header, body []byte) error {
	r, err := v.parse(header)
	if err != nil {
		return err
	}
	if !v.matches(r, body) {
		return invalid(v.signatureHeader(), apperr.Wrong, "No signature matches the body and a secret.")
	}
	// Times are compared as integers: the difference to a time far from now overflows a Duration.
	now, limit := v.now().Unix(), int64(Tolerance/time.Second)
	switch {
	case r.seconds < now-limit:
		return invalid(v.timestampHeader(), apperr.Min, "The timestamp is more than 5 minutes in the past.")
	case r.seconds > now+limit:
		return invalid(v.timestampHeader(), apperr.Max, "The timestamp is more than 5 minutes in the future.")
	}
	return nil
}

// Sign returns the headers of a valid request, with a signature of each secret. Tests send webhooks with it. id is the webhook-id of
// Standard Webhooks; the other form ignores it.
func (v *Verifier) Sign(id string, body []byte) http.Header {
	timestamp := strconv.FormatInt(v.now().Unix(), 10)
	if v.header == "" {
		return http.Header{HeaderID: {id}, HeaderTimestamp: {timestamp}, HeaderSignature: {Standard(v.secrets, id, timestamp, body)}}
	}
	value := "t=" + timestamp
	for _, secret := range v.secrets {
		value += ",v1=" + hex.EncodeToString(sum(secret, timestamp+".", body))
	}
	return http.Header{v.header: {value}}
}

// Standard returns the value of HeaderSignature with a signature of each secret.
func Standard(secrets [][]byte, id, timestamp string, body []byte) string {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(sum(secret, id+"."+timestamp+".", body))
	}
	return strings.Join(signatures, " ")
}

func sum(secret []byte, prefix string, body []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(prefix)) // never fails
	_, _ = mac.Write(body)
	return mac.Sum(nil)
}

// signed is what the headers of a request state.
type signed struct {
	prefix     string // what the signature covers before the body
	seconds    int64  // the timestamp
	signatures [][]byte
}

// matches reports whether one of the signatures is that of a secret. Its duration does not depend on the bytes of a signature.
func (v *Verifier) matches(r signed, body []byte) bool {
	for _, secret := range v.secrets {
		want := sum(secret, r.prefix, body)
		for _, signature := range r.signatures {
			if hmac.Equal(signature, want) {
				return true
			}
		}
	}
	return false
}

func (v *Verifier) parse(header http.Header) (signed, error) {
	if v.header != "" {
		return v.parseTimestamped(header.Get(v.header))
	}
	id, timestamp := header.Get(HeaderID), header.Get(HeaderTimestamp)
	for _, name := range []string{HeaderID, HeaderTimestamp, HeaderSignature} {
		if header.Get(name) == "" {
			return signed{}, invalid(name, apperr.Required, "Must be given.")
		}
	}
	r := signed{prefix: id + "." + timestamp + "."}
	var ok bool
	if r.seconds, ok = parseSeconds(timestamp); !ok {
		return r, invalid(HeaderTimestamp, apperr.Format, "Must be a time in seconds since 1970.")
	}
	for item := range strings.FieldsSeq(header.Get(HeaderSignature)) {
		version, value, _ := strings.Cut(item, ",")
		if version != "v1" { // v1a is an asymmetric signature
			continue
		}
		if signature, err := base64.StdEncoding.Strict().DecodeString(value); err == nil {
			r.signatures = append(r.signatures, signature)
		}
	}
	if len(r.signatures) == 0 {
		return r, invalid(HeaderSignature, apperr.Format, "Must have a signature v1,BASE64.")
	}
	return r, nil
}

func (v *Verifier) parseTimestamped(value string) (r signed, err error) {
	if value == "" {
		return r, invalid(v.header, apperr.Required, "Must be given.")
	}
	timestamp := ""
	for item := range strings.SplitSeq(value, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		switch name {
		case "t":
			timestamp = value
		case "v1": // v0 is a signature of another kind
			if signature, err := hex.DecodeString(value); err == nil {
				r.signatures = append(r.signatures, signature)
			}
		}
	}
	r.prefix = timestamp + "."
	var ok bool
	if r.seconds, ok = parseSeconds(timestamp); !ok || len(r.signatures) == 0 {
		return r, invalid(v.header, apperr.Format, "Must have the form t=SECONDS,v1=HEX.")
	}
	return r, nil
}

// parseSeconds parses a string of digits.
func parseSeconds(text string) (int64, bool) {
	seconds, err := strconv.ParseUint(text, 10, 63)
	return int64(seconds), err == nil
}

func (v *Verifier) signatureHeader() string {
	if v.header != "" {
		return v.header
	}
	return HeaderSignature
}

func (v *Verifier) timestampHeader() string {
	if v.header != "" {
		return v.header
	}
	return HeaderTimestamp
}

func invalid(header string, code apperr.FieldCode, message string) error {
	return apperr.Invalid(apperr.Field{In: "header", Param: header, Code: code, Message: message})
}
