package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// answers are what decides about a project.
type answers struct {
	Name       string   `json:"name"`
	Module     string   `json:"module"`
	Components []string `json:"components"`
	Providers  []string `json:"providers,omitempty"` // of social
}

// request is what the command line asks for.
type request struct {
	answers
	verb   string // "new", "upgrade", "add", "remove"
	dir    string
	words  []string // of add and remove: components
	dryRun bool
	said   []string // what follows from an answer, and was not asked for
	given  map[string]bool
}

// mistakes are all that is wrong with a command line, a line each.
type mistakes []string

func (m mistakes) Error() string { return strings.Join(m, "\n") }

func (m *mistakes) add(format string, args ...any) { *m = append(*m, fmt.Sprintf(format, args...)) }

// providers are the identity providers of social.
var providers = []string{"facebook", "github", "google"}

// flagKinds are the flags, and whether each takes a value. They are the keys of --config, too.
var flagKinds = map[string]bool{
	"module": true, "dir": true, "with": true, "without": true, "providers": true, "config": true, "dry-run": false,
}

// parseArgs reads the command line, and the file that --config names. The error is mistakes: all of them.
func parseArgs(args []string, stdin io.Reader) (request, error) {
	r := request{verb: "new", given: map[string]bool{}}
	var wrong mistakes
	values := map[string]string{}
	set := func(name, value, where string) {
		if old, twice := values[name]; twice && old != value {
			wrong.add("%s is given twice, with different values", where)
		}
		values[name] = value
	}
	var words []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			words = append(words, arg)
			continue
		}
		name, value, inline := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		takes, known := flagKinds[name]
		switch {
		case !known:
			wrong.add("there is no flag --%s%s", name, nearest(name, sortedKeys(flagKinds), "--"))
			if !inline && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && len(words) > 0 {
				i++ // its value, most likely
			}
		case !takes && inline && value != "true" && value != "false":
			wrong.add("--%s is true or false", name)
		case !takes:
			set(name, map[bool]string{true: value, false: "true"}[inline], "--"+name)
		case inline:
			set(name, value, "--"+name)
		case i+1 == len(args):
			wrong.add("--%s needs a value", name)
		default:
			i++
			set(name, args[i], "--"+name)
		}
	}
	if file, ok := values["config"]; ok {
		readConfig(file, stdin, values, &words, &wrong)
	}
	if len(words) > 0 && (words[0] == "upgrade" || words[0] == "add" || words[0] == "remove") {
		r.verb, words = words[0], words[1:]
	}
	for name := range values {
		r.given[name] = true
	}
	r.dryRun = values["dry-run"] == "true"
	r.dir = values["dir"]
	if r.verb != "new" {
		r.words = r.change(words, values, &wrong)
	} else {
		r.project(words, values, &wrong)
	}
	if len(wrong) > 0 {
		return r, wrong
	}
	return r, nil
}

// change checks the words of upgrade, add and remove.
func (r *request) change(words []string, values map[string]string, wrong *mistakes) []string {
	for _, name := range []string{"module", "with", "without", "providers"} {
		if _, ok := values[name]; ok {
			wrong.add("%s takes no --%s; the answers are those of the project's .ginseng.json", r.verb, name)
		}
	}
	if r.dir == "" {
		wrong.add("%s needs --dir PROJECT", r.verb)
	}
	switch {
	case r.verb == "upgrade" && len(words) > 0:
		wrong.add("upgrade takes no word besides --dir: %s", strings.Join(words, " "))
	case r.verb != "upgrade" && len(words) == 0:
		wrong.add("%s needs a component: %s", r.verb, strings.Join(names(), ", "))
	case r.verb != "upgrade":
		for _, word := range words {
			for _, item := range splitList(word) {
				if !slices.Contains(names(), item) {
					wrong.add("there is no component %s%s", item, nearest(item, names(), ""))
				}
			}
		}
	}
	return splitList(strings.Join(words, ","))
}

