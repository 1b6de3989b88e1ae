package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/mod/module"

	"example.com/ginseng/scripts/internal/command"
	"example.com/ginseng/scripts/internal/naming"
)

// component is a part of the service that a project can leave out.
type component struct {
	name  string
	dirs  []string // its directories in modules
	needs string   // name of the component that this component needs; "" if none
}

var components = []component{
	{name: "user", dirs: []string{"user", "auth"}},
	{name: "social", dirs: []string{"social"}, needs: "user"},
	{name: "password-reset", dirs: []string{"password-reset"}, needs: "user"},
	{name: "email-verification", dirs: []string{"email-verification"}, needs: "user"},
	{name: "email-code", dirs: []string{"email-code"}, needs: "user"},
	{name: "two-factor", dirs: []string{"two-factor"}, needs: "user"},
	{name: "passkey", dirs: []string{"passkey"}, needs: "user"},
	{name: "api-key", dirs: []string{"api-key"}, needs: "user"},
	{name: "organization", dirs: []string{"organization"}, needs: "user"},
	{name: "article", dirs: []string{"article"}},
	{name: "policy", dirs: []string{"policy"}, needs: "user"},
	{name: "mcp", dirs: []string{"mcp"}, needs: "user"},
	{name: "webhook", dirs: []string{"webhook"}, needs: "user"},
	{name: "admin", dirs: []string{"admin"}, needs: "user"},
}

// providers are the identity providers of social that a project can leave out.
var providers = []string{"apple", "facebook", "github", "gitlab", "google", "microsoft"}

// answers define a project, and are stored in the project's .ginseng.json.
type answers struct {
	Name       string   `json:"name"`
	Module     string   `json:"module"`
	Components []string `json:"components"`
	Providers  []string `json:"providers,omitempty"`
	Runtime    runtime  `json:"runtime"`
}

func (a answers) has(name string) bool { return slices.Contains(a.Components, name) }

type request struct {
	answers
	command    string   // commandAdd, commandRemove, commandUpgrade, or "" for a new project
	dir        string   // directory of the project
	dirGiven   bool     // the user named dir
	components []string // components to add or remove
	dryRun     bool
	notes      []string // messages to the user about components that --with and --without imply
}

const commandAdd, commandRemove, commandUpgrade = "add", "remove", "upgrade"

var commands = []string{commandAdd, commandRemove, commandUpgrade}

type mistakes = command.Mistakes

const all, none = "all", "none"

// parse reads the command line and the file of --config, and asks for missing answers at a terminal. The error is
// pflag.ErrHelp or mistakes.
func (c cli) parse(args []string) (request, error) {
	set := pflag.NewFlagSet("new", pflag.ContinueOnError)
	for _, name := range []string{"name", "module", "dir", "with", "without", "providers", "runtime", "config"} {
		set.String(name, "", "")
	}
	dryRun := set.Bool("dry-run", false, "")
	if err := command.Parse(set, args); err != nil {
		return request{}, err
	}
	var wrong mistakes
	if file, _ := set.GetString("config"); file != "" {
		c.readConfig(file, set, &wrong)
	}
	values := map[string]string{}
	set.Visit(func(f *pflag.Flag) { values[f.Name] = f.Value.String() })
	arguments := set.Args()
	var r request
	if len(arguments) > 0 && slices.Contains(commands, arguments[0]) {
		r = parseChange(arguments[0], arguments[1:], values, &wrong)
	} else {
		if len(arguments) > 1 {
			wrong.Add("a new project has one NAME, and %s is not a command; %s", arguments[0], naming.Suggest(arguments[0], commands))
		}
		if len(arguments) > 0 {
			values["name"] = arguments[0]
		}
		if c.terminal && len(wrong) == 0 && values["config"] == "" {
			if err := c.ask(values); err != nil {
				return request{}, err
			}
		}
		r = parseProject(values, &wrong)
	}
	r.dryRun = *dryRun
	return r, wrong.Err()
}

// readConfig reads a JSON file, and sets the flags that the command line does not set. The file "-" is the standard input.
func (c cli) readConfig(file string, set *pflag.FlagSet, wrong *mistakes) {
	var config map[string]any
	raw, err := os.ReadFile(file)
	if file == "-" {
		raw, err = io.ReadAll(c.in)
	}
	if err == nil {
		err = json.Unmarshal(raw, &config)
	}
	if err != nil {
		wrong.Add("--config: %v", err)
	}
	componentsGiven := set.Changed("with") || set.Changed("without")
	for _, name := range slices.Sorted(maps.Keys(config)) {
		text := fmt.Sprint(config[name])
		if _, ok := config[name].([]any); ok { // printed as [user article]
			text = cmp.Or(strings.Trim(text, "[]"), none)
		}
		if set.Changed(name) || componentsGiven && strings.HasPrefix(name, "with") {
			continue
		}
		if err := set.Set(name, text); err != nil {
			wrong.Add("--config: %v", err)
		}
	}
}

// parseChange checks the arguments of add, remove and upgrade.
func parseChange(command string, arguments []string, values map[string]string, wrong *mistakes) request {
	r := request{command: command, dir: cmp.Or(values["dir"], ".")}
	for name := range values {
		if name != "dir" && name != "dry-run" && (name != "runtime" || command != commandUpgrade) {
			wrong.Add("%s does not accept --%s; they are in the project's %s", command, name, answersFile)
		}
	}
	if command != commandUpgrade {
		r.components = parseItems(command, strings.Join(arguments, ","), names(), wrong)
	} else if len(arguments) > 0 {
		wrong.Add("upgrade accepts no arguments: %s", strings.Join(arguments, " "))
	}
	r.Runtime = parseRuntime(values["runtime"], wrong)
	return r
}

