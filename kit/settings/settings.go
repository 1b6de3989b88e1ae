// Package settings reads the settings of a service from the environment and from the file .env. Environment variables take
// precedence. All mistakes are reported together, each with the name of the setting, the reason and an example.
//
// A setting is a struct field with the mapstructure tag. A nested struct without this tag can have more settings, so that each
// package can declare its own settings:
//
//	type Settings struct {
//		Secret string        `mapstructure:"API_SECRET" validate:"secret" example:"change-me-to-a-long-random-secret"`
//		TTL    time.Duration `mapstructure:"API_TTL" default:"1h" validate:"min=1m,max=720h"`
//	}
//
// A field is a string, bool, int, int64, time.Duration or []string (comma-separated). The validate tag can have the rules of
// go-playground/validator and the following rules of this package:
//
//   - secret: required. In production, the secret must have at least 32 characters, and must be neither the value of the
//     example tag nor a value of another setting whose only rule is secret. In development, LoadAtStart generates a missing secret.
//   - production: required in production, with any length, for example the key of another service
//   - origin: a scheme and an ASCII host, for example https://app.example.com, or https://*.example.com for all subdomains of
//     example.com
//   - web_page: an http(s) URL with an ASCII host, without a user, query, fragment or escapes, for example https://app.example.com/reset
//   - host_port: HOST:PORT or :PORT
//
// A struct with other rules implements Checker.
//
// A field can also be a map, for settings whose names are not known in advance. The setting of the map is a list of keys, and
// the value for each key is a struct. In the names of the settings of this struct, %s stands for the key in upper case. With
// STORES=main,paris, this struct reads STORE_MAIN_URL and STORE_PARIS_URL:
//
//	type Settings struct {
//		Stores map[string]struct {
//			URL string `mapstructure:"STORE_%s_URL" validate:"required"`
//		} `mapstructure:"STORES"`
//	}
package settings

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"

	"example.com/ginseng/kit/suggest"
)

// Mode is the value of APP_ENV.
type Mode string

// The modes.
const (
	Development Mode = "development"
	Production  Mode = "production"
	Test        Mode = "test"
)

// Problem describes a mistake in one setting.
type Problem struct {
	Name    string // the name of the setting
	Reason  string // never contains the value, which can be a secret
	Example string // an example of a valid value; can be empty
}

// Invalid is the error for invalid settings. It lists all mistakes.
type Invalid struct{ Problems []Problem }

// Error returns one line per problem.
func (e *Invalid) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Name + ": " + p.Reason
		if p.Example != "" {
			lines[i] += ", for example " + p.Name + "=" + p.Example
		}
	}
	return strings.Join(lines, "\n")
}

// Checker is implemented by structs with rules that tags cannot express. Check calls report for each mistake. Check can also
// normalize values.
type Checker interface {
	Check(report func(name, reason string))
}

// Source describes the .env file from which settings were read.
type Source struct {
	Created string   // path of the .env file if Load or LoadAtStart has created it, or ""
	Added   []string // names of the secrets that were written to .env
	Unknown []string // names in .env that are not settings, sorted; OTEL_ names only if they look misspelled
}

// Load reads all settings of the service into the struct that target points to. In development, Load writes dir/.env with new
// secrets if that file does not exist and no secret is set. OpenTelemetry reads only the environment. Therefore, Load sets each
// OTEL_ variable of .env in the environment, unless the variable is already set there. The error is an *Invalid or an I/O
// error.
func Load(dir string, target any) (Source, error) { return load(dir, target, false) }

// LoadAtStart is like Load, for the command that starts the service. In development, it also adds the secrets that are not set to
// an existing dir/.env, for example those of a new module, unless a name in the file looks like a misspelled secret. The other
// commands must not: without the environment of a service in production, they would add secrets that differ from those of the service.
func LoadAtStart(dir string, target any) (Source, error) { return load(dir, target, true) }

