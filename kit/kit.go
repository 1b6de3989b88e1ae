// Package kit defines what a service and its modules share: the dependencies that a module is created with, and what a module
// provides to package server: routes and Parts.
package kit

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/migrate"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/seal"
	"example.com/ginseng/kit/store"
)

// Deps are the dependencies of every module. All fields are set.
type Deps struct {
	Name        string // name of the service
	DB          store.DB
	Now         func() time.Time
	Log         *slog.Logger
	Email       *email.Queue
	Hasher      Hasher
	Limiter     *ratelimit.Limiter
	Cursors     listing.Cursors
	Digest      func(parts ...string) []byte   // HMAC-SHA-256 of the parts, with a key from MASTER_KEY
	OldDigests  []func(parts ...string) []byte // Digest with the other keys of MASTER_KEY, to verify what was made before a rotation
	HTTP        http.RoundTripper              // for requests to other services; traced if traces are enabled
	Development bool                           // APP_ENV is development
	PublicURL   string                         // where clients reach the service, such as https://api.example.com; "": unknown, so there are no absolute links
	Resources   *Resources                     // what package resource has opened
	SealKeys    func(purpose string) seal.Keys // derived from the values of MASTER_KEY, in the same order
	Files       *files.Files                   // the files of records; without FILES_URL, they cannot be stored
	Routes      *route.Table                   // the routes of all modules; complete when the server handles requests
}

// Hasher hashes passwords. Package password implements it.
type Hasher interface {
	Hash(ctx context.Context, password string) (string, error)
	Verify(ctx context.Context, password, hash string) (match, outdated bool, err error)
}

// Module is one part of the API.
type Module interface {
	// Routes adds the module's routes.
	Routes(r *route.Router)
	// Parts returns what the module has besides routes. The server calls Parts once, after all modules are created and before
	// it adds their routes.
	Parts() Parts
}

// Parts are what a module has besides routes. A module without any returns the zero value.
type Parts struct {
	// Jobs are periodic work, which normally runs on one instance at a time, after the migrations; see package job.
	Jobs []job.Job
	// Workers are tasks that run continuously, on every instance, after the migrations. A Worker must return within a few seconds
	// after ctx ends.
	Workers []func(ctx context.Context)
	// Closers wait for work that continues after a response. The server calls them in order before it closes the database.
	Closers []func(ctx context.Context)
	// Migrations change documents that earlier versions of the module stored in another form, the oldest first. They run at start.
	Migrations []migrate.Migration
	// EmailPreviews returns examples of the module's emails. In development, the server calls it and shows them at /dev/emails.
	EmailPreviews func() []email.Preview
	// Metrics are the module's metrics, such as telemetry.Counter and telemetry.Gauge.
	Metrics []Metered

	// The verifiers of credentials. At most one module of a service can have each of them.
	Tokens        access.TokenVerifier
	APIKeys       access.KeyVerifier
	Passwords     access.PasswordVerifier
	SecondFactors access.SecondFactorVerifier

	// Admins makes administrators, for the command admin. At most one module of a service can have it.
	Admins Admins
}

// Admins makes administrators.
type Admins interface {
	// HasAdmin reports whether there is an admin who is not suspended.
	HasAdmin(ctx context.Context) (bool, error)
	// MakeAdmin makes the user with the email address an admin whose address is verified, and creates the user if there is none.
	// If the user needs a password and cannot get a link to set one, MakeAdmin calls password, which must not return "".
	MakeAdmin(ctx context.Context, email string, password func() (string, error)) (MadeAdmin, error)
}

// MadeAdmin is the result of Admins.MakeAdmin.
type MadeAdmin struct {
	Created bool   // the user is new
	Link    string // a single-use link with which the admin sets a password, or ""
}

// Metered is a component with metrics.
type Metered interface {
	Collectors() []prometheus.Collector
}
