package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"example.com/ginseng/scripts/internal/command"
	"example.com/ginseng/scripts/internal/naming"
)

type call struct {
	args    []string // arguments that are not flags: the name, then the declarations of fields
	plural  string
	doc     string
	methods []string
	create  string              // server: no route creates records
	rules   map[string][]string // methods by rule
	roles   map[string][]string // roles by method, from --role
	under   string
	feed    bool // record changes
	// organization reports whether records belong to organizations (--own organization).
	organization bool
	owner        bool
	noOwner      bool
	onUser       string // what the deletion of the owner does to a record
	undo         bool
	force        bool
	dryRun       bool
	merge        bool     // if files conflict, leave git's markers and merge state
	adds         []string // declarations of new fields
	changes      []string // new declarations of existing fields
	renames      []string // OLD=NEW
	drops        []string // names of fields
	// projectRoles are the roles of --roles.
	projectRoles []string
	set          []string             // names of the flags that were given
	wrong        mistakes             // mistakes in lists of methods
	lists        map[string]*[]string // unparsed lists of methods, by flag
}

func (c call) has(flag string) bool { return slices.Contains(c.set, flag) }

// edits reports whether the call changes the fields of an existing resource, or the roles of the project.
func (c call) edits() bool {
	return len(c.adds)+len(c.changes)+len(c.renames)+len(c.drops) > 0 || c.has("roles")
}

// flags returns the flags. Parsing them sets the fields of c.
func (c *call) flags() *pflag.FlagSet {
	c.lists = map[string]*[]string{}
	flags := pflag.NewFlagSet("generate", pflag.ContinueOnError)
	flags.StringVar(&c.plural, "plural", "", "the plural `WORD` in the path and the collection, if the English one is wrong")
	flags.StringVar(&c.doc, "doc", "", "describe the resource in the API document, such as `'Appointments of patients.'`")
	c.lists["methods"] = flags.StringArray("methods", nil, "`LIST` of create,list,show,update,delete (default: all)")
	flags.StringVar(&c.create, "create", "", "`server`: no route creates records, only code of the project. With --own list,show or --owner, they belong to users; otherwise admins update and delete them by default")
	c.lists[ruleMaster] = flags.StringArray(ruleMaster, nil, "`LIST` of methods that require the master key")
	c.lists[ruleAdmin] = flags.StringArray(ruleAdmin, nil, "`LIST` of methods for admins")
	c.lists[ruleRole] = flags.StringArray(ruleRole, nil, "`ROLE=LIST` of methods for admins and users with the role; can be repeated. --roles declares roles. With --own organization, org:ROLE=LIST narrows create, update or delete to members with the role and above")
	c.lists[ruleOwn] = flags.StringArray(ruleOwn, nil, "`user` or organization: users see only their own records, or those of their organizations; for all others these do not exist. Admins see all. user is list,show")
	c.lists[ruleUser] = flags.StringArray(ruleUser, nil, "`LIST` of methods for users (default: create,update,delete; see --create)")
	c.lists[rulePublic] = flags.StringArray(rulePublic, nil, "`LIST` of methods for everyone (default: list,show)")
	flags.BoolVar(&c.feed, "changes", false, "record the changes of records, and add GET /NAME/changes, which has them as pages and as a stream")
	flags.BoolVar(&c.owner, "owner", false, "store the user who creates a record; only the owner and admins may update and delete (default if users create). With --create server, your code sets the owner")
	flags.BoolVar(&c.noOwner, "no-owner", false, "do not store the user who creates a record")
	flags.StringVar(&c.onUser, "on-user-delete", "", "what happens to a record when its owner is deleted: cascade (default with --own), `keep` (otherwise the default), restrict or clear")
	flags.StringVar(&c.under, "under", "", "nest under the resource `NAME`: /orders/{id}/items, read by those who may read the order; without flags for create, update and delete, written by those who may change it")
	flags.StringArrayVar(&c.adds, "add", nil, "add the `FIELD` to a resource; your edits of its files are kept. NAME can be user, for optional fields")
	flags.StringArrayVar(&c.changes, "change", nil, "replace the declaration of the `FIELD`")
	flags.StringArrayVar(&c.renames, "rename", nil, "rename a field: `OLD=NEW`; then lists the lines of your code that have the old name in a string")
	flags.StringArrayVar(&c.drops, "drop", nil, "remove the `FIELD` with its stored values")
	flags.BoolVar(&c.merge, "merge", false, "with --add, --change, --rename, --drop and --roles: where your edits conflict, write git's conflict markers, to resolve as in any merge. Without it, a conflict changes nothing. A fixtures_test.go with conflicts is written again, without your edits")
	flags.StringSliceVar(&c.projectRoles, "roles", nil, "declare the `ROLES` of the project beside user and admin, such as practitioner,reception. NAME is user")
	flags.BoolVar(&c.undo, "undo", false, "remove the resource; --force removes edited files too")
	flags.BoolVar(&c.force, "force", false, "with --undo, remove edited files too")
	flags.BoolVar(&c.dryRun, "dry-run", false, "print the changes without making them")
	return flags
}

// parseArguments parses a command line. The error is pflag.ErrHelp, or mistakes.
func parseArguments(args []string) (call, error) {
	c := call{rules: map[string][]string{}}
	flags := c.flags()
	if err := command.Parse(flags, args); err != nil {
		return c, err
	}
	c.args = flags.Args()
	flags.Visit(func(f *pflag.Flag) { c.set = append(c.set, f.Name) })
	c.methods = parseMethods("methods", *c.lists["methods"], &c.wrong)
	for _, rule := range rules {
		if rule == ruleRole {
			c.parseRoles(*c.lists[rule])
			continue
		}
		if rule == ruleOwn {
			c.parseOwn()
		}
		c.rules[rule] = parseMethods(rule, *c.lists[rule], &c.wrong)
	}
	return c, nil
}

// parseOwn reads the owners in the values of --own, and replaces user by the methods for which it stands.
func (c *call) parseOwn() {
	var methods []string
	for word := range strings.SplitSeq(strings.Join(*c.lists[ruleOwn], ","), ",") {
		switch word = strings.TrimSpace(word); word {
		case "organization":
			c.organization = true
		case "user":
			methods = append(methods, methodList, methodShow)
		default:
			methods = append(methods, word)
		}
	}
	if c.organization && strings.Join(methods, "") != "" {
		c.wrong.Add("flag --own: write either organization, or user")
	}
	*c.lists[ruleOwn] = methods
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
