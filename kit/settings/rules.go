package settings

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-playground/validator/v10"
)

// The rules whose result depends on other settings, such as APP_ENV.
const (
	tagSecret     = "secret"
	tagProduction = "production"
)

// form is a rule for the format of strings.
type form struct {
	valid  func(string) bool
	reason string // Problem.Reason if a string is not valid
}

// hostCharacters are the characters of a host and a port, and the * of an origin. Browsers send the host of an internationalized
// domain name in ASCII (RFC 5890 section 2.3.2.1), so a setting with another form would never match.
const (
	hostCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:[]*"
	asciiHost      = "hosts must be in ASCII, such as xn--mller-kva.example for müller.example"
)

// forms has the rules for strings that this package adds to the rules of go-playground/validator.
var forms = map[string]form{
	"origin": {isOrigin, "must list origins, each a scheme and a host without a path, such as https://app.example.com or https://*.example.com, or be *; " + asciiHost},
	"web_page": {isWebPage,
		"must list pages or origins: http:// or https://, a host and possibly a path, without a query, a fragment, user information, .. or {token}; " + asciiHost},
	"host_port": {isHostPort, "must be HOST:PORT, or :PORT for all networks"},
}

// validate checks the fields against their validate tags, and reports invalid fields.
func (l *loader) validate() {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string { return f.Tag.Get("mapstructure") })
	rules := map[string]validator.Func{
		tagSecret:     func(f validator.FieldLevel) bool { return l.secretReason(f.FieldName(), f.Field()) == "" },
		tagProduction: func(f validator.FieldLevel) bool { return l.mode != Production || !f.Field().IsZero() },
	}
	for tag, form := range forms {
		rules[tag] = func(f validator.FieldLevel) bool { return form.valid(f.Field().String()) }
	}
	for tag, rule := range rules {
		if err := v.RegisterValidation(tag, rule, true); err != nil {
			panic(err) // unreachable: the tag is not empty
		}
	}
	err := v.Struct(l.target.Interface())
	var invalid validator.ValidationErrors
	if !errors.As(err, &invalid) {
		return
	}
	for _, e := range invalid {
		name, _, _ := strings.Cut(e.Field(), "[") // remove the index of a list item
		l.report(name, l.reason(name, e))
	}
}

// reason returns the reason that a setting is invalid.
func (l *loader) reason(name string, e validator.FieldError) string {
	_, rule, isEither := strings.Cut(e.Tag(), "|") // for example eq=*|origin
	if !isEither {
		rule = e.Tag()
	}
	switch {
	case rule == tagSecret:
		return l.secretReason(name, reflect.ValueOf(e.Value()))
	case rule == "required_with":
		return "is missing; " + l.nameOf(e.Param(), name) + " requires it"
	case rule == tagProduction, strings.HasPrefix(rule, "required"):
		return "is missing"
	case rule == "oneof":
		return "must be one of " + strings.Join(strings.Fields(e.Param()), ", ")
	case rule == "min", rule == "max":
		return typeReason(l.fields[name])
	case rule == "gtefield":
		return "must not be less than " + l.nameOf(e.Param(), name)
	case rule == "ltefield":
		return "must not be greater than " + l.nameOf(e.Param(), name)
	case rule == "cidr":
		return "must list networks in CIDR notation"
	case rule == "http_url":
		return "must be a URL with http:// or https://"
	}
	return cmp.Or(forms[rule].reason, "does not satisfy "+rule)
}

// nameOf returns the name of the setting for a Go field. sibling is the name of a setting in the same struct. nameOf is needed
// because the parameters of rules are names of Go fields.
func (l *loader) nameOf(field, sibling string) string {
	f, _ := l.sections[sibling].FieldByName(field)
	return f.Tag.Get("mapstructure")
}

const newSecret = "; generate one with: openssl rand -hex 32"

// secretReason returns the reason that value, a secret or a list of secrets, is invalid. It returns "" if value is valid.
func (l *loader) secretReason(name string, value reflect.Value) string {
	list, ok := value.Interface().([]string)
	if !ok {
		list = []string{value.String()}
	}
	if len(list) == 0 {
		list = []string{""}
	}
	for _, secret := range list {
		switch {
		case secret == "" && l.mode == Development && l.hasFile && !l.atStart && slices.Contains(l.missingSecrets(), name):
			return "is missing; set it and APP_ENV as the service has them; in development, a start of the service adds it to .env"
		case secret == "":
			return "is missing" + newSecret
		case l.mode == Production && secret == l.fields[name].Tag.Get("example"):
			return "is the value of .env.example, which is public" + newSecret
		case l.mode == Production && len(secret) < minSecret:
			return fmt.Sprintf("is shorter than %d characters", minSecret) + newSecret
		}
	}
	return ""
}

// checkDistinct reports, in production, secrets that share a value with another secret. With a shared value, a caller that knows
// one secret, such as the master key, could also use the other secret, for example to sign user tokens.
func (l *loader) checkDistinct() {
	if l.mode != Production {
		return
	}
	earlier := map[string]string{} // by value: the name of an earlier setting that has the value
	for _, name := range l.secrets() {
		for value := range strings.SplitSeq(l.value(name), ",") {
			value = strings.TrimSpace(value)
			other, used := earlier[value]
			if used && other != name && value != "" {
				l.report(name, "is also a value of "+other+newSecret)
			}
			earlier[value] = name
		}
	}
}

// typeReason describes the values that a field accepts.
func typeReason(f reflect.StructField) string {
	reason := "must be a string"
	switch {
	case f.Type == reflect.TypeFor[time.Duration]():
		reason = "must be a duration"
	case f.Type.Kind() == reflect.Bool:
		return "must be true or false"
	case f.Type.Kind() == reflect.Int, f.Type.Kind() == reflect.Int64:
		reason = "must be an integer"
	}
	low, high := "", ""
	for rule := range strings.SplitSeq(f.Tag.Get("validate"), ",") {
		if value, ok := strings.CutPrefix(rule, "min="); ok {
			low = value
		}
		if value, ok := strings.CutPrefix(rule, "max="); ok {
			high = value
		}
	}
	switch {
	case low != "" && high != "":
		return reason + " from " + low + " to " + high
	case low != "":
		return reason + " of at least " + low
	}
	return reason
}

// isOrigin reports whether text consists of a scheme and a host, as the rule origin requires.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && u.Hostname() != "" && text == u.Scheme+"://"+u.Host && strings.Trim(u.Host, hostCharacters) == "" &&
		!strings.Contains(strings.TrimPrefix(u.Host, "*."), "*") // *example.com would include evilexample.com
}

// isWebPage reports whether text is an http(s) URL without a user, query or fragment, whose host has only hostCharacters, and whose
// path has no escapes, empty segments or dot segments.
func isWebPage(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Contains(u.Host, "*") || strings.Trim(u.Host, hostCharacters) != "" || text != u.Scheme+"://"+u.Host+u.EscapedPath() {
		return false
	}
	page := strings.TrimSuffix(u.Path, "/")
	return u.EscapedPath() == u.Path && (page == "" || path.Clean(page) == page)
}

func isHostPort(text string) bool {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}