func load(dir string, target any, atStart bool) (Source, error) {
	l, err := open(dir, target)
	if err != nil {
		return Source{}, err
	}
	l.atStart = atStart
	source, err := l.addSecrets()
	if err != nil {
		return Source{}, err
	}
	l.decode()
	for _, key := range l.viper.AllKeys() {
		name := strings.ToUpper(key)
		isOTel := strings.HasPrefix(name, "OTEL_")
		if isOTel && os.Getenv(name) == "" {
			if err := os.Setenv(name, l.viper.GetString(key)); err != nil {
				return source, err
			}
		}
		if _, ok := l.fields[name]; !ok && (!isOTel || suggest.Nearest(name, l.names) != "") {
			source.Unknown = append(source.Unknown, name)
		}
	}
	slices.Sort(source.Unknown)
	if len(l.problems) > 0 {
		for _, name := range source.Unknown {
			l.report(name, "is in .env but is not a setting; check the spelling")
		}
	}
	return source, l.err()
}

// LoadPart is like Load, for a struct with only some settings of the service. It ignores all other names in .env. It does not
// write a file or set environment variables.
func LoadPart(dir string, target any) error {
	l, err := open(dir, target)
	if err != nil {
		return err
	}
	l.decode()
	return l.err()
}

// Validate checks the values in the struct that target points to, without reading settings. It does not apply the rules for
// production. The error is an *Invalid.
func Validate(target any) error {
	l := newLoader(target)
	l.validate()
	l.check(l.target)
	return l.err()
}

type loader struct {
	viper    *viper.Viper
	path     string // the path of .env
	hasFile  bool
	atStart  bool // whether a missing secret can be added to an existing .env
	mode     Mode
	target   reflect.Value
	fields   map[string]reflect.StructField // the field of each setting, by name of the setting
	sections map[string]reflect.Type        // the type of the struct that has the field, by name of the setting
	names    []string                       // the names of the settings, in order of declaration
	entry    string                         // the map key in upper case, which replaces %s; "" outside of maps
	problems []Problem
}

// newLoader returns a loader for the fields of the struct that target points to.
func newLoader(target any) *loader {
	l := &loader{target: reflect.ValueOf(target).Elem(), fields: map[string]reflect.StructField{}, sections: map[string]reflect.Type{}}
	l.collect(l.target.Type())
	return l
}

// open returns a loader for target, and reads dir/.env and the mode.
func open(dir string, target any) (*loader, error) {
	l := newLoader(target)
	l.viper, l.path = viper.New(), filepath.Join(dir, ".env")
	l.viper.AutomaticEnv()
	return l, l.read()
}

// read reads .env and the mode.
func (l *loader) read() error {
	text, err := os.ReadFile(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &Invalid{[]Problem{{Name: ".env", Reason: "cannot be read: " + errors.Unwrap(err).Error()}}}
	}
	l.hasFile = err == nil
	values, err := dotenv(string(text), os.LookupEnv)
	if err != nil {
		return &Invalid{[]Problem{{Name: ".env", Reason: "cannot be read: " + err.Error()}}}
	}
	for name, value := range values {
		l.viper.SetDefault(name, value)
	}
	l.mode = cmp.Or(Mode(l.value("APP_ENV")), Development)
	return nil
}

// collect finds the fields of a struct and of the structs in it.
func (l *loader) collect(section reflect.Type) {
	for field := range section.Fields() {
		if name := field.Tag.Get("mapstructure"); name != "" {
			l.fields[name], l.sections[name] = field, section
			l.names = append(l.names, name)
		} else if field.Type.Kind() == reflect.Struct {
			l.collect(field.Type)
		}
	}
}

func (l *loader) value(name string) string {
	return strings.TrimSpace(l.viper.GetString(l.fullName(name)))
}

// fullName returns the name of the setting whose tag is tag.
func (l *loader) fullName(tag string) string { return strings.ReplaceAll(tag, "%s", l.entry) }

func (l *loader) err() error {
	if len(l.problems) == 0 {
		return nil
	}
	return &Invalid{l.problems}
}

// decode fills the target, validates it and calls the Checkers.
func (l *loader) decode() {
	decoder, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result: l.target.Addr().Interface(), WeaklyTypedInput: true,
		DecodeHook: mapstructure.ComposeDecodeHookFunc(mapstructure.StringToTimeDurationHookFunc(), parseDecimal, splitList),
	})
	if err == nil {
		err = decoder.Decode(l.input(l.target.Type()))
	}
	l.reportDecoding(err)
	l.decodeMaps(l.target)
	l.validate()
	l.checkDistinct()
	l.check(l.target)
}

