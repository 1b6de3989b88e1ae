package rest

import (
	"cmp"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/go-playground/validator/v10"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email/address"
	"example.com/ginseng/kit/password"
	"example.com/ginseng/kit/store"
)

var validation = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterCustomTypeFunc(func(t reflect.Value) any { return t.Interface().(store.Time).Time }, store.Time{})
	register(v, "uncommon", func(fl validator.FieldLevel) bool { return !password.IsCommon(fl.Field().String()) })
	register(v, "maxbytes", func(fl validator.FieldLevel) bool {
		n, err := strconv.Atoi(fl.Param())
		return err == nil && len(fl.Field().String()) <= n
	})
	register(v, "plain", func(fl validator.FieldLevel) bool { return !strings.ContainsFunc(fl.Field().String(), IsControl) })
	register(v, "plain_http_url", func(fl validator.FieldLevel) bool { return isPlainURL(fl.Field().String()) })
	register(v, "normalizable", func(fl validator.FieldLevel) bool {
		_, ok := address.Normalize(fl.Field().String())
		return ok
	})
	register(v, "decmin", func(fl validator.FieldLevel) bool { return fl.Field().Int() >= int64(decimal(fl.Param())) })
	register(v, "decmax", func(fl validator.FieldLevel) bool { return fl.Field().Int() <= int64(decimal(fl.Param())) })
	register(v, "dnslabel", func(fl validator.FieldLevel) bool { return dnsLabel.MatchString(fl.Field().String()) })
	return v
})

// Validate checks the nonzero fields of a struct against their validate tags, as Bind does, but ignores the rule required. names are
// the JSON names of the fields to check; without names, all are checked. The error is ValidationFailed with all invalid fields.
func Validate(in any, names ...string) error {
	value := reflect.ValueOf(in)
	var fieldErrs []apperr.Field
	for _, f := range fieldsOf(value.Type()) {
		if v := value.FieldByIndex(f.index); !v.IsZero() && (names == nil || slices.Contains(names, f.name)) {
			fieldErrs = append(fieldErrs, f.describe(f.check(v))...)
		}
	}
	if fieldErrs == nil {
		return nil
	}
	return apperr.Invalid(fieldErrs...)
}

// Valid reports whether a value satisfies the rules, which are written as in a validate tag.
func Valid(value any, rules string) bool { return validation().Var(value, rules) == nil }

// IsControl reports whether r is a control character, ends a line, or changes the direction of the text around it.
func IsControl(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// isPlainURL reports whether s is an http or https URL that is safe in HTML: without user information, and without control
// characters, spaces and ASCII characters that a URL must percent-encode (RFC 3986 appendix A).
func isPlainURL(s string) bool {
	u, err := url.Parse(s)
	unsafe := func(r rune) bool { return IsControl(r) || unicode.IsSpace(r) || strings.ContainsRune("\"<>\\^`{|}", r) }
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && !strings.ContainsFunc(s, unsafe)
}

// decimal parses the bound in a decmin or decmax rule.
func decimal(bound string) store.Decimal {
	d, err := store.ParseDecimal(bound)
	if err != nil {
		panic(err) // the tag of the field is invalid
	}
	return d
}

// dnsLabel matches a label of RFC 1123 section 2.1, in lower case.
var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

func register(v *validator.Validate, tag string, rule validator.Func) {
	if err := v.RegisterValidation(tag, rule); err != nil {
		panic(err) // unreachable: the tag is not empty, and the rule is not nil
	}
}

// bounds has the code and the message for violations of a rule with a bound, by tag of the rule and kind of the value.
// reflect.Invalid stands for the kinds that are not listed.
var bounds = map[string]map[reflect.Kind]apperr.Field{
	"max": {
		reflect.Slice:   {Code: apperr.MaxLength, Message: "Must have at most %s items."},
		reflect.String:  {Code: apperr.MaxLength, Message: "Must have at most %s characters."},
		reflect.Invalid: {Code: apperr.Max, Message: "Must be at most %s."},
	},
	"min": {
		reflect.Slice:   {Code: apperr.MinLength, Message: "Must have at least %s items."},
		reflect.String:  {Code: apperr.MinLength, Message: "Must have at least %s characters."},
		reflect.Invalid: {Code: apperr.Min, Message: "Must be at least %s."},
	},
	"decmin": {reflect.Int64: {Code: apperr.Min, Message: "Must be at least %s."}},
	"decmax": {reflect.Int64: {Code: apperr.Max, Message: "Must be at most %s."}},
	"maxbytes": {
		reflect.String: {Code: apperr.MaxLength, Message: "Must have at most %s bytes."},
	},
}

// violation returns the error for a violated rule. The caller sets In and Param.
func violation(v validator.FieldError) apperr.Field {
	tag, param, kind := v.Tag(), v.Param(), v.Kind()
	if kinds := bounds[tag]; kinds != nil {
		fieldErr, ok := kinds[kind]
		if !ok {
			fieldErr = kinds[reflect.Invalid]
		}
		fieldErr.Message = fmt.Sprintf(fieldErr.Message, param)
		if n, err := strconv.ParseFloat(param, 64); err == nil {
			fieldErr.Expected = n
		}
		return fieldErr
	}
	switch tag {
	case "oneof":
		allowed := strings.Fields(param)
		return apperr.Field{Code: apperr.OneOf, Message: "Must be one of " + strings.Join(allowed, ", ") + ".", Expected: allowed}
	case "uncommon":
		return apperr.Field{Code: apperr.TooCommon, Message: "Is a common password. Choose another password."}
	case "excludes":
		return apperr.Field{Code: apperr.Format, Message: fmt.Sprintf("Must not contain %q.", param)}
	}
	return apperr.Field{Code: apperr.Format, Message: cmp.Or(formats[tag], "Is not valid.")}
}

// formats has the messages of the rules with the code Format.
var formats = map[string]string{
	"email":          "Must be an email address.",
	"normalizable":   "Must be an email address with a valid domain and at most 254 bytes, without look-alikes of ASCII characters.",
	"plain_http_url": "Must be a URL that begins with http:// or https://, percent-encoded, without a user name.",
	"plain":          "Must not contain control characters, line breaks or characters that change the direction of text.",
	"http_url":       "Must be a URL that begins with http:// or https://.",
	"dnslabel":       "Must consist of lower-case letters, digits and hyphens, and begin and end with a letter or digit.",
}
