// Command generate adds a resource to the service, or takes one back: the module with its tests, its lines in the registry,
// and the documentation, from one declaration.
//
//	go run ./scripts/generate blog-post title:string:required:search:sort content:text:search
//	go run ./scripts/generate --undo blog-post
//
// It writes all or nothing. What was written is the project's own code from then on; the declaration stays in module.go.
// Exit code 2 is wrong use, with one line for each mistake; 1 is anything else that went wrong.
package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

const usage = `Usage: go run ./scripts/generate NAME FIELD… [flags]     adds a resource
       go run ./scripts/generate --undo NAME [flags]    takes it back

NAME is in kebab-case, such as blog-post. FIELD is name:type:modifier…, a bare name is a string:
  types      string (at most 200 characters), text (at most 100,000), int, float, bool, time, email, url,
             enum(a,b), ref(resource), []string
  modifiers  required, unique, search (part of q), sort, filter, min=N, max=N (of text: lengths), default=VALUE

Flags, before or after the names:
  --plural WORD      path and collection, if the English plural is wrong
  --methods LIST     some of create,list,show,update,delete; all if not given
  --master LIST      who may call which method: the bearer of the master key,
  --admin LIST       an admin,
  --user LIST        a user (create, update and delete, if not given),
  --public LIST      everyone (list and show, if not given)
  --owner, --no-owner  store the author, who alone may update and delete, beside admins; the default where users create
  --undo             take the resource back; --force does so even if its files were edited
  --dry-run          print what would change, and write nothing

Example: go run ./scripts/generate blog-post title:string:required:search:sort content:text:search
`

func main() {
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(exitFailed)
	}
	c := cli{dir: dir, in: os.Stdin, out: os.Stdout, err: os.Stderr, asks: isTerminal(os.Stdin), step: func() error { return nil }, renew: document}
	c.directive = os.Getenv("GOFILE") != ""
	os.Exit(c.run(os.Args[1:]))
}

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// isTerminal reports whether somebody sits at the other end of the file.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// cli is the process, as far as the command needs one.
type cli struct {
	dir       string
	in        io.Reader
	out, err  io.Writer
	asks      bool         // a terminal is there
	directive bool         // go generate calls, by the line that holds a declaration
	step      func() error // see writer
	renew     func(*tree, []change) (map[string][]byte, error)
}

// run does what the arguments say and returns the exit code.
func (c cli) run(args []string) int {
	if c.directive { // of a module that is there: go generate ./... shall not fail for it
		c.print("%s: generated before, and left as it is; to make it anew, take it back with --undo first\n", strings.Join(args[:min(len(args), 1)], ""))
		return exitOK
	}
	problems := newProblems()
	call := parseCommand(args, problems)
	if call.has("help") {
		c.print(usage)
		return exitOK
	}
	t, err := findTree(c.dir)
	if err != nil {
		return c.fail(err)
	}
	// One call at a time: another's journal is not what a killed one left. The registry is replaced, go.mod is the go
	// command's to lock; this file stays.
	lock := flock.New(filepath.Join(t.root, "main.go"), flock.SetFlag(os.O_RDONLY))
	if free, err := lock.TryLock(); err != nil || !free {
		return c.fail(cmp.Or(err, errors.New("another call is at work in this project; wait until it has ended")))
	}
	defer func() { _ = lock.Unlock() }()
	t.renew = c.renew
	w := writer{root: t.root, step: c.step}
	found, err := w.finish()
	if err != nil {
		return c.fail(err)
	}
	if found != "" {
		c.print("generate: %s\n", found)
	}
	if err := t.look(); err != nil {
		return c.fail(err)
	}
	if len(call.words) == 0 && len(problems.lines) == 0 && !call.has("undo") {
		if c.asks {
			call.words = c.ask()
		}
		if len(call.words) == 0 {
			_, _ = fmt.Fprint(c.err, usage)
			return exitUsage
		}
	}
	plan := c.planAdd
	if call.has("undo") {
		plan = c.planUndo
	}
	changes, done, err := plan(t, call, problems)
	switch {
	case len(problems.lines) > 0:
		for _, line := range problems.lines {
			_, _ = fmt.Fprintln(c.err, line)
		}
		return exitUsage
	case err != nil:
		return c.fail(err)
	case call.has("dry-run"):
		for _, change := range changes {
			c.print("%s\n", change.diff())
		}
		c.print("%d files; nothing was written\n", len(changes))
		return exitOK
	}
	if err := w.write(changes); err != nil {
		return c.fail(err)
	}
	for _, change := range changes {
		c.print("  %s %s\n", map[bool]string{true: "removed", false: "written"}[change.New == nil], change.Path)
	}
	c.print("%s", done)
	return exitOK
}

