// Command generate adds a resource to a project, changes its fields, or removes it: the module with its tests, its lines
// in modules/modules.go, and the API document.
//
//	go run ./scripts/generate blog-post title:string:required:search:sort content:text:search
//	go run ./scripts/generate blog-post --add subtitle:string --rename content=body
//	go run ./scripts/generate --undo blog-post
//
// In a generated project the command is go tool generate. Either all files are written or none. The generated code belongs to the
// project; module.go has the declaration of the resource. After a change of fields, the command merges the difference between the
// old and the new generated code into the module, and adds a migration of the stored records to migrations.go.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/mattn/go-isatty"

	"example.com/ginseng/scripts/internal/command"
	trees "example.com/ginseng/scripts/internal/files"
)

const usageText = `Adds a resource to a project, changes its fields, or removes it.

Usage: go run ./scripts/generate NAME FIELD… [flags]     add a resource
       go run ./scripts/generate NAME [--add FIELD] [--change FIELD] [--rename OLD=NEW] [--drop FIELD]
       go run ./scripts/generate user --roles ROLES     declare the roles of the project
       go run ./scripts/generate --undo NAME [flags]    remove it

In a generated project: go tool generate …

NAME is in kebab-case, such as blog-post. FIELD is name:type[:modifier…]; the default type is string:
  types      string (at most 200 characters; max=N up to 10,000), text (at most 100,000), int, float,
             decimal (exact, 12 digits and 6 decimals), bool, time, date, email, url, uuid, json (an object),
             enum(a,b), ref(resource), []string, []int, []ref(resource),
             file, image, []file (at most 20 files; max=5MB limits the size, types=application/pdf,text/plain the media types)
  modifiers  required, search (by q), sort, filter, min=N, max=N (of strings and lists: the length), default=VALUE,
             unique (with --own: among the records of one owner; unique=global: among all records),
             readonly (only your code sets it; clients may send it back unchanged), title=true (with search: names a record in pages and pickers),
             onDelete=restrict, cascade or clear (of a ref: what a deletion of the referenced record does;
             the default is restrict, of an optional ref(user) clear),
             doc=TEXT (describes the field in the API document and in error messages),
             backfill=VALUE (with --add and --change: the value of stored records, if the field becomes required)

Flags:
%s  -h, --help             print this text

Examples:
  go run ./scripts/generate blog-post title:string:required:search:sort content:text:search
  go run ./scripts/generate blog-post --add subtitle:string --rename content=body
  go run ./scripts/generate user --roles practitioner,reception
  go run ./scripts/generate visit starts:time:required --role reception=create,update --role practitioner=list,show
  go run ./scripts/generate --undo blog-post

Exit codes: 0 success, 1 failure, 2 invalid usage with one line per mistake.
`

func main() {
	debug.SetGCPercent(400) // a fifth less CPU time, and 10 MB more memory
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(command.ExitFailed)
	}
	c := cli{dir: dir, in: os.Stdin, out: os.Stdout, err: os.Stderr, terminal: isatty.IsTerminal(os.Stdin.Fd()), document: document}
	c.directive = os.Getenv("GOFILE") != ""
	os.Exit(c.run(os.Args[1:]))
}

type mistakes = command.Mistakes

func usage() string {
	flags := new(call).flags()
	flags.SortFlags = false
	return fmt.Sprintf(usageText, flags.FlagUsages())
}

// cli has the environment of the command.
type cli struct {
	dir       string
	in        io.Reader
	out, err  io.Writer
	terminal  bool // in is a terminal
	directive bool // the process was started by go generate
	document  documenter
}

func (c cli) run(args []string) int {
	return command.Exit(c.out, c.err, "generate", usage(), c.execute(args))
}

// execute executes the command. The error is command.ErrNoArguments, pflag.ErrHelp, mistakes, or another error.
func (c cli) execute(args []string) error {
	if c.directive { // go generate ./... must not fail because of existing modules
		c.print("%s: not generated again; remove it with --undo first\n", strings.Join(args[:min(len(args), 1)], ""))
		return nil
	}
	call, err := parseArguments(args)
	if err != nil {
		return err
	}
	p, err := openProject(c.dir)
	if err != nil {
		return err
	}
	if len(call.args) == 0 && !call.undo && !call.edits() {
		if c.terminal {
			call.args = c.ask(p)
		}
		if len(call.args) == 0 {
			return command.ErrNoArguments
		}
	}
	planner := p.planAdd
	switch {
	case call.undo:
		planner = p.planUndo
	case call.edits():
		planner = p.planChange
	}
	plan, err := planner(call)
	if err != nil {
		return err
	}
	if call.dryRun {
		c.print("%s", plan.diff())
		return nil
	}
	if plan.conflicts {
		if err = plan.pick("Run generate " + strings.Join(args, " ")); err == nil {
			c.print("Committed: git has merged your edits. Next:\n  make docs\n\n%s", plan.done)
		}
	} else if err = plan.apply(c.document); err == nil {
		c.print("%s", plan.summary())
	}
	if err != nil && !errors.As(err, new(trees.Conflict)) {
		return err
	}
	mentions, failed := p.mentions(call.args[0], call.renames)
	c.print("%s", mentions)
	if err != nil {
		return err
	}
	return failed
}

// ask asks for the name and the fields. After a mistake, it asks again. It returns the answers as arguments, or nil if the input
// ends.
func (c cli) ask(p *project) []string {
	lines := bufio.NewScanner(c.in)
	question := func(text string, check func(answer string, wrong *mistakes)) (answer string, ok bool) {
		for {
			c.print("%s", text)
			if !lines.Scan() {
				c.print("\n")
				return "", false
			}
			var wrong mistakes
			if check(lines.Text(), &wrong); wrong == nil {
				return lines.Text(), true
			}
			c.print("%s\n", wrong)
		}
	}
	name, ok := question("Name of the resource, such as blog-post: ", func(answer string, wrong *mistakes) {
		if checkName(answer, wrong); *wrong == nil {
			p.checkCollisions(Resource{Name: answer, Plural: plural(answer)}, nil, wrong)
		}
	})
	if !ok {
		return nil
	}
	args := func(fields string) []string { return append([]string{name}, strings.Fields(fields)...) }
	fields, ok := question("Fields, such as title:string:required:search content:text\n"+
		"(types: "+strings.Join(typeNames(), ", ")+"): ", func(answer string, wrong *mistakes) {
		r := declare(call{args: args(answer)}, p.module, p.hasUser(), wrong)
		if modules, _, err := p.registry(); err == nil {
			p.resolve(&r, modules, wrong)
		}
	})
	if !ok {
		return nil
	}
	return args(fields)
}

func (c cli) print(format string, args ...any) { _, _ = fmt.Fprintf(c.out, format, args...) }
