package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"example.com/ginseng/scripts/internal/command"
	"example.com/ginseng/scripts/internal/naming"
)

// call is a parsed command line.
type call struct {
	args    []string // the name, then the fields
	plural  string
	methods []string
	rules   map[string][]string // methods by rule
	under   string
	owner   bool
	noOwner bool
	undo    bool
	force   bool
	dryRun  bool
	adds    []string // declarations of fields
	changes []string // declarations of fields
	renames []string // old=new
	drops   []string // names of fields
	set     []string // the flags that were given
	wrong   mistakes // in lists of methods
}

func (c call) has(flag string) bool { return slices.Contains(c.set, flag) }

// edits reports whether the call changes a resource.
func (c call) edits() bool {
	return len(c.adds)+len(c.changes)+len(c.renames)+len(c.drops) > 0
}

// parseArguments parses a command line. The error is pflag.ErrHelp, or mistakes.
func parseArguments(args []string) (call, error) {
	c := call{rules: map[string][]string{}}
	flags := pflag.NewFlagSet("generate", pflag.ContinueOnError)
	flags.StringVar(&c.plural, "plural", "", "")
	flags.StringVar(&c.under, "under", "", "")
	flags.BoolVar(&c.owner, "owner", false, "")
	flags.BoolVar(&c.noOwner, "no-owner", false, "")
	flags.BoolVar(&c.undo, "undo", false, "")
	flags.BoolVar(&c.force, "force", false, "")
	flags.BoolVar(&c.dryRun, "dry-run", false, "")
	flags.StringArrayVar(&c.adds, "add", nil, "")
	flags.StringArrayVar(&c.changes, "change", nil, "")
	flags.StringArrayVar(&c.renames, "rename", nil, "")
	flags.StringArrayVar(&c.drops, "drop", nil, "")
	lists := map[string]*[]string{}
	for _, name := range append([]string{"methods"}, rules...) {
		lists[name] = flags.StringArray(name, nil, "")
	}
	if err := command.Parse(flags, args); err != nil {
		return c, err
	}
	c.args = flags.Args()
	flags.Visit(func(f *pflag.Flag) { c.set = append(c.set, f.Name) })
	c.methods = parseMethods("methods", *lists["methods"], &c.wrong)
	for _, rule := range rules {
		c.rules[rule] = parseMethods(rule, *lists[rule], &c.wrong)
	}
	return c, nil
}

// parseMethods reads a flag's comma-separated methods.
func parseMethods(flag string, values []string, wrong *mistakes) []string {
	var out []string
	for word := range strings.SplitSeq(strings.Join(values, ","), ",") {
		word = strings.TrimSpace(word)
		switch {
		case word == "":
		case !slices.Contains(methods, word):
			wrong.Add("flag --%s: unknown method %s; %s", flag, quote(word), naming.Suggest(word, methods))
		case slices.Contains(out, word):
			wrong.Add("flag --%s: %s is given twice", flag, word)
		default:
			out = append(out, word)
		}
	}
	return out
}
