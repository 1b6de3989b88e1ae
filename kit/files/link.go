package files

import (
	"crypto/hmac"
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Links makes and verifies links, which let anyone read a file for some time.
type Links struct {
	PublicURL  string                         // where clients reach the service (kit.Deps.PublicURL); "": unknown
	Digest     func(parts ...string) []byte   // kit.Deps.Digest
	OldDigests []func(parts ...string) []byte // kit.Deps.OldDigests; links that were made with one of them are valid, too
	Now        func() time.Time
}

// Target is what a link is for: this version of the file of a record.
type Target struct {
	Collection string
	Record     store.ID
	Field      string
	File       store.ID // changes with the bytes and the name of the file
}

// Link is the representation of a link.
type Link struct {
	URL       string     `json:"url" example:"https://api.example.com/articles/65f0c1d2e3a4b5c6d7e8f901/cover?expires=1767225600&signature=Zfg1"`
	ExpiresAt store.Time `json:"expiresAt" swaggertype:"string" format:"date-time" example:"2026-01-01T00:00:00.000Z"`
} //	@name	FileLink

// LinkParams are the query parameters of links.
var LinkParams = []string{"expires", "signature"}

// IsLink reports whether a request with the query is one of a link.
func IsLink(query url.Values) bool { return query.Has("signature") }

// New returns a link to the file, which is served at the path, with the root of the API. The link ends after the ttl, rounded up to a
// second. NotSupported: PublicURL is unknown.
func (l Links) New(path string, target Target, ttl time.Duration) (*Link, error) {
	if l.PublicURL == "" {
		return nil, apperr.New(apperr.NotSupported, "This service makes no absolute links, because the setting PUBLIC_URL is not set.")
	}
	at := l.Now().Add(ttl + time.Second - 1).Truncate(time.Second)
	expires := strconv.FormatInt(at.Unix(), 10)
	query := url.Values{"expires": {expires}, "signature": {sign(l.Digest, target, expires)}}
	return &Link{URL: l.PublicURL + path + "?" + query.Encode(), ExpiresAt: store.At(at)}, nil
}

// Verify returns the time until the link with the query ends. target is the current file of the record; its File is the zero ID if
// there is none. Forbidden: the link was changed or has ended. NotFound: it is a link to an earlier file.
func (l Links) Verify(query url.Values, target Target) (left time.Duration, err error) {
	signature, expires := query.Get("signature"), query.Get("expires")
	data, err := base64.RawURLEncoding.DecodeString(signature)
	current := target.File
	if len(data) < len(target.File) {
		return 0, errLink()
	}
	copy(target.File[:], data)
	if err != nil || len(query["expires"]) != 1 || len(query["signature"]) != 1 || !l.signed(signature, target, expires) {
		return 0, errLink()
	}
	seconds, err := strconv.ParseInt(expires, 10, 64)
	left = time.Unix(seconds, 0).Sub(l.Now())
	switch {
	case err != nil || left <= 0:
		return 0, errLink()
	case target.File != current:
		return 0, apperr.New(apperr.NotFound, "This file does not exist any more.")
	}
	return left, nil
}

// signed reports whether the signature of a link is valid.
func (l Links) signed(signature string, target Target, expires string) bool {
	return slices.ContainsFunc(slices.Concat([]func(...string) []byte{l.Digest}, l.OldDigests), func(digest func(...string) []byte) bool {
		return hmac.Equal([]byte(signature), []byte(sign(digest, target, expires)))
	})
}

// sign returns the signature of a link. It begins with the ID of the file, so that a link to a file that was replaced can be told from
// one that was changed.
func sign(digest func(parts ...string) []byte, target Target, expires string) string {
	mac := digest("file link", target.Collection, target.Record.Hex(), target.Field, target.File.Hex(), expires)
	return base64.RawURLEncoding.EncodeToString(append(target.File[:], mac...))
}

func errLink() error {
	return apperr.New(apperr.Forbidden, "This link has ended, or was changed. Request a new one.")
}
