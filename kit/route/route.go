// Package route has the table of the routes of a service. A module adds a row for each of its routes: method, path, caller,
// handler and options. The server mounts the rows, and runs the middleware of a row in the order that it needs, so that the order
// of options does not matter. Features that need facts about routes read them from the rows: scopes of API keys, batches, tools of
// agents, imports, and the API document, which joins the rows with the annotations of the handlers.
package route

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
)

// Handler handles the requests to a route. It writes a response or returns an error, which the server writes as a problem.
type Handler = func(*gin.Context) error

// Route is a row of the table.
type Route struct {
	Method   string        `json:"method"`
	Path     string        `json:"path"` // in the syntax of Gin, with the root of the API, such as /api/articles/:id
	Handler  Handler       `json:"-"`
	Resource string        `json:"resource,omitempty"` // name of the collection of the resource that the route belongs to; "": none
	List     *listing.Spec `json:"list,omitempty"`     // the list of these records; nil: the records have no list

	Kind  Kind          `json:"caller"`          // the callers that the route accepts
	Roles []access.Role `json:"roles,omitempty"` // the roles of KindRole

	Restricted bool              `json:"restricted,omitempty"` // accepts users with an access.Restriction
	AnyKey     bool              `json:"anyKey,omitempty"`     // accepts every API key, whatever its scopes
	AdminKey   bool              `json:"adminKey,omitempty"`   // accepts API keys with access.ScopeAdmin
	LargeBody  bool              `json:"largeBody,omitempty"`  // accepts bodies of up to MAX_BODY_BYTES
	Idempotent bool              `json:"idempotent,omitempty"` // replays the first response to a request with the same Idempotency-Key
	Stream     bool              `json:"stream,omitempty"`     // can respond with a stream
	JSONOnly   bool              `json:"jsonOnly,omitempty"`   // accepts only bodies of type application/json
	Raw        int64             `json:"raw,omitempty"`        // the handler reads the body, of at most so many bytes; 0: the route reads it
	Upload     *files.Field      `json:"upload,omitempty"`     // the handler receives a file of the field; nil: none
	Download   bool              `json:"download,omitempty"`   // the response is a file
	Files      bool              `json:"files,omitempty"`      // a multipart body can have files of the fields List.Files
	Read       bool              `json:"read,omitempty"`       // changes no record, whatever the method
	Origin     bool              `json:"origin,omitempty"`     // rejects requests from web pages, except pages of CORS_ORIGINS
	Alone      bool              `json:"alone,omitempty"`      // runs without other writes of the same user in progress
	Query      []string          `json:"query,omitempty"`      // the query parameters that the route accepts
	With       []gin.HandlerFunc `json:"-"`

	Documented string `json:"documented,omitempty"` // path in the API document; "": Path
	Setting    string `json:"setting,omitempty"`    // name of the setting that turns the route on; "": none
	Off        bool   `json:"off,omitempty"`        // the setting turns the route off: the service does not have it
}

// IsList reports whether the path is that of the list of the resource, such as /orders/:id/lines of the resource lines.
func (r *Route) IsList() bool { return r.Resource != "" && path.Base(r.Path) == r.Resource }

// IsRecord reports whether the path is that of a record of the resource, such as /orders/:id/lines/:lineId of the resource lines.
func (r *Route) IsRecord() bool {
	list, record := path.Split(r.Path)
	return r.Resource != "" && strings.HasPrefix(record, ":") && path.Base(list) == r.Resource
}

// Kind is a kind of callers.
type Kind string

// The kinds; see the functions of type Caller.
const (
	KindOpen         Kind = "open"
	KindPublic       Kind = "public"
	KindSignIn       Kind = "sign-in"
	KindRefresh      Kind = "refresh"
	KindProvider     Kind = "provider"
	KindMaster       Kind = "master"
	KindUser         Kind = "user"
	KindAdmin        Kind = "admin"
	KindRole         Kind = "role"
	KindStepUp       Kind = "step-up"
	KindStepUpAdmin  Kind = "step-up-admin"
	KindStepUpOthers Kind = "step-up-others"
)

// Caller sets the callers that a route accepts. Every route but an Open one rejects an invalid credential with 401, even a Public
// one. It rejects an API key with 403, unless the route belongs to a resource of which the key has the scope, or has the option
// AllowAPIKey or AllowAdminKey. It rejects a user with an access.Restriction with 403, unless the restriction allows the request, or the route has
// the option AllowRestricted. Handlers get the caller from rest.Caller.
type Caller func(*Route)

// Open accepts any request. The credential, the query string and the body are not read, so an invalid one is not an error. Alone,
// Idempotent, Stream, Query, AnyQuery, AllowAPIKey, AllowAdminKey and AllowRestricted have no effect. A webhook whose signature the handler verifies
// has Open and Raw. Changes that the handler makes have no request ID in the log of changes.
func Open(r *Route) { r.Kind = KindOpen }

