// Package kit defines what a service and its modules share: the dependencies that a module is created with, the route
// middleware that it mounts its routes with, and the optional interfaces that package server looks for.
package kit

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/ratelimit"
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
}

// Recorded has the resources whose changes are in the log, in the order of registration. A nil *Recorded is empty, and ignores
// Add.
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
func (r *Recorded) Add(resource RecordedResource) {
	if r != nil {
		r.resources = append(r.resources, resource)
	}
}

// All returns the resources. Call All after all modules are created.
func (r *Recorded) All() []RecordedResource {
	if r == nil {
		return nil
	}
	return r.resources
}

// Hasher hashes passwords. Package password implements it.
type Hasher interface {
	Hash(ctx context.Context, password string) (string, error)
	Verify(ctx context.Context, password, hash string) (match, outdated bool, err error)
}

// Module is one part of the API. A module may also implement Closer, Worker, EmailPreviewer, ResourceUser, job.Module,
// migrate.Module, telemetry.MeteredModule, access.TokenVerifier, access.KeyVerifier, access.PasswordVerifier and
// access.SecondFactorVerifier.
type Module interface {
	// Routes mounts the module's routes on r.
	Routes(r gin.IRouter, mw Middleware)
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

// ResourceUser is a module that calls the routes of resources in process. The server calls UseResources once, before it serves
// requests.
type ResourceUser interface {
	UseResources(Resources)
}

// Resources are the routes that are mounted with Middleware.Resource.
type Resources struct {
	Names   []string // names of the resources
	Root    string   // the path of the API, which precedes the paths in the OpenAPI document
	OpenAPI []byte   // the OpenAPI document
	// Handler serves the routes with authentication, idempotency and the request log. Call Handler only while handling a
	// request of the same caller, with the context of that request. Handler relies on that request's limits of time, body size
	// and memory.
	Handler http.Handler
	// Allows reports whether a route accepts the caller: the role, the scopes of the API key and the restriction. path is as in
	// the OpenAPI document. The route can still reject the caller for a record.
	Allows func(caller access.Principal, method, path string) bool
}

// Middleware is the route middleware that modules mount their routes with.
type Middleware struct {
	Auth        Auth
	Idempotency gin.HandlerFunc // replays the first response to a request with the same Idempotency-Key
	Streams     gin.HandlerFunc // lets rest.ServeFeed respond with a stream, and limits the number of open streams
	Origin      gin.HandlerFunc // rejects requests from web pages, except pages of CORS_ORIGINS

	// Resource returns a router for the routes of a resource. name is the name of the collection in paths. An API key needs the
	// scope NAME:read for GET, and NAME:write for other methods.
	//
	// The routes can be operations of a batch, which the database can undo and repeat. The routes must therefore only read and
	// write the database. They must not hash passwords, call other services or count attempts for a rate limit. Emails that the
	// routes queue are sent only if the batch is stored.
	Resource func(r gin.IRouter, name string) gin.IRouter
	// Resources returns the names of all resources. Call Resources only while handling a request, because the names are
	// incomplete while modules mount their routes.
	Resources func() []string
}

// Auth has one middleware per kind of caller that a route accepts. Every middleware rejects an invalid credential with 401,
// even on a Public route. It rejects a body larger than 16 KiB with 413. It rejects an API key with 403, except on the routes
// of resources. It rejects a user with an access.Restriction with 403, unless the restriction allows the request. Handlers get
// the caller from rest.Caller.
type Auth struct {
	Public gin.HandlerFunc // any caller; a credential is optional
	SignIn gin.HandlerFunc // like Public, but the handler reads HTTP Basic
	Master gin.HandlerFunc // the master key
	User   gin.HandlerFunc // a user token
	Admin  gin.HandlerFunc // a user token of an admin

	// Refresh is like Public, but ignores an Authorization header without the master key: clients that send a user token with all
	// requests refresh when the token has expired.
	Refresh gin.HandlerFunc
	// Provider is like Public, but access_token in the body is a token of an identity provider. The session of a user token
	// must have been opened at most 10 minutes ago.
	Provider gin.HandlerFunc
	// StepUp protects routes that an attacker could use to take over an account. It accepts a user token of a session that was
	// opened at most 10 minutes ago, or HTTP Basic with the email address and the password. If the user has a second factor, but
	// has not used it to open the session, the body must also have an access.Proof. The handler must accept the parameters of the
	// access.Proof.
	StepUp gin.HandlerFunc
	// StepUpAdmin is StepUp for admins. It rejects other users.
	StepUpAdmin gin.HandlerFunc
	// StepUpOthers is StepUp if the id path parameter is neither "me" nor the ID of the caller. Otherwise, it also accepts a user
	// token of an older session, or of a session that was opened without the second factor. The handler must reject callers who
	// are neither the user in the path nor an admin.
	StepUpOthers gin.HandlerFunc

	// Role returns the middleware that accepts a user token of an admin, or of a user with one of the roles.
	Role func(roles ...access.Role) gin.HandlerFunc

	// These functions return the same middleware, except that it also accepts:
	AllowRestricted func() Auth // users with an access.Restriction
	AllowLargeBody  func() Auth // bodies of up to MAX_BODY_BYTES
	AllowAPIKey     func() Auth // every API key, whatever its scopes; see also Middleware.Resource
}
