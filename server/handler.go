package server

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzhttp"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/migrate"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/seal"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/telemetry"
	"example.com/ginseng/middleware"
)

// DepsOptions are the arguments of NewDeps.
type DepsOptions struct {
	Name string // the name of the service
	DB   store.DB
	// MasterKeys has at least one key. All keys verify the cursors of lists and decrypt stored secrets. The first key signs
	// cursors, encrypts secrets, and is the key of Digest.
	MasterKeys  []string
	Now         func() time.Time
	Log         *slog.Logger
	Sender      email.Sender
	Hasher      kit.Hasher
	Observer    *telemetry.Observer // can be nil
	Files       files.Options       // Store, TempDir and Quota; NewDeps sets the rest
	Development bool
	PublicURL   string // setting PUBLIC_URL; can be ""
}

// Limits of requests to other services.
const (
	maxConnsPerHost   = 64
	maxResponseHeader = 64 << 10 // bytes
)

// NewDeps returns the dependencies of modules, measured by the Observer. Deps.Email must be closed when the service stops;
// Handler.Closers includes Deps.Email.
func NewDeps(o DepsOptions) kit.Deps {
	db := store.WithClock(o.Observer.Database(o.DB), o.Now)
	limiter := ratelimit.New(db, o.Now)
	o.Observer.Register(limiter)
	queue := email.NewQueue(email.QueueOptions{DB: db, Sender: o.Sender, Keys: sealKeys(o.MasterKeys, "emails"), Now: o.Now, Log: o.Log, Backoff: email.Backoff[:]})
	o.Observer.Emails(queue)
	o.Files.DB, o.Files.Now, o.Files.Log = db, o.Now, o.Log
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxConnsPerHost, transport.MaxIdleConnsPerHost, transport.MaxResponseHeaderBytes = maxConnsPerHost, maxConnsPerHost, maxResponseHeader
	var old []func(...string) []byte
	for _, key := range o.MasterKeys[1:] {
		old = append(old, keyedDigest(key))
	}
	return kit.Deps{
		Name: o.Name, DB: db, Now: o.Now, Log: o.Log, Email: queue, Hasher: o.Observer.Hasher(o.Hasher), Limiter: limiter,
		Cursors: listing.NewCursors(o.MasterKeys...), Digest: keyedDigest(o.MasterKeys[0]), OldDigests: old, HTTP: o.Observer.Transport(transport), Development: o.Development, PublicURL: o.PublicURL,
		Resources: &kit.Resources{}, SealKeys: func(purpose string) seal.Keys { return sealKeys(o.MasterKeys, purpose) }, Routes: &route.Table{},
		Files: files.New(o.Files),
	}
}

// sealKeys returns keys for a purpose, derived from the master keys.
func sealKeys(masterKeys []string, purpose string) seal.Keys {
	var derived [][]byte
	for _, key := range masterKeys {
		derived = append(derived, access.DeriveKey(key, purpose))
	}
	return seal.New(derived...)
}

// keyedDigest returns the HMAC-SHA-256 function for kit.Deps.Digest.
func keyedDigest(key string) func(parts ...string) []byte {
	return func(parts ...string) []byte {
		mac := hmac.New(sha256.New, []byte("digest "+key))
		mac.Write([]byte(strings.Join(parts, "\x00")))
		return mac.Sum(nil)
	}
}

// HandlerOptions are the arguments of NewHandler.
type HandlerOptions struct {
	Settings  Settings
	Deps      kit.Deps
	Modules   []kit.Module
	Ready     func(context.Context) error // returns the error of /readyz, or nil if the service can serve requests
	Documents Documents                   // served if Settings.Docs
	Observer  *telemetry.Observer         // can be nil

	BodyTimeout     time.Duration // from the header to the end of a request body; 15 s by default
	IdempotencyWait time.Duration // how long a repeated request waits for the first request with its Idempotency-Key; 10 s by default
	StreamCheck     time.Duration // interval at which the caller of a stream is verified again; 10 s by default
}

const (
	bodyTimeout    = 15 * time.Second // default of HandlerOptions.BodyTimeout
	requestTimeout = 30 * time.Second // time limit of a request and its database operations
)

// Limits of an instance. They prevent a few clients from using all memory or keeping the database busy.
const (
	pageBytes      = 32 << 20        // memory for large pages that are being sent
	recordBytes    = 16 << 20        // memory for large records that are being sent
	pageWait       = 5 * time.Second // how long a request waits for its share of pageBytes
	userWriteBytes = 32 << 10        // total body size of a user's requests in progress, except GET requests
	writeWait      = 5 * time.Second // how long a request waits for its share of userWriteBytes
)

