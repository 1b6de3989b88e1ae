package main

import (
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// Methods of a resource, in the order of its routes.
const (
	methodCreate = "create"
	methodList   = "list"
	methodShow   = "show"
	methodUpdate = "update"
	methodDelete = "delete"
)

// Rules that a method can make of its caller.
const (
	rulePublic = "public"
	ruleUser   = "user"
	ruleAdmin  = "admin"
	ruleMaster = "master"
)

var (
	methodWords = []string{methodCreate, methodList, methodShow, methodUpdate, methodDelete}
	ruleWords   = []string{ruleMaster, ruleAdmin, ruleUser, rulePublic}
	flagWords   = []string{"plural", "methods", ruleMaster, ruleAdmin, ruleUser, rulePublic, "owner", "no-owner", "undo", "force", "dry-run", "help"}
	switches    = []string{"owner", "no-owner", "undo", "force", "dry-run", "help"} // flags without a value
)

// problems collects every mistake of a call, one line each.
type problems struct{ lines []string }

func newProblems() *problems { return &problems{} }

func (p *problems) add(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(p.lines, line) {
		p.lines = append(p.lines, line)
	}
}

// command is a call as it was written.
type command struct {
	words []string            // the name, then the fields
	flags map[string][]string // the values of each flag; a switch has one, ""
}

func (c command) has(flag string) bool { return c.flags[flag] != nil }

// parseCommand tells flags from words, wherever they stand.
func parseCommand(args []string, problems *problems) command {
	c := command{flags: map[string][]string{}}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			c.words = append(c.words, args[i+1:]...)
			break
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			c.words = append(c.words, arg)
			continue
		}
		name, value, valued := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name == "h" {
			name = "help"
		}
		isSwitch := slices.Contains(switches, name)
		switch {
		case !slices.Contains(flagWords, name):
			hint := "use some of --" + strings.Join(flagWords, ", --")
			if near := nearest(name, flagWords); near != "" {
				hint = "did you mean --" + near + "?"
			}
			problems.add("flag %s: there is none of this name; %s", show("--"+name), hint)
			continue
		case isSwitch && valued:
			problems.add("flag --%s: takes no value; write --%s alone", name, name)
		case !isSwitch && !valued:
			if i+1 == len(args) || strings.HasPrefix(args[i+1], "-") {
				problems.add("flag --%s: its value is missing; write --%s=…", name, name)
				continue
			}
			i++
			value = args[i]
		}
		if c.has(name) && (!isSwitch && !slices.Contains(ruleWords, name)) {
			problems.add("flag --%s: stands twice; leave one out", name)
		}
		c.flags[name] = append(c.flags[name], value)
	}
	return c
}

// Resource is what is generated: the declaration, and what it is rendered with.
type Resource struct {
	Module  string // the import path of the project
	Name    string // kebab-case
	Plural  string // kebab-case
	Fields  []Field
	Rules   map[string]string // of each method that there is
	Owner   bool
	HasUser bool // the project has users
}

var kebabCase = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// declare makes the resource that a command declares.
func declare(c command, module string, hasUser bool, problems *problems) Resource {
	r := Resource{Module: module, Name: c.words[0], Rules: map[string]string{}, HasUser: hasUser}
	checkName(r.Name, problems)
	r.Plural = plural(r.Name)
	if c.has("plural") {
		r.Plural = c.flags["plural"][0]
	}
	if !kebabCase.MatchString(r.Plural) && kebabCase.MatchString(r.Name) {
		problems.add("flag --plural: %s is not kebab-case: small letters, digits and single hyphens, such as %s", show(r.Plural), plural(r.Name))
	} else if token.IsKeyword(r.Plural) {
		problems.add("flag --plural: %s is a keyword of Go; choose another word", r.Plural)
	}
	if n := len(c.words) - 1; n > maxFields {
		problems.add("fields: %d are more than %d, the most that a form of this service is meant for; make several resources of them", n, maxFields)
	} else {
		r.declareFields(c.words[1:], problems)
	}
	r.declareRules(c, problems)
	r.declareOwner(c, problems)
	r.checkUse(problems)
	return r
}

