package middleware

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/input"
	"example.com/ginseng/kit/listing"
)

// Guard finds out who makes a request and holds the caller against the route's rule.
type Guard struct {
	Keys         access.Keys
	Tokens       access.TokenVerifier    // nil where the service has no users
	Passwords    access.PasswordVerifier // likewise
	QueryTokens  bool                    // whether a credential may stand in the query
	MaxBodyBytes int64
}

// credential is the name of the parameter that carries the master key or a user token (seed: access_token).
const credential = listing.Credential

func (g Guard) readBody(c *gin.Context) error {
	if c.Request.Method == "GET" || c.Request.ContentLength == 0 {
		return nil
	}
	v, err := input.Read(c.Request, g.MaxBodyBytes)
	if err != nil {
		return err
	}
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Time{}) // limitBody has set one
	c.Set(valuesKey, v)
	return nil
}

// limitBody gives the body of a request its time. The deadline stays where nobody reads the body to its end: net/http
// reads what is left of it, and must not wait for ever.
func limitBody(limit time.Duration) gin.HandlerFunc {
	return func(c *gin.Context) {
		if c.Request.ContentLength != 0 {
			_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(limit)) // a test's recorder has none
		}
	}
}

// readQuery parses the query string, once. A malformed one is refused: what is left out of it could be a filter.
func readQuery(c *gin.Context) error {
	if c.Request.URL.RawQuery == "" {
		return nil
	}
	q, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return apperr.Invalid(apperr.Field{In: "query", Code: apperr.Format, Message: "Must be pairs of name=value, percent-encoded, with & between them."}).WithCause(err)
	}
	c.Set(queryKey, q)
	return nil
}

// Query is the request's query string.
func Query(c *gin.Context) url.Values {
	q, _ := c.Get(queryKey)
	out, _ := q.(url.Values) // nil where there is none
	return out
}

func values(c *gin.Context) input.Values {
	v, _ := c.Get(valuesKey)
	out, _ := v.(input.Values) // the zero value where there is no body
	return out
}

// caller proves the request's credential, if it has one, and applies the rule.
func (g Guard) caller(c *gin.Context, rule access.Rule) (access.Principal, error) {
	if rule == access.Password {
		return g.basic(c)
	}
	if rule == access.Foreign {
		if err := g.keepOurs(c); err != nil {
			return access.Principal{}, err
		}
	}
	text, given, err := g.credential(c, rule != access.Foreign)
	if err != nil {
		return access.Principal{}, err
	}
	if !given {
		if rule == access.Public || rule == access.Foreign {
			return access.Principal{}, nil
		}
		return access.Principal{}, apperr.New(apperr.Unauthorized, "%s", missing[rule])
	}
	p, err := g.prove(c, text)
	if rule == access.Master && apperr.Is(err, apperr.Unauthorized) {
		err = apperr.New(apperr.Unauthorized, "The master key is wrong.")
	}
	if err != nil {
		return p, err
	}
	return p, meets(p, rule)
}

// keepOurs refuses a credential of ours where the body's is to be handed to somebody else.
func (g Guard) keepOurs(c *gin.Context) error {
	for _, text := range values(c).Texts(credential) {
		if _, err := g.prove(c, strings.TrimSpace(text)); err == nil {
			return apperr.New(apperr.Unauthorized, "The body's access_token is to be the provider's here, and is one of this service. Send that in the header.")
		}
	}
	return nil
}

var missing = map[access.Rule]string{
	access.Master: "The master key is missing. A server of yours sends it as access_token in the body; no page or app may hold it.",
	access.User:   `A user token is missing. Sign in, and send the token as access_token, or in the header "Authorization: Bearer …".`,
	access.Admin:  `The user token of an admin is missing. Sign in, and send the token as access_token, or in the header "Authorization: Bearer …".`,
}

// meets holds a proven caller against the rule: a credential of the wrong kind is 401, a user without the role 403.
func meets(p access.Principal, rule access.Rule) error {
	switch {
	case rule == access.Master && !p.Master:
		return apperr.New(apperr.Unauthorized, "This takes the master key, not a user token.")
	case (rule == access.User || rule == access.Admin) && !p.IsUser():
		return apperr.New(apperr.Unauthorized, "This takes a user token, not the master key.")
	case rule == access.Admin && !p.IsAdmin():
		return apperr.New(apperr.Forbidden, "Only an admin may do this.")
	}
	return nil
}

func (g Guard) prove(c *gin.Context, text string) (access.Principal, error) {
	if g.Keys.Match(text) {
		return access.Principal{Master: true}, nil
	}
	if g.Tokens == nil {
		return access.Principal{}, access.BadToken()
	}
	return g.Tokens.VerifyToken(c.Request.Context(), text)
}

// credential is the text in the places that may carry one: body, header, query. Different values are a mistake
// (RFC 6750 section 2); the same one twice is fine.
func (g Guard) credential(c *gin.Context, inBody bool) (text string, given bool, err error) {
	type place struct {
		in    string
		texts []string
	}
	places := []place{{in: "body"}, {in: "query"}, {in: "header", texts: bearer(c)}}
	if v := values(c); inBody && v.Has(credential) {
		places[0].texts = v.Texts(credential)
		if len(places[0].texts) != 1 {
			return "", false, wrongCredential("body", apperr.Type, "Must be text, and given once.")
		}
	}
	if g.QueryTokens {
		places[1].texts = Query(c)[credential]
	}
	for _, p := range places {
		for _, candidate := range p.texts {
			candidate = strings.TrimSpace(candidate)
			if given && candidate != text {
				return "", false, wrongCredential(p.in, apperr.FieldConflict, "Is given twice with different values. Send it once.")
			}
			text, given = candidate, true
		}
	}
	return text, given, nil
}

func wrongCredential(in string, code apperr.FieldCode, message string) error {
	return apperr.Invalid(apperr.Field{In: in, Param: credential, Code: code, Message: message})
}

// bearer is the tokens of the Authorization headers: one, or a mistake.
func bearer(c *gin.Context) (tokens []string) {
	for _, header := range c.Request.Header["Authorization"] {
		if scheme, text, _ := strings.Cut(header, " "); strings.EqualFold(scheme, "Bearer") {
			tokens = append(tokens, text)
		}
	}
	return tokens
}

// basic proves an e-mail and a password.
func (g Guard) basic(c *gin.Context) (access.Principal, error) {
	email, password, given := Basic(c)
	if !given {
		return access.Principal{}, apperr.New(apperr.Unauthorized, "E-mail and password are missing. Send them as Authorization: Basic.")
	}
	observeLimits(c)
	return g.Passwords.VerifyPassword(c.Request.Context(), Client(c), email, password)
}

// Basic is the e-mail and password of an Authorization header (RFC 7617). A malformed one counts as given, and is
// nobody's: both texts are empty.
func Basic(c *gin.Context) (email, password string, given bool) {
	c.Set(basicKey, true) // what a 401 of this route asks for
	scheme, text, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || !utf8.Valid(raw) { // the challenge asks for UTF-8
		return "", "", true
	}
	email, password, ok := strings.Cut(string(raw), ":")
	if !ok {
		return "", "", true
	}
	return email, password, true
}