// decodeMaps fills the fields that are maps, and validates the values of the maps.
func (l *loader) decodeMaps(section reflect.Value) {
	for field, value := range section.Fields() {
		switch value.Kind() {
		case reflect.Struct:
			l.decodeMaps(value)
		case reflect.Map:
			value.Set(reflect.MakeMap(field.Type))
			list, _ := splitList(nil, reflect.TypeFor[[]string](), l.value(field.Tag.Get("mapstructure")))
			for _, name := range list.([]string) {
				value.SetMapIndex(reflect.ValueOf(name), l.decodeEntry(name, field.Type.Elem()))
			}
		}
	}
}

// decodeEntry reads and validates the map value whose key is name.
func (l *loader) decodeEntry(name string, of reflect.Type) reflect.Value {
	target := reflect.New(of)
	entry := newLoader(target.Interface())
	entry.viper, entry.mode, entry.entry = l.viper, l.mode, strings.ToUpper(name)
	entry.decode()
	for _, tag := range entry.names {
		l.fields[entry.fullName(tag)] = entry.fields[tag]
		l.names = append(l.names, entry.fullName(tag))
	}
	l.problems = append(l.problems, entry.problems...)
	return target.Elem()
}

// input returns the values for a struct. It has a string for each setting that has a value, and a map for each nested struct.
func (l *loader) input(section reflect.Type) map[string]any {
	out := make(map[string]any)
	for field := range section.Fields() {
		name := field.Tag.Get("mapstructure")
		if name == "" && field.Type.Kind() == reflect.Struct {
			out[field.Name] = l.input(field.Type)
		} else if field.Type.Kind() == reflect.Map {
			continue // decodeMaps reads maps
		} else if value := cmp.Or(l.value(name), field.Tag.Get("default")); name != "" && value != "" {
			out[name] = value
		}
	}
	return out
}

// parseDecimal is a decode hook that reads integers as decimal numbers. mapstructure would read 010 as 8.
func parseDecimal(_, to reflect.Type, data any) (any, error) {
	text, ok := data.(string)
	if !ok || to.Kind() != reflect.Int && to.Kind() != reflect.Int64 {
		return data, nil
	}
	return strconv.ParseInt(text, 10, 64)
}

// splitList is a decode hook for []string. Items are comma-separated; spaces around items are ignored.
func splitList(_, to reflect.Type, data any) (any, error) {
	text, ok := data.(string)
	if !ok || to != reflect.TypeFor[[]string]() {
		return data, nil
	}
	items := []string{}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item != "" {
			items = append(items, item)
		}
	}
	return items, nil
}

// reportDecoding reports the fields that mapstructure could not decode.
func (l *loader) reportDecoding(err error) {
	switch e := err.(type) {
	case nil:
	case *mapstructure.DecodeError:
		name := e.Name()
		name = name[strings.LastIndexByte(name, '.')+1:]
		l.report(name, typeReason(l.fields[name]))
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			l.reportDecoding(err)
		}
	case interface{ Unwrap() error }:
		l.reportDecoding(e.Unwrap())
	default:
		panic("settings: " + err.Error()) // the struct is invalid, not the value of a setting
	}
}

// check calls the Checkers, inner structs first.
func (l *loader) check(section reflect.Value) {
	for field, value := range section.Fields() {
		if field.Tag.Get("mapstructure") == "" && value.Kind() == reflect.Struct {
			l.check(value)
		}
	}
	if checker, ok := section.Addr().Interface().(Checker); ok {
		checker.Check(l.report)
	}
}

// report adds a problem, unless the setting already has a problem.
func (l *loader) report(tag, reason string) {
	name := l.fullName(tag)
	if slices.ContainsFunc(l.problems, func(p Problem) bool { return p.Name == name }) {
		return
	}
	field := l.fields[tag]
	example := cmp.Or(field.Tag.Get("example"), field.Tag.Get("default"))
	if isSecret(field) || strings.Contains(reason, "for example ") {
		example = ""
	}
	l.problems = append(l.problems, Problem{name, l.fullName(reason), example})
}