// reserved are names of modules that something else bears: the Go tool, the module's own code, or a device of Windows.
var reserved = func() map[string]string {
	out := map[string]string{"init": "is a name that Go keeps for itself", "main": "is a name that Go keeps for itself"}
	for _, name := range []string{"internal", "vendor", "testdata"} {
		out[name] = "is a folder that Go treats in its own way"
	}
	out["docs"] = "is a folder that swag does not read"
	for _, name := range []string{"module", "options", "service", "view", "create-input", "update-input", "controller"} {
		out[name] = "is a name that every module declares itself"
	}
	for _, name := range []string{"con", "prn", "aux", "nul"} {
		out[name] = "is a device of Windows, where no folder can bear its name"
	}
	for i := range 10 {
		out[fmt.Sprint("com", i)] = "is a device of Windows, where no folder can bear its name"
		out[fmt.Sprint("lpt", i)] = "is a device of Windows, where no folder can bear its name"
	}
	return out
}()

func checkName(name string, problems *problems) {
	bad := func(format string, args ...any) {
		problems.add("name %s: %s", show(name), fmt.Sprintf(format, args...))
	}
	pkg := packageName(name)
	switch why, known := reserved[strings.ToLower(name)]; {
	case known:
		bad("%s; choose another name", why)
	case !kebabCase.MatchString(name):
		bad("is not kebab-case: small letters and digits of ASCII, with single hyphens between words, such as %s", suggestKebab(name))
	case len(name) > maxName:
		bad("is longer than %d characters; choose a shorter one", maxName)
	case token.IsKeyword(pkg):
		bad("is a keyword of Go; choose another name")
	case types.Universe.Lookup(pkg) != nil:
		bad("is a predeclared name of Go; choose another name")
	case slices.Contains(templateImports(), pkg):
		bad("is the name of a package that every module imports; choose another name")
	}
}

// suggestKebab is a good name like a bad one.
func suggestKebab(name string) string {
	var parts []string
	for _, word := range words(suggestCamel(name)) {
		parts = append(parts, strings.ToLower(word))
	}
	if out := strings.Join(parts, "-"); out != "first-name" && kebabCase.MatchString(out) {
		return out
	}
	return "blog-post"
}

func (r *Resource) declareFields(declarations []string, problems *problems) {
	if len(declarations) == 0 {
		problems.add("fields: a resource has at least one; write them after the name, such as title:string:required")
	}
	seen := map[string]string{}
	for _, declaration := range declarations {
		f := parseField(declaration, problems)
		key := strings.ToLower(f.Name)
		if first, twice := seen[key]; twice {
			if first != f.Name {
				problems.add("field %s: differs from %s in its capitals alone; choose another name", show(f.Name), show(first))
			} else {
				problems.add("field %s: stands twice; leave one out", show(f.Name))
			}
			continue
		}
		seen[key] = f.Name
		f.at = len(r.Fields)
		r.Fields = append(r.Fields, f)
	}
}

// list reads a flag's comma-separated methods.
func (c command) list(flag string, problems *problems) []string {
	var out []string
	for word := range strings.SplitSeq(strings.Join(c.flags[flag], ","), ",") {
		word = strings.TrimSpace(word)
		switch {
		case word == "":
		case !slices.Contains(methodWords, word):
			hint := "use some of " + strings.Join(methodWords, ", ")
			if near := nearest(word, methodWords); near != "" {
				hint = "did you mean " + near + "?"
			}
			problems.add("flag --%s: %s is no method; %s", flag, show(word), hint)
		case slices.Contains(out, word):
			problems.add("flag --%s: names %s twice; leave one out", flag, word)
		default:
			out = append(out, word)
		}
	}
	return out
}

// defaultRule is who may call a method where no flag says.
func defaultRule(method string) string {
	if method == methodList || method == methodShow {
		return rulePublic
	}
	return ruleUser
}

