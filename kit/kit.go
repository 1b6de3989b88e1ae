// Package kit defines what a service and its modules share: the dependencies that a module is created with, and the optional
// interfaces that package server looks for.
package kit

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/listing"
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
	HTTP        http.RoundTripper              // for requests to other services; traced if traces are enabled
	Development bool                           // APP_ENV is development
	Recorded    *Recorded                      // the resources with a log of changes
	SealKeys    func(purpose string) seal.Keys // derived from the values of MASTER_KEY, in the same order
	Routes      *route.Table                   // the routes of all modules; complete when the server handles requests
}

// Recorded has the resources whose changes are in the log, in the order of registration.
type Recorded struct{ resources []RecordedResource }

// RecordedResource is a resource whose changes are in the log.
type RecordedResource struct {
	Collection string // name of the collection, such as articles
	Record     string // name of a record in kebab-case, such as article
	// PublicView returns the view of a record for callers without a credential. NotFound: the record does not exist, or these
	// callers may not see the record.
	PublicView func(ctx context.Context, id store.ID) (any, error)
}

// Add registers a resource. Call Add while a module is created.
func (r *Recorded) Add(resource RecordedResource) { r.resources = append(r.resources, resource) }

// All returns the resources. Call All after all modules are created.
func (r *Recorded) All() []RecordedResource { return r.resources }

// Hasher hashes passwords. Package password implements it.
type Hasher interface {
	Hash(ctx context.Context, password string) (string, error)
	Verify(ctx context.Context, password, hash string) (match, outdated bool, err error)
}

// Module is one part of the API. A module may also implement Closer, Worker, EmailPreviewer, job.Module, migrate.Module,
// telemetry.MeteredModule, access.TokenVerifier, access.KeyVerifier, access.PasswordVerifier and
// access.SecondFactorVerifier.
type Module interface {
	// Routes adds the module's routes.
	Routes(r *route.Router)
}

// Closer is a module with work that continues after a response. The server calls Close before it closes the database.
type Closer interface {
	Close(context.Context)
}

// Worker is a module with a task that runs continuously, on every instance. The server calls Run after the migrations. Run must
// return within a few seconds after ctx ends.
type Worker interface {
	Run(ctx context.Context)
}

// EmailPreviewer is a module that sends emails. In development, the server shows the previews at /dev/emails.
type EmailPreviewer interface {
	EmailPreviews() []email.Preview
}
