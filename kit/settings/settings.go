// Package config reads the settings of the service: from the environment first, then from the file .env. It finds all
// mistakes at once, each with the setting's name, what is wrong and an example.
//
// A section is a struct whose fields bear tags; any package may declare one:
//
//	type Config struct {
//		Secret string        `env:"API_SECRET" secret:"yes"`
//		TTL    time.Duration `env:"API_TTL" default:"1h" min:"1m" max:"720h"`
//	}
//
// Fields are string, bool, int, int64, time.Duration, []string (comma-separated, blanks around items allowed) or a
// section. Tags: env (the name), default, example (shown in errors), required ("yes", or "production": there alone), oneof
// (words apart by a blank), min and max (inclusive, numbers and durations), secret:"yes" (required; at least 32 characters
// in production; a value of .env.example is refused there). A section with further rules has a method Check.
package config

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/viper"
)

// Problem is one mistake in the settings.
type Problem struct {
	Name    string // of the setting
	Wrong   string // what is wrong with it; never its value
	Example string // a value that would do; may be empty
}

// Invalid is the error of settings with mistakes: all of them.
type Invalid struct{ Problems []Problem }

// Error has one line for each problem.
func (e *Invalid) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Name + ": " + p.Wrong
		if p.Example != "" {
			lines[i] += ", for example " + p.Name + "=" + p.Example
		}
	}
	return strings.Join(lines, "\n")
}

// Checker is a section with rules beyond its tags. Check calls bad for each mistake it finds.
type Checker interface {
	Check(production bool, bad func(name, wrong string))
}

// Loaded says where settings came from, for a line at start.
type Loaded struct {
	Created string   // the .env file that Load wrote, if it did
	Unknown []string // names in .env that no section declares, sorted: spelling mistakes, mostly
}

// secretBytes is the entropy of a generated secret, and minSecret the least length accepted in production: 32 bytes
// as RFC 7518 section 3.2 asks of an HS256 key.
const (
	secretBytes = 32
	minSecret   = 32
)

// Load fills the sections of *settings from the environment and dir/.env. In development, if neither has any of the
// secrets and there is no .env, it writes one with fresh secrets. The error is *Invalid, or that of a file.
func Load(dir string, settings any) (Loaded, error) {
	l := loader{v: viper.New(), known: map[string]bool{}}
	l.v.AutomaticEnv()
	path := filepath.Join(dir, ".env")
	l.v.SetConfigFile(path)
	l.v.SetConfigType("dotenv")
	err := l.v.ReadInConfig()
	haveFile := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Loaded{}, &Invalid{[]Problem{{Name: ".env", Wrong: "cannot be read: " + parseError(err) + "; each line is NAME=value"}}}
	}
	root := reflect.ValueOf(settings).Elem()
	l.each(root, func(field reflect.StructField, _ reflect.Value) {
		l.known[strings.ToLower(field.Tag.Get("env"))] = true
		if field.Tag.Get("secret") != "" {
			l.secrets = append(l.secrets, field.Tag.Get("env"))
		}
	})

	l.production = l.mode() == Production
	var out Loaded
	if !haveFile && l.mode() == Development && l.noSecretSet() {
		if err := l.writeSecrets(path); err != nil {
			return Loaded{}, err
		}
		out.Created = path
	}
	l.each(root, l.fill)
	l.check(root)
	for _, key := range l.v.AllKeys() {
		if !l.known[key] {
			out.Unknown = append(out.Unknown, strings.ToUpper(key))
		}
	}
	sort.Strings(out.Unknown)
	if len(l.problems) > 0 {
		for _, name := range out.Unknown {
			l.problems = append(l.problems, Problem{Name: name, Wrong: "is in .env and no setting; is it misspelt?"})
		}
		return out, &Invalid{l.problems}
	}
	return out, nil
}

type loader struct {
	v          *viper.Viper
	production bool
	known      map[string]bool
	secrets    []string
	problems   []Problem
}

// mode is what APP_ENV says, read as fill reads it.
func (l *loader) mode() Mode {
	return cmp.Or(Mode(strings.TrimSpace(l.v.GetString("APP_ENV"))), Development)
}

func (l *loader) noSecretSet() bool {
	for _, name := range l.secrets {
		if l.v.GetString(name) != "" {
			return false
		}
	}
	return len(l.secrets) > 0
}

func (l *loader) writeSecrets(path string) error {
	var b strings.Builder
	b.WriteString("# Made at the first start in development mode. .env.example lists every setting.\n")
	for _, name := range l.secrets {
		raw := make([]byte, secretBytes)
		rand.Read(raw) // never fails: crypto/rand
		value := base64.RawURLEncoding.EncodeToString(raw)
		fmt.Fprintf(&b, "%s=%s\n", name, value)
		l.v.Set(name, value)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &Invalid{[]Problem{{Name: ".env", Wrong: fmt.Sprintf("cannot be written (%v); make the folder writable, or set %s", errors.Unwrap(err), strings.Join(l.secrets, " and "))}}}
	}
	_, err = f.WriteString(b.String())
	return errors.Join(err, f.Close())
}