// project checks the answers for a new project.
func (r *request) project(words []string, values map[string]string, wrong *mistakes) {
	switch len(words) {
	case 0:
		wrong.add("the project needs a NAME: go run ./scripts/new NAME")
	case 1:
		r.Name = words[0]
		if why := badName(r.Name); why != "" {
			wrong.add("the name %q %s", r.Name, why)
		}
	default:
		wrong.add("one NAME is needed, not %d: %s", len(words), strings.Join(words, " "))
	}
	r.Module = "example.com/" + r.Name
	if module, ok := values["module"]; ok {
		r.Module = module
		if why := badModule(module); why != "" {
			wrong.add("--module %q %s", module, why)
		}
	}
	if r.dir == "" {
		r.dir = r.Name
	}
	with, hasWith := values["with"]
	without, hasWithout := values["without"]
	if hasWith && hasWithout {
		wrong.add("--with and --without are two ways to say the same; give one")
	}
	r.Components = names()
	switch {
	case hasWith:
		r.Components = r.with(splitList(with), wrong)
	case hasWithout:
		r.Components = r.without(splitList(without), wrong)
	}
	r.chooseProviders(values, wrong)
}

func (r *request) with(list []string, wrong *mistakes) []string {
	if slices.Equal(list, []string{"all"}) {
		return names()
	}
	if slices.Equal(list, []string{"none"}) {
		return nil
	}
	checkComponents("--with", list, append(names(), "all", "none"), wrong)
	for _, c := range components {
		if slices.Contains(list, c.name) && c.needs != "" && !slices.Contains(list, c.needs) {
			wrong.add("--with: %s needs %s; write --with %s,%s", c.name, c.needs, c.needs, strings.Join(list, ","))
		}
	}
	return ordered(list)
}

func (r *request) without(list []string, wrong *mistakes) []string {
	if slices.Equal(list, []string{"none"}) {
		return names()
	}
	if slices.Equal(list, []string{"all"}) {
		return nil
	}
	checkComponents("--without", list, append(names(), "all", "none"), wrong)
	kept, dropped := withDependents(list)
	for _, name := range dropped {
		r.said = append(r.said, name+" is left out as well: it needs "+need(name)+".")
	}
	return kept
}

// withDependents are the components that stay when some are left out, and those that go with them.
func withDependents(left []string) (kept, dropped []string) {
	for _, c := range components {
		switch {
		case slices.Contains(left, c.name):
		case c.needs != "" && slices.Contains(left, c.needs):
			dropped = append(dropped, c.name)
		default:
			kept = append(kept, c.name)
		}
	}
	return kept, dropped
}

func need(name string) string {
	for _, c := range components {
		if c.name == name {
			return c.needs
		}
	}
	return ""
}

func checkComponents(flag string, list, valid []string, wrong *mistakes) {
	if len(list) == 0 {
		wrong.add("%s needs a list of components: %s, or none", flag, strings.Join(names(), ", "))
	}
	for _, item := range list {
		switch {
		case !slices.Contains(valid, item):
			wrong.add("%s: there is no component %s%s", flag, item, nearest(item, valid, ""))
		case item == "all" || item == "none":
			wrong.add("%s: %s stands alone", flag, item)
		}
	}
}

func (r *request) chooseProviders(values map[string]string, wrong *mistakes) {
	list, given := values["providers"]
	if !slices.Contains(r.Components, social) {
		if given {
			wrong.add("--providers: without social there are none")
		}
		return
	}
	r.Providers = slices.Clone(providers)
	if !given || list == "all" {
		return
	}
	r.Providers = nil
	items := splitList(list)
	for _, item := range items {
		if !slices.Contains(providers, item) {
			wrong.add("--providers: there is no provider %s%s", item, nearest(item, providers, ""))
		}
	}
	for _, p := range providers {
		if slices.Contains(items, p) {
			r.Providers = append(r.Providers, p)
		}
	}
	if len(items) == 0 || slices.Equal(items, []string{"none"}) {
		wrong.add("--providers: social needs at least one of %s; leave social out instead", strings.Join(providers, ", "))
	}
}