// planAdd plans a new resource, and what to say when it is there.
func (c cli) planAdd(t *tree, call command, problems *problems) ([]change, string, error) {
	if call.has("force") {
		problems.add("flag --force: goes with --undo; leave it out")
	}
	if len(call.words) == 0 {
		return nil, "", nil
	}
	r := declare(call, t.module, t.hasUser(), problems)
	source, err := os.ReadFile(t.path(registryPath))
	if err != nil {
		return nil, "", err
	}
	reg, err := readRegistry(source)
	registered := map[string]bool{}
	if err == nil {
		registered = reg.names()
	}
	t.welcome(r, registered, problems)
	if len(problems.lines) > 0 {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", unknownRegistry(err, "add", r)
	}
	changes, err := t.planAdd(r, reg)
	done := fmt.Sprintf("\n%s %s at %s. Next:\n  go test ./modules/%s/\n  go run .\n  open http://localhost:9000/docs/\n",
		r.Many(), isOrAre(r), r.Path(), r.Name)
	return changes, strings.ToUpper(done[:2]) + done[2:], err
}

func isOrAre(r Resource) string {
	if r.Plural == r.Name {
		return "is"
	}
	return "are"
}

// planUndo plans the way back.
func (c cli) planUndo(t *tree, call command, problems *problems) ([]change, string, error) {
	for flag := range call.flags {
		if flag != "undo" && flag != "force" && flag != "dry-run" {
			problems.add("flag --%s: does not go with --undo, which reads the declaration from module.go; leave it out", flag)
		}
	}
	switch {
	case len(call.words) == 0:
		problems.add("name: is missing; write --undo NAME")
	case len(call.words) > 1:
		problems.add("fields: do not go with --undo, which reads the declaration from module.go; write the name alone")
	case !kebabCase.MatchString(call.words[0]):
		problems.add("name %s: is not kebab-case, so it is no resource", show(call.words[0]))
	}
	if len(problems.lines) > 0 {
		return nil, "", nil
	}
	changes, err := t.planUndo(call.words[0], call.has("force"), problems)
	return changes, fmt.Sprintf("\n%s is taken back. Its collection in the database is left as it is.\n", call.words[0]), err
}

// ask asks for the name and the fields.
func (c cli) ask() []string {
	lines := bufio.NewScanner(c.in)
	var words []string
	for _, question := range []string{
		"Name of the resource, such as blog-post: ",
		"Its fields, such as title:string:required:search content:text\n(string, text, int, float, bool, time, email, url, enum(a,b), ref(user), []string): ",
	} {
		c.print("%s", question)
		if !lines.Scan() {
			c.print("\n")
			return nil
		}
		words = append(words, strings.Fields(lines.Text())...)
		if len(words) == 0 {
			return nil
		}
	}
	return words
}

func (c cli) print(format string, args ...any) { _, _ = fmt.Fprintf(c.out, format, args...) }

func (c cli) fail(err error) int {
	_, _ = fmt.Fprintln(c.err, "generate:", err)
	return exitFailed
}