func (r *Resource) declareRules(c command, problems *problems) {
	methods := methodWords
	if c.has("methods") {
		before := len(problems.lines)
		methods = c.list("methods", problems)
		switch {
		case len(problems.lines) > before:
			methods = methodWords // one mistake shall not look like several
		case methods == nil:
			problems.add("flag --methods: names none; use some of %s", strings.Join(methodWords, ", "))
		}
	}
	for _, method := range methods {
		r.Rules[method] = defaultRule(method)
		if r.Rules[method] == ruleUser && !r.HasUser {
			r.Rules[method] = ruleMaster
		}
	}
	chosen := map[string]string{}
	for _, rule := range ruleWords {
		for _, method := range c.list(rule, problems) {
			switch first, twice := chosen[method]; {
			case twice:
				problems.add("flag --%s: --%s names %s too; leave one out", rule, first, method)
			case r.Rules[method] == "":
				problems.add("flag --%s: names %s, which --methods leaves out; add it there, or leave it out here", rule, method)
			case !r.HasUser && (rule == ruleUser || rule == ruleAdmin):
				problems.add("flag --%s: this project has no users; use --master or --public", rule)
			}
			chosen[method] = rule
			if r.Rules[method] != "" {
				r.Rules[method] = rule
			}
		}
	}
}

func (r *Resource) declareOwner(c command, problems *problems) {
	r.Owner = r.Rules[methodCreate] == ruleUser
	switch {
	case c.has("owner") && c.has("no-owner"):
		problems.add("flag --owner: contradicts --no-owner; leave one out")
	case c.has("owner") && !r.Owner:
		problems.add("flag --owner: the owner is the user who creates the record, and create is not for users; add --user create, or leave --owner out")
	case c.has("no-owner"):
		r.Owner = false
	}
}

// checkUse looks for modifiers that nothing would use.
func (r *Resource) checkUse(problems *problems) {
	for _, f := range r.Fields {
		if r.Rules[methodList] == "" && (f.Search || f.Sort || f.Filter) {
			problems.add("field %s: search, sort and filter are for lists, and --methods leaves list out; add it, or leave them out", show(f.Name))
		}
		if r.Rules[methodCreate] == "" && f.Defaults {
			problems.add("field %s: a default is given at creation, and --methods leaves create out; add it, or leave the default out", show(f.Name))
		}
	}
}

// Declaration is the arguments that declare the resource, in their one form: flags only where they are not the default.
func (r Resource) Declaration() []string {
	out := []string{r.Name}
	for _, f := range r.Fields {
		out = append(out, f.String())
	}
	if r.Plural != plural(r.Name) {
		out = append(out, "--plural", r.Plural)
	}
	if methods := r.Methods(); len(methods) < len(methodWords) {
		out = append(out, "--methods", strings.Join(methods, ","))
	}
	for _, rule := range ruleWords {
		var methods []string
		for _, method := range r.Methods() {
			if r.Rules[method] == rule && defaultRule(method) != rule {
				methods = append(methods, method)
			}
		}
		if methods != nil {
			out = append(out, "--"+rule, strings.Join(methods, ","))
		}
	}
	if r.Rules[methodCreate] == ruleUser && !r.Owner {
		out = append(out, "--no-owner")
	}
	return out
}

// Methods are those that there are, in the order of the routes.
func (r Resource) Methods() []string {
	var out []string
	for _, method := range methodWords {
		if r.Rules[method] != "" {
			out = append(out, method)
		}
	}
	return out
}

// directive is the line that holds the declaration in module.go.
func (r Resource) directive() string {
	parts := []string{"//go:generate go run " + r.Module + "/scripts/generate"}
	for _, argument := range r.Declaration() {
		if strings.ContainsAny(argument, " \t") {
			argument = `"` + argument + `"` // it has neither quotes nor backslashes: see plainText
		}
		parts = append(parts, argument)
	}
	return strings.Join(parts, " ")
}

// declared reads the arguments back from a module.go; nil if it was not generated.
func declared(source, module string) []string {
	prefix := "//go:generate go run " + module + "/scripts/generate "
	for line := range strings.Lines(source) {
		rest, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), prefix)
		if !ok {
			continue
		}
		var args []string
		for rest = strings.TrimLeft(rest, " \t"); rest != ""; rest = strings.TrimLeft(rest, " \t") {
			var arg string
			if quoted, isQuoted := strings.CutPrefix(rest, `"`); isQuoted {
				arg, rest, _ = strings.Cut(quoted, `"`)
			} else if i := strings.IndexAny(rest, " \t"); i >= 0 {
				arg, rest = rest[:i], rest[i:]
			} else {
				arg, rest = rest, ""
			}
			args = append(args, arg)
		}
		return args
	}
	return nil
}

// packageName is a folder's package: one word.
func packageName(name string) string { return strings.ReplaceAll(name, "-", "") }