// Handler is the HTTP handler of a service.
type Handler struct {
	http.Handler
	Closers    []func(context.Context) // must be called before the database is closed
	Migrations *migrate.Runner
	Jobs       *job.Runner
	Workers    []func(context.Context)
	Emails     *email.Queue
	Streams    *middleware.Streams
	Long       *middleware.LongResponses // must be closed when the server begins to stop

	admins    kit.Admins // can be nil
	deps      kit.Deps
	table     *route.Table
	migrating atomic.Bool // while true, requests are rejected with 503
}

// NewHandler builds the gin.Engine: the middleware, the routes of the modules below Settings.APIRoot, health checks and the API
// documentation. It fails if two modules verify the same credential. NewHandler opens collections, so it must be called before
// DB.Prepare.
func NewHandler(o HandlerOptions) (*Handler, error) {
	releaseMode()
	s := o.Settings
	engine, err := newEngine(s)
	if err != nil {
		return nil, err
	}
	var parts kit.Parts
	if err := addParts(&parts, o.Modules); err != nil {
		return nil, err
	}
	h := &Handler{
		deps: o.Deps, Emails: o.Deps.Email, Migrations: migrate.New(o.Deps.DB, o.Deps.Now, parts.Migrations...), table: cmp.Or(o.Deps.Routes, &route.Table{}),
	}
	h.table.Serve(engine, s.APIRoot, o.Documents.OpenAPI)
	authenticator := middleware.Authenticator{
		Keys: access.NewKeys(s.MasterKeys), Now: o.Deps.Now, QueryTokens: s.QueryTokens, Writes: middleware.NewUserWrites(userWriteBytes, writeWait),
		Transfers: middleware.NewTransfers(o.Deps.Files),
		Tokens:    parts.Tokens, APIKeys: parts.APIKeys, Passwords: parts.Passwords, SecondFactors: parts.SecondFactors,
	}
	h.Long = middleware.NewLongResponses(authenticator)
	h.Long.VerifyInterval = cmp.Or(o.StreamCheck, h.Long.VerifyInterval)
	h.Streams = middleware.NewStreams(h.Long, s.ChangesStreams, s.ChangesUserStreams)
	o.Observer.Register(observeStreams(h.Streams))
	bodies := middleware.NewBodyLimits(s.MaxBodyBytes, cmp.Or(o.BodyTimeout, bodyTimeout))
	if err := h.use(engine, o, bodies); err != nil {
		return nil, err
	}
	idempotency := middleware.NewIdempotency(o.Deps.DB, s.MasterKeys, o.Deps.Now)
	idempotency.Wait = cmp.Or(o.IdempotencyWait, idempotency.Wait)
	own := builtIn(o, h.table, authenticator, idempotency, parts.EmailPreviews)
	if err := addParts(&parts, own); err != nil {
		return nil, err
	}
	h.Jobs = job.New(o.Deps.DB, o.Deps.Now, o.Deps.Log, parts.Jobs...)
	h.Closers, h.Workers, h.admins = parts.Closers, parts.Workers, parts.Admins
	o.Observer.Register(append(parts.Metrics, h.Jobs)...)
	own = append(own, jobList{h.Jobs})
	for _, m := range slices.Concat(own, o.Modules) {
		m.Routes(h.table.Router())
	}
	mounter := mounter{bodies.Handler, authenticator.Handler, middleware.Origin(s.CORSOrigins), idempotency.Middleware(), h.Streams.Middleware(), map[string]bool{}}
	for _, r := range h.table.Routes() {
		if r.Download {
			mounter.downloads[r.Path] = true
		}
	}
	for _, r := range h.table.Routes() {
		mounter.mount(engine, r)
	}
	compress, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false), gzhttp.SuffixETag(rest.GzipSuffix), gzhttp.ContentTypeFilter(isCompressed))
	if err != nil {
		return nil, fmt.Errorf("server: gzip: %w", err)
	}
	compressed := compress(engine)
	if len(mounter.downloads) == 0 {
		h.Handler = middleware.HeadAsGet(compressed)
		return h, nil
	}
	h.Handler = middleware.HeadAsGet(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.table.IsDownload(r.Method, r.URL.Path) {
			engine.ServeHTTP(w, r) // files are not compressed, and the operating system sends them
			return
		}
		compressed.ServeHTTP(w, r)
	}))
	return h, nil
}

