package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/telemetry"
)

// DepsOptions are the parts of kit.Deps.
type DepsOptions struct {
	Name        string // of the service
	DB          store.DB
	MasterKeys  []string // sign the cursors of lists; at least one, of which the first is the key of Digest
	Now         func() time.Time
	Log         *slog.Logger
	Sender      email.Sender
	Hasher      kit.Hasher
	Observer    *telemetry.Observer // can be nil
	Development bool
}

// Limits of requests to other services.
const (
	maxConnsPerHost   = 64
	maxResponseHeader = 64 << 10 // bytes
)

// NewDeps returns the dependencies of modules, observed by the Observer. Close Deps.Email.
func NewDeps(o DepsOptions) kit.Deps {
	db := o.Observer.Database(o.DB)
	limits := ratelimit.New(db, o.Now)
	o.Observer.Register(limits)
	queue := email.NewQueue(o.Sender, email.Backoff[:], o.Log)
	o.Observer.Emails(queue)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxConnsPerHost, transport.MaxIdleConnsPerHost, transport.MaxResponseHeaderBytes = maxConnsPerHost, maxConnsPerHost, maxResponseHeader
	return kit.Deps{
		Name: o.Name, DB: db, Now: o.Now, Log: o.Log, Email: queue, Hasher: o.Observer.Hasher(o.Hasher), Limits: limits,
		Cursors: listing.NewCursors(o.MasterKeys...), Digest: keyedDigest(o.MasterKeys[0]), HTTP: o.Observer.Transport(transport), Development: o.Development,
	}
}

// keyedDigest returns kit.Deps.Digest.
func keyedDigest(key string) func(parts ...string) []byte {
	return func(parts ...string) []byte {
		mac := hmac.New(sha256.New, []byte("digest "+key))
		mac.Write([]byte(strings.Join(parts, "\x00")))
		return mac.Sum(nil)
	}
}