// Public accepts any caller. A credential is optional.
func Public(r *Route) { r.Kind = KindPublic }

// SignIn is like Public, but the handler reads HTTP Basic.
func SignIn(r *Route) { r.Kind = KindSignIn }

// Refresh is like Public, but ignores an Authorization header without the master key: clients that send a user token with all
// requests refresh when the token has expired.
func Refresh(r *Route) { r.Kind = KindRefresh }

// Provider is like Public, but access_token in the body is a token of an identity provider. The session of a user token must have
// been opened at most 10 minutes ago.
func Provider(r *Route) { r.Kind = KindProvider }

// Master accepts the master key.
func Master(r *Route) { r.Kind = KindMaster }

// User accepts a user token.
func User(r *Route) { r.Kind = KindUser }

// Admin accepts a user token of an admin.
func Admin(r *Route) { r.Kind = KindAdmin }

// Role accepts a user token of an admin, or of a user with one of the roles, which the project has declared: go tool generate
// user --roles NAME.
func Role(roles ...access.Role) Caller {
	return func(r *Route) { r.Kind, r.Roles = KindRole, roles }
}

// StepUp protects routes that an attacker could use to take over an account. It accepts a user token of a session that was opened
// at most 10 minutes ago, or HTTP Basic with the email address and the password. If the user has a second factor, but has not used
// it to open the session, the body must also have an access.Proof. The handler must accept the parameters of the access.Proof.
func StepUp(r *Route) { r.Kind = KindStepUp }

// StepUpAdmin is StepUp for admins. It rejects other users.
func StepUpAdmin(r *Route) { r.Kind = KindStepUpAdmin }

// StepUpOthers is StepUp if the id path parameter is neither "me" nor the ID of the caller. Otherwise, it also accepts a user
// token of an older session, or of a session that was opened without the second factor. The handler must reject callers who are
// neither the user in the path nor an admin.
func StepUpOthers(r *Route) { r.Kind = KindStepUpOthers }

// Option changes a route.
type Option func(*Route)

// AllowRestricted also accepts users with an access.Restriction.
func AllowRestricted(r *Route) { r.Restricted = true }

// AllowAPIKey also accepts every API key, whatever its scopes.
func AllowAPIKey(r *Route) { r.AnyKey = true }

// AllowAdminKey also accepts API keys with access.ScopeAdmin. It is for routes of Admin that belong to no resource.
func AllowAdminKey(r *Route) { r.AdminKey = true }

// LargeBody accepts bodies of up to MAX_BODY_BYTES. Without it, a body of more than 16 KiB is rejected with 413.
func LargeBody(r *Route) { r.LargeBody = true }

// Raw passes the body to the handler unread, whatever its Content-Type: a webhook whose signature the handler verifies, or a
// file. The handler reads it with rest.RawBody, or streams it from g.Request.Body. The credential is in the Authorization header
// or, with QUERY_TOKENS, in the query string, never in the body; step-up routes therefore require a session that was opened with
// the second factor, if the user has one.
//
// A body of more than maxBytes bytes is rejected with 413: before the handler runs if Content-Length announces it, otherwise when
// the handler reads further. rest.RawBody reads at most 2 MiB: stream a longer body. maxBytes replaces the limits of LargeBody
// and of routes without it. The whole body must arrive within 15 seconds, or reading it fails with 408. Return the errors of
// rest.RawBody and of g.Request.Body.Read unchanged.
//
// What a body counts toward: a body of more than 16 KiB that rest.RawBody reads takes its Content-Length or, without one,
// maxBytes of the memory for large bodies until the request ends. Callers without a credential share 8 MiB of each instance;
// users, API keys and the master key share 24 MiB; or 4 times MAX_BODY_BYTES, if that is more. A caller, without a credential a
// network, has at most a quarter. If the memory is in use, the request waits 5 seconds and then gets 503. A body that is streamed
// takes none, so the handler must not collect it in memory. Except for GET, each body of a user token or an API key, streamed or
// not, also counts as a change of the user in progress: by its Content-Length or, without one, by maxBytes. One of 32 KiB or more
// runs alone, and other changes of the user wait 5 seconds and then get 429.
//
// The route cannot be an operation of a batch, and Table.Call rejects it. Raw panics if maxBytes is not positive; adding the
// route panics if it also has LargeBody, Idempotent or JSONOnly, or the caller Provider, which all read the body.
func Raw(maxBytes int64) Option {
	if maxBytes <= 0 {
		panic(fmt.Sprintf("route: route.Raw with a limit of %d bytes: the limit must be positive", maxBytes))
	}
	return func(r *Route) { r.Raw = maxBytes }
}

// formBytes is what a multipart body of an Upload or of Files has besides its files and parameters: boundaries and headers.
const formBytes = 64 << 10