// use adds the middleware of all routes, and the handlers of unknown paths and methods. Only recovery runs also for calls in process.
func (h *Handler) use(engine *gin.Engine, o HandlerOptions, bodies *middleware.BodyLimits) error {
	s := o.Settings
	forwarded, err := middleware.Forwarded(o.Deps.Log, s.TrustedProxies)
	if err != nil {
		return fmt.Errorf("server: trusted proxies: %w", err)
	}
	external := func(handlers ...gin.HandlerFunc) {
		for _, handler := range handlers {
			engine.Use(route.External(handler))
		}
	}
	external(forwarded, middleware.RequestLog(o.Deps.Log, o.Observer, livez, readyz))
	engine.Use(middleware.Recovery())
	external(middleware.Timeout(requestTimeout),
		middleware.ResponseBudget(rest.NewBudget(max(pageBytes, 5*s.MaxBodyBytes), max(recordBytes, 5*s.MaxBodyBytes), pageWait)))
	if len(s.CORSOrigins) > 0 {
		external(middleware.CORS(s.CORSOrigins))
	}
	if len(h.Migrations.All()) > 0 {
		external(h.rejectWhileMigrating)
	}
	external(middleware.SecurityHeaders(), middleware.NewExports(h.Long).Middleware())
	limitBody := bodies.Handler(&route.Route{}) // net/http reads the body after the response
	engine.NoRoute(limitBody, noRoute)
	engine.NoMethod(limitBody, h.noMethod)
	return nil
}

// isCompressed reports whether responses of a media type are compressed. Event streams are not compressed, because compression
// would delay the events.
func isCompressed(mediaType string) bool {
	return gzhttp.DefaultContentTypeFilter(mediaType) && !strings.HasPrefix(mediaType, "text/event-stream")
}

func newEngine(s Settings) (*gin.Engine, error) {
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false
	engine.RemoteIPHeaders = []string{"X-Forwarded-For"}
	if err := engine.SetTrustedProxies(s.TrustedProxies); err != nil {
		return nil, fmt.Errorf("server: trusted proxies: %w", err)
	}
	return engine, nil
}

// releaseMode disables the debug output of Gin. The mode of Gin is global.
var releaseMode = sync.OnceFunc(func() { gin.SetMode(gin.ReleaseMode) })

// work runs the jobs and the Workers until ctx ends.
func (h *Handler) work(ctx context.Context) {
	var group sync.WaitGroup
	for _, w := range h.Workers {
		group.Go(func() { w(ctx) })
	}
	h.Jobs.Run(ctx)
	group.Wait()
}

func (h *Handler) close(ctx context.Context) {
	for _, wait := range h.Closers {
		wait(ctx)
	}
}

// hasAdmin reports whether the service has an admin; false if that cannot be found out.
func (h *Handler) hasAdmin(ctx context.Context) bool {
	if h.admins == nil {
		return false
	}
	has, err := h.admins.HasAdmin(ctx)
	return has && err == nil
}

// Routes returns the routes as "METHOD /path".
func (h *Handler) Routes() []string {
	var out []string
	for _, r := range h.table.Routes() {
		out = append(out, r.Method+" "+r.Path)
	}
	return out
}

func noRoute(g *gin.Context) {
	detail := "This path does not exist."
	if strings.HasSuffix(g.Request.URL.Path, "/") {
		detail += " No path of the API ends with a slash: omit the slash."
	}
	rest.Fail(g, apperr.New(apperr.NotFound, "%s", detail))
}

// noMethod responds 405, or 204 to OPTIONS. If no route matches the path, it responds 404. noMethod replaces the Allow header of
// Gin 1.12, which can list methods of routes that do not match the path.
func (h *Handler) noMethod(g *gin.Context) {
	header := g.Writer.Header()
	header.Del("Allow")
	var allow []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if h.table.Match(method, g.Request.URL.Path) != nil {
			allow = append(allow, method)
		}
	}
	if allow == nil {
		noRoute(g)
		return
	}
	allow = append(allow, http.MethodOptions)
	if slices.Contains(allow, http.MethodGet) {
		allow = append(allow, http.MethodHead)
	}
	header.Set("Allow", strings.Join(allow, ", "))
	if g.Request.Method == http.MethodOptions {
		_ = rest.NoContent(g)
		return
	}
	rest.Fail(g, apperr.New(apperr.MethodNotAllowed, "This path does not support this method. The header Allow lists the supported methods."))
}