// parseProject checks the flags and answers for a new project.
func parseProject(values map[string]string, wrong *mistakes) request {
	r := request{dir: cmp.Or(values["dir"], "../"+values["name"]), dirGiven: values["dir"] != ""}
	r.Name, r.Module = values["name"], cmp.Or(values["module"], "example.com/"+values["name"])
	if reason := checkName(r.Name); reason != "" {
		wrong.Add("%s", reason)
	} else if reason := checkModule(r.Module); reason != "" {
		wrong.Add("--module: %s", reason)
	}
	r.choose(values["with"], values["without"], wrong)
	if r.has("social") {
		r.Providers = chooseProviders(values["providers"], wrong)
	} else if values["providers"] != "" && len(*wrong) == 0 {
		wrong.Add("--providers requires the component social")
	}
	r.Runtime = parseRuntime(values["runtime"], wrong)
	return r
}

// choose sets r.Components. With --with, these are the listed components and the components that these need. With --without,
// these are all components except the listed components and the components that need them.
func (r *request) choose(with, without string, wrong *mistakes) {
	left := []string{}
	switch {
	case with != "" && without != "":
		wrong.Add("--with and --without exclude each other")
	case with == none, without == all:
		left = names()
	case with != "" && with != all:
		chosen, extra := withNeeds(parseItems("--with", with, names(), wrong))
		if extra != nil {
			r.notes = append(r.notes, strings.Join(extra, ", ")+" is included because other components need it.")
		}
		left = slices.DeleteFunc(names(), func(name string) bool { return slices.Contains(chosen, name) })
	case without != "" && without != none:
		left = parseItems("--without", without, names(), wrong)
		for _, c := range components {
			if slices.Contains(left, c.needs) && !slices.Contains(left, c.name) {
				left = append(left, c.name)
				r.notes = append(r.notes, c.name+" is left out because it needs "+c.needs+".")
			}
		}
	}
	r.Components = slices.DeleteFunc(names(), func(name string) bool { return slices.Contains(left, name) })
}

// withNeeds returns the listed components and the components that they need, in the order of components. extra has the components
// that are not in the list.
func withNeeds(list []string) (complete, extra []string) {
	for _, c := range components {
		needed := needing(c.name, list) != nil
		if !slices.Contains(list, c.name) && needed {
			extra = append(extra, c.name)
		}
		if slices.Contains(list, c.name) || needed {
			complete = append(complete, c.name)
		}
	}
	return complete, extra
}

// needing returns the components in list that need the component name.
func needing(name string, list []string) (out []string) {
	for _, c := range components {
		if c.needs == name && slices.Contains(list, c.name) {
			out = append(out, c.name)
		}
	}
	return out
}

// chooseProviders returns the providers in a list, in the order of providers. If the list is empty or "all", it returns all
// providers.
func chooseProviders(value string, wrong *mistakes) []string {
	if value == "" || value == all {
		return slices.Clone(providers)
	}
	chosen := parseItems("--providers", value, providers, wrong)
	return slices.DeleteFunc(slices.Clone(providers), func(name string) bool { return !slices.Contains(chosen, name) })
}

// parseItems splits a list at commas and spaces. It reports items that are not in valid, and an empty list. of is the flag or
// command with the list, for the message.
func parseItems(of, value string, valid []string, wrong *mistakes) []string {
	items := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
	for _, item := range items {
		if !slices.Contains(valid, item) {
			wrong.Add("%s: unknown name %q; valid names are %s", of, item, strings.Join(valid, ", "))
		}
	}
	if len(items) == 0 {
		wrong.Add("%s requires a list of %s", of, strings.Join(valid, ", "))
	}
	return items
}

func names() (out []string) {
	for _, c := range components {
		out = append(out, c.name)
	}
	return out
}

// nameShape matches valid names of projects. The length is limited because the name is also the name of a database: MongoDB
// allows 63 bytes.
var nameShape = regexp.MustCompile(`^[a-z](-?[a-z0-9]){0,37}$`)

// checkName returns why a project's name is invalid, or "".
func checkName(name string) string {
	switch {
	case name == "":
		return "NAME is missing: go run ./scripts/new NAME"
	case !nameShape.MatchString(name):
		reason := fmt.Sprintf("name %q must be up to 38 lower-case letters and digits, with single hyphens between them, and start with a letter", name)
		if suggested := naming.Kebab(name, ""); nameShape.MatchString(suggested) {
			reason += "; write " + suggested
		}
		return reason
	case slices.Contains([]string{"config", "data", "docs", "modules"}, name):
		return fmt.Sprintf("name %q is the name of a directory in the project", name)
	}
	return ""
}

// checkModule returns why a module path is invalid, or "".
func checkModule(path string) string {
	first, _, _ := strings.Cut(path, "/")
	switch {
	case module.CheckImportPath(path) != nil:
		return fmt.Sprintf("%q is not a module path such as github.com/you/shop", path)
	case path == modulePath || strings.HasPrefix(path, modulePath+"/"):
		return modulePath + " is the runtime"
	case !strings.Contains(first, "."):
		return fmt.Sprintf("%q must start with a domain, for example example.com/%s", path, path)
	}
	return ""
}

// parseRuntime parses the value of --runtime, PATH@VERSION; "" means a copy of the runtime.
func parseRuntime(value string, wrong *mistakes) runtime {
	path, version, _ := strings.Cut(value, "@")
	if value != "" && (version == "" || module.CheckImportPath(path) != nil) {
		wrong.Add("--runtime: %q must be PATH@VERSION, for example github.com/you/ginseng@v1.2.0", value)
	}
	return runtime{Path: path, Version: version}
}