// Upload passes a body with a file of the field to the handler, which receives it with rest.ReceiveFile. The body is a multipart form
// with one part, whose name is that of the field, or the bytes of the file. The credential is in the header or the query string, as
// with Raw. The handler decides before it reads the body whether the caller may change the record: it can then respond without
// reading it. Until the end of the request, the transfer counts toward the limits of middleware.Transfers, and not as a change in
// progress. The body and the handler have no time limit while bytes arrive. Upload includes Raw, with its panics, and Query("filename").
func Upload(field files.Field) Option {
	return func(r *Route) {
		r.Upload, r.Raw = &field, field.MaxBytes+formBytes
		r.Query = append(r.Query, "filename")
	}
}

// Download is for a GET whose handler responds with rest.ServeFile. The transfer counts toward the limits of middleware.Transfers,
// and has no time limit while the client reads. A request with the parameter signature needs no credential and is no caller: the
// handler verifies the link with files.Links. Other methods of the path then respond 405. A HEAD request has the method HEAD. Download includes
// Query("expires", "signature"). Table.Call rejects the route.
func Download(r *Route) {
	r.Download = true
	r.Query = append(r.Query, files.LinkParams...)
}

// Files also accepts files in multipart bodies, for the fields in List.Files: rest.Bind decodes them into *files.File and
// []files.File. The parameters of the form together have at most MAX_BODY_BYTES, also without LargeBody; access_token is accepted only
// before the first file. The files are received when Bind or BindPatch is called: a handler that must look at a record first does that
// before, so that it can respond without reading the files. For the limits, see Upload.
func Files(r *Route) { r.Files = true }

// Read declares that a route other than a GET changes nothing, such as one that makes a link to a file. It accepts API keys with the
// scope NAME:read, and users whose access.Restriction allows reading.
func Read(r *Route) { r.Read = true }

// MaxForm returns the maximum size in bytes of a multipart body with files. text is the limit of its parameters.
func (r *Route) MaxForm(text int64) int64 {
	size := text + formBytes
	for _, f := range r.List.Files {
		size += f.MaxTotal() + formBytes
	}
	return size
}

// Reads reports whether the route only reads.
func (r *Route) Reads() bool { return r.Method == http.MethodGet || r.Read }

// Idempotent replays the first response to a request with the same Idempotency-Key.
func Idempotent(r *Route) { r.Idempotent = true }

// Stream lets rest.ServeFeed respond with a stream, and limits the number of open streams. It includes AnyQuery.
func Stream(r *Route) {
	r.Stream = true
	AnyQuery(r)
}

// JSONOnly rejects bodies that are not application/json with 415.
func JSONOnly(r *Route) { r.JSONOnly = true }

// CheckOrigin rejects requests from web pages with 403, except pages of CORS_ORIGINS.
func CheckOrigin(r *Route) { r.Origin = true }

// Alone lets other writes of the same user wait until a request has ended.
func Alone(r *Route) { r.Alone = true }

// Query accepts the query parameters with the names. Without it and without AnyQuery, a query parameter other than access_token is
// rejected with 400.
func Query(names ...string) Option {
	return func(r *Route) { r.Query = append(r.Query, names...) }
}

// AnyQuery accepts every query parameter. The handler rejects unknown ones, for example with listing.Lister.Parse.
func AnyQuery(r *Route) { r.Query = append(r.Query, rest.AnyQuery) }

// List declares that the records of the path are listed with the parameters of the Spec. It includes AnyQuery. The Router of Resource
// has its Spec already: the list of a resource needs only AnyQuery.
func List(spec listing.Spec) Option {
	return func(r *Route) {
		r.List = &spec
		AnyQuery(r)
	}
}

// Documented states the path in the API document of a route that shares its annotations with others, such as /auth/{provider}.
func Documented(path string) Option {
	return func(r *Route) { r.Documented = path }
}

// Setting names the setting that turns the route on. on is its value, which the module has in its Settings: if it is false, the
// service does not have the route. The API document has it all the same.
func Setting(name string, on bool) Option {
	return func(r *Route) { r.Setting, r.Off = name, !on }
}

// With runs Gin middleware before the route reads the credential and the body, so that rest.Caller is not known yet.
func With(handlers ...gin.HandlerFunc) Option {
	return func(r *Route) { r.With = append(r.With, handlers...) }
}

// Table has the routes of a service. The server calls Serve before modules add routes. The table is complete when the server
// handles requests.
type Table struct {
	routes    []*Route
	downloads []*Route // those of routes with Download
	off       []*Route // the routes that a setting turns off
	codes     []apperr.Code
	resources []string
	engine    http.Handler
	root      string
	document  []byte
}