// each calls visit for every field with a name, in sections within sections too.
func (l *loader) each(section reflect.Value, visit func(reflect.StructField, reflect.Value)) {
	for i := range section.NumField() {
		field, value := section.Type().Field(i), section.Field(i)
		if field.Tag.Get("env") != "" {
			visit(field, value)
		} else if value.Kind() == reflect.Struct {
			l.each(value, visit)
		}
	}
}

// check calls the Check of each section, the inner ones first.
func (l *loader) check(section reflect.Value) {
	for i := range section.NumField() {
		if section.Type().Field(i).Tag.Get("env") == "" && section.Field(i).Kind() == reflect.Struct {
			l.check(section.Field(i))
		}
	}
	if c, ok := section.Addr().Interface().(Checker); ok {
		c.Check(l.production, func(name, wrong string) { l.bad(name, wrong, "") })
	}
}

func (l *loader) bad(name, wrong, example string) {
	for _, p := range l.problems {
		if p.Name == name {
			return // one line for each setting: the first says most
		}
	}
	l.problems = append(l.problems, Problem{name, wrong, example})
}

func (l *loader) fill(field reflect.StructField, value reflect.Value) {
	tag := field.Tag
	name := tag.Get("env")
	text := strings.TrimSpace(l.v.GetString(name))
	example := tag.Get("example")
	if example == "" {
		example = tag.Get("default")
	}
	if tag.Get("secret") != "" {
		items := []string{text}
		if value.Kind() == reflect.Slice {
			items = splitList(text)
		}
		l.checkSecret(name, items, example)
	} else if need := tag.Get("required"); text == "" && (need == "yes" || need == "production" && l.production) {
		l.bad(name, "is missing", example)
	}
	if text == "" {
		text = tag.Get("default")
	}
	if text == "" {
		return
	}
	if words := strings.Fields(tag.Get("oneof")); len(words) > 0 && !slices.Contains(words, text) {
		l.bad(name, "must be one of "+strings.Join(words, ", "), example)
		return
	}
	if wrong := parse(text, tag, value); wrong != "" {
		l.bad(name, wrong, example)
	}
}

func (l *loader) checkSecret(name string, items []string, example string) {
	if len(items) == 0 {
		items = []string{""}
	}
	for _, item := range items {
		switch {
		case item == "":
			l.bad(name, "is missing; make one with: openssl rand -hex 32", "")
		case l.production && item == example:
			l.bad(name, "is the value of .env.example, which everybody knows; make one with: openssl rand -hex 32", "")
		case l.production && len(item) < minSecret:
			l.bad(name, fmt.Sprintf("is shorter than %d characters; make one with: openssl rand -hex 32", minSecret), "")
		}
	}
}

// parse sets value from text and says what is wrong with it, or "".
func parse(text string, tag reflect.StructTag, value reflect.Value) string {
	switch p := value.Addr().Interface().(type) {
	case *bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return "must be true or false"
		}
		*p = b
	case *[]string:
		*p = splitList(text)
	case *time.Duration:
		d, err := time.ParseDuration(text)
		low, _ := time.ParseDuration(tag.Get("min"))
		high, bounded := time.ParseDuration(tag.Get("max"))
		if err != nil || d < low || (bounded == nil && d > high) {
			return "must be a duration" + bounds(tag)
		}
		*p = d
	default:
		return parseKind(text, tag, value)
	}
	return ""
}

func parseKind(text string, tag reflect.StructTag, value reflect.Value) string {
	switch value.Kind() {
	case reflect.String:
		value.SetString(text)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		low, _ := strconv.ParseInt(tag.Get("min"), 10, 64)
		high, bounded := strconv.ParseInt(tag.Get("max"), 10, 64)
		if err != nil || n < low || (bounded == nil && n > high) {
			return "must be a whole number" + bounds(tag)
		}
		value.SetInt(n)
	default:
		panic("config: no setting can be of type " + value.Type().String())
	}
	return ""
}

func bounds(tag reflect.StructTag) string {
	low, high := tag.Get("min"), tag.Get("max")
	switch {
	case low != "" && high != "":
		return " from " + low + " to " + high
	case low != "":
		return " of at least " + low
	}
	return ""
}

func splitList(text string) []string {
	var out []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// parseError keeps an error of a broken file to its kind: the text of the parser may quote a secret.
func parseError(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return "a line is not well formed"
}