// readConfig adds the answers of a JSON file to those of the command line, which go before them.
func readConfig(file string, stdin io.Reader, values map[string]string, words *[]string, wrong *mistakes) {
	var raw []byte
	var err error
	if file == "-" {
		raw, err = io.ReadAll(stdin)
	} else {
		raw, err = os.ReadFile(file)
	}
	var config map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &config)
	}
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		wrong.add("--config %s: %v", file, err)
		return
	}
	valid := append(slices.DeleteFunc(sortedKeys(flagKinds), func(n string) bool { return n == "config" }), "name")
	for _, key := range sortedKeys(config) {
		value, ok := text(config[key])
		switch {
		case !slices.Contains(valid, key):
			wrong.add("--config: there is no answer %q%s", key, nearest(key, valid, ""))
		case !ok:
			wrong.add("--config: %q must be text, a list of texts, true or false", key)
		case key == "name":
			if len(*words) == 0 {
				*words = append(*words, value)
			}
		default:
			if _, given := values[key]; !given {
				values[key] = value
			}
		}
	}
}

// text is a value of the JSON file as it would stand on the command line.
func text(value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return value, true
	case bool:
		return fmt.Sprint(value), true
	case []any:
		items := make([]string, len(value))
		for i, item := range value {
			s, ok := item.(string)
			if !ok {
				return "", false
			}
			items[i] = s
		}
		if len(items) == 0 {
			return "none", true
		}
		return strings.Join(items, ","), true
	}
	return "", false
}

var nameShape = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// maxName bounds a name: it is a folder, a binary and the name of a database.
const maxName = 38 // bytes; MongoDB 63, a user agent's product less

// badName says what is wrong with a project's name, or "".
func badName(name string) string {
	switch {
	case !nameShape.MatchString(name):
		return "must be lower-case letters, digits and single hyphens between them, and begin with a letter"
	case len(name) > maxName:
		return fmt.Sprintf("is longer than %d characters", maxName)
	case slices.Contains([]string{"con", "prn", "aux", "nul"}, name) || regexp.MustCompile(`^(com|lpt)\d$`).MatchString(name):
		return "is a device on Windows"
	case slices.Contains([]string{"config", "data", "docs", "internal", "middleware", "modules", "scripts", "tmp"}, name):
		return "is the name of a folder within the project, where the binary of this name would be put"
	}
	return ""
}

var (
	moduleElement = regexp.MustCompile(`^[A-Za-z0-9_~-][A-Za-z0-9._~-]*$`)
	reserved      = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)`)
)

// badModule says what is wrong with a module's path, or "" (golang.org/ref/mod#go-mod-file-ident).
func badModule(module string) string {
	for i, element := range strings.Split(module, "/") {
		switch {
		case !moduleElement.MatchString(element), strings.HasSuffix(element, "."), strings.Contains(element, ".."):
			return "must be letters, digits and -._~ between slashes, for example github.com/you/shop"
		case reserved.MatchString(element):
			return "names a device of Windows: " + element
		case i == 0 && !strings.Contains(element, ".") && isStandard(element):
			return "begins like packages of Go's own; put a domain before it, for example example.com/" + path.Base(module)
		}
	}
	return ""
}

func isStandard(element string) bool {
	_, err := os.Stat(filepath.Join(build.Default.GOROOT, "src", element))
	return err == nil || element == "go"
}

// splitList splits at commas and blanks.
func splitList(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// ordered is the list in the order of the components, each once.
func ordered(list []string) (out []string) {
	for _, name := range names() {
		if slices.Contains(list, name) {
			out = append(out, name)
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// nearest suggests the valid word that is nearest to a wrong one, or lists all of them.
func nearest(wrong string, valid []string, prefix string) string {
	best, least := "", len(wrong)/2+2
	for _, word := range valid {
		if d := distance(wrong, word); d < least {
			best, least = word, d
		}
	}
	if best != "" {
		return "; did you mean " + prefix + best + "?"
	}
	shown := make([]string, len(valid))
	for i, word := range valid {
		shown[i] = prefix + word
	}
	return "; there are " + strings.Join(shown, ", ")
}

// distance is how many letters must be put in, taken out or replaced to make one word of the other (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