// Serve empties the table, and sets the engine on which Call runs requests, the root of the API on it, and the OpenAPI document of
// the routes below the root. The engine must have no middleware yet.
func (t *Table) Serve(engine *gin.Engine, root string, document []byte) {
	*t = Table{engine: engine, root: root, document: document}
	engine.Use(returnFailure)
}

// Router returns a Router for routes below the root of the API.
func (t *Table) Router() *Router { return &Router{table: t, root: t.root} }

// Routes returns all routes in the order in which they were added.
func (t *Table) Routes() []*Route { return t.routes }

// Resources returns the names of the resources in the order in which they were added.
func (t *Table) Resources() []string { return t.resources }

// Document returns the OpenAPI document of the routes below the root of the API.
func (t *Table) Document() []byte { return t.document }

// Root returns the path of the API, which precedes the paths in the document. It is "" or begins with a slash.
func (t *Table) Root() string { return t.root }

// Description is what the API document says of a table. It can be encoded as JSON.
type Description struct {
	Routes []*Route      `json:"routes"`          // also those that a setting turns off
	Codes  []apperr.Code `json:"codes,omitempty"` // error codes besides apperr.Codes
}

// Describe returns the description of the table.
func (t *Table) Describe() Description {
	return Description{slices.Concat(t.routes, t.off), t.codes}
}

// Router adds routes to a table.
type Router struct {
	table *Table
	root  string
	list  *listing.Spec // of the resource; nil: none
}

// AtRoot returns a Router for routes that are not below the root of the API.
func (r *Router) AtRoot() *Router { return &Router{table: r.table} }

// Codes declares the error codes of a module, which the API document lists.
func (r *Router) Codes(codes ...apperr.Code) { r.table.codes = append(r.table.codes, codes...) }

// Resource returns a Router for the routes of a resource. The Name of the Spec is the name of its collection in paths. An API key
// needs the scope NAME:read for GET, and NAME:write for other methods. A route belongs to the resource because it was added to this
// Router, whatever its path: add a route that must accept no API key, and be no operation of a batch, to the Router before Resource.
//
// The routes can be operations of a batch, which the database can undo and repeat. The routes must therefore only read and write
// the database. They must not hash passwords, call other services or count attempts for a rate limit. Emails that the routes
// queue are sent only if the batch is stored.
func (r *Router) Resource(spec listing.Spec) *Router {
	if !slices.Contains(r.table.resources, spec.Name) {
		r.table.resources = append(r.table.resources, spec.Name)
	}
	return &Router{table: r.table, root: r.root, list: &spec}
}

// GET adds a route for GET, which HEAD requests use, too. The options can be in any order.
func (r *Router) GET(path string, caller Caller, handler Handler, options ...Option) {
	r.Handle("GET", path, caller, handler, options...)
}

// POST adds a route for POST.
func (r *Router) POST(path string, caller Caller, handler Handler, options ...Option) {
	r.Handle("POST", path, caller, handler, options...)
}

// PUT adds a route for PUT.
func (r *Router) PUT(path string, caller Caller, handler Handler, options ...Option) {
	r.Handle("PUT", path, caller, handler, options...)
}

// PATCH adds a route for PATCH.
func (r *Router) PATCH(path string, caller Caller, handler Handler, options ...Option) {
	r.Handle("PATCH", path, caller, handler, options...)
}

// DELETE adds a route for DELETE.
func (r *Router) DELETE(path string, caller Caller, handler Handler, options ...Option) {
	r.Handle("DELETE", path, caller, handler, options...)
}

// Handle adds a route for the method. It panics if the path does not begin with a slash, if caller is not one of the functions of
// type Caller, or if an option excludes Raw.
func (r *Router) Handle(method, path string, caller Caller, handler Handler, options ...Option) {
	row := &Route{Method: method, Path: r.root + path, Handler: handler, List: r.list}
	if r.list != nil {
		row.Resource = r.list.Name
	}
	if caller(row); row.Kind == "" || !strings.HasPrefix(path, "/") {
		panic(fmt.Sprintf("route: %s %s needs a caller, and a path that begins with a slash", method, path))
	}
	for _, option := range options {
		option(row)
	}
	if row.Raw > 0 && (row.LargeBody || row.Idempotent || row.JSONOnly || row.Kind == KindProvider) {
		panic(fmt.Sprintf("route: %s %s has route.Raw, so it cannot have route.LargeBody, route.Idempotent, route.JSONOnly or route.Provider", method, path))
	}
	if row.Files && (row.List == nil || row.Raw > 0) {
		panic(fmt.Sprintf("route: %s %s has route.Files, so it needs a Router of Resource, and cannot have route.Raw or route.Upload", method, path))
	}
	if row.Off {
		r.table.off = append(r.table.off, row)
		return
	}
	r.table.routes = append(r.table.routes, row)
	if row.Download {
		r.table.downloads = append(r.table.downloads, row)
	}
}
