// Command new makes a project of one's own out of this template, and brings a newer template to it.
//
//	go run ./scripts/new NAME [--module PATH] [--dir DIR] [--with LIST | --without LIST] [--providers LIST]
//	                          [--config FILE] [--dry-run]
//	go run ./scripts/new upgrade --dir PROJECT [--dry-run]
//	go run ./scripts/new add COMPONENT --dir PROJECT [--dry-run]
//	go run ./scripts/new remove COMPONENT --dir PROJECT [--dry-run]
//
// It runs in the template's folder. Exit code 2 is wrong use, with one line for each mistake; 1 is anything else that went
// wrong. It writes all or nothing: a project is made in a folder beside its own, checked there, and put in its place; a
// change of a project is gathered in its git directory, and completed by the next call if the process is killed.
//
// # How a component is left out
//
// The template is the running code: a copy of this very module, and no second copy of any file. What is left out is found
// by reference, not by marks. A table, components.go, says which files and folders belong to which component; they go, and
// then everything goes that names them:
//
//   - In Go code, what the type checker does not know any more, and texts that name a route, a setting, a test or a path
//     that is gone. The smallest thing around it goes that may stand alone: an import, a statement, a field, an element of
//     a list, an operand of ||, a case, a declaration. In tests that is the row of a table, the test's helper that
//     makes no other request, or the test that waits for what runs beside it. Then goes what nothing uses any more. A
//     library (a package other than main, the registry and kit/testkit) loses whole declarations or nothing. What
//     needs more than removal is an error, which names the place: the template has to change its shape.
//   - In the Makefile, recipes' lines that name a path that is gone, and targets with no other line; in .ci, lines that run
//     such a path or target, and functions whose last line does.
//   - In Markdown, of a list of code spans those that name something that is gone; then the rows of tables, items of
//     lists, blocks of commands and sentences that name or link to something that is gone, and headings with nothing below.
//   - In YAML, folders of lists and settings that are gone, and paragraphs whose folders have all gone.
//
// What stays is byte for byte as it was, but for the project's name and module path. go.mod, .env.example and what is
// generated in docs are then made by the tools that the project has for them.
//
// Without users, the routes of the modules that stay take the master key where they asked for a user or an admin; see
// nousers.go.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

const usage = `Usage: go run ./scripts/new NAME [flags]
       go run ./scripts/new upgrade --dir PROJECT
       go run ./scripts/new add COMPONENT --dir PROJECT
       go run ./scripts/new remove COMPONENT --dir PROJECT

  --module PATH      the module path (example.com/NAME)
  --dir DIR          where to make it: a folder that is empty or not there yet (./NAME)
  --with LIST        the components: user, social, password-reset, article, policy; or all, or none
  --without LIST     all components but these
  --providers LIST   of social: facebook, github, google (all)
  --config FILE      the same answers as JSON; - reads it from standard input
  --dry-run          write nothing; list what would be written, or show the changes
`

// run is main without the process: it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 && !terminal(stdin) || len(args) == 1 && (args[0] == "-h" || args[0] == "--help" || args[0] == "help") {
		if len(args) == 0 {
			_, _ = fmt.Fprint(stderr, usage)
			return exitUsage
		}
		_, _ = fmt.Fprint(stdout, usage)
		return exitOK
	}
	lines := bufio.NewReader(stdin)
	if terminal(stdin) {
		args = ask(args, lines, stdout)
	}
	r, err := parseArgs(args, lines)
	if err == nil {
		err = do(ctx, r, stdout)
	}
	var wrong mistakes
	switch {
	case errors.As(err, &wrong):
		_, _ = fmt.Fprintln(stderr, wrong)
		return exitUsage
	case err != nil:
		_, _ = fmt.Fprintln(stderr, "new:", err)
		return exitFailed
	}
	return exitOK
}

func do(ctx context.Context, r request, stdout io.Writer) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	if r.verb != "new" {
		return change(ctx, r, root, stdout)
	}
	return create(ctx, r, root, stdout)
}

// moduleRoot is the folder of the template: of the module in which this program is run.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := command(ctx, ".", "go", "list", "-m", "-f", "{{.Dir}}")
	root, _, _ := strings.Cut(out, "\n")
	if err != nil || root == "" {
		return "", fmt.Errorf("this runs in the template's folder: %w", err)
	}
	if _, err := os.Stat(filepath.Join(root, "scripts", "new")); err != nil {
		return "", fmt.Errorf("this runs in the template's folder, and %s is none: it has no scripts/new", root)
	}
	return root, nil
}

// create makes a project.
func create(ctx context.Context, r request, root string, stdout io.Writer) error {
	target, notes, err := checkTarget(ctx, r.dir)
	if err != nil {
		return mistakes{err.Error()}
	}
	t, err := current(ctx, root)
	if err != nil {
		return err
	}
	if r.dryRun {
		target, err = os.MkdirTemp("", "ginseng-new-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(target) }()
		target = filepath.Join(target, r.Name)
	}
	s, err := newStage(target)
	if err != nil {
		return err
	}
	defer func() { _ = s.discard() }()
	project, err := t.render(ctx, s.files(), r.answers)
	if err != nil {
		return err
	}
	project[".env"] = secrets(project[".env.example"].text)
	if err := writeFile(filepath.Join(s.files(), ".env"), project[".env"]); err != nil {
		return err
	}
	if r.dryRun {
		return list(project, stdout)
	}
	if err := s.commit(); err != nil {
		return err
	}
	summary(r, project, notes, stdout)
	return nil
}

// render writes a project into dir, and checks it.
func (t template) render(ctx context.Context, dir string, a answers) (tree, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	project, pruned, err := t.plan(ctx, dir, a)
	if err != nil {
		return nil, err
	}
	if err := writeTree(dir, project); err != nil {
		return nil, err
	}
	if pruned != nil {
		if err := finish(ctx, dir, project); err != nil {
			return nil, err
		}
		if err := reread(dir, project); err != nil {
			return nil, err
		}
	}
	return project, check(ctx, dir, project, pruned)
}

// reread reads the files again that finish may have changed.
func reread(dir string, project tree) error {
	for name, e := range project {
		if !slices.Contains(made, name) && (path.Ext(name) != ".go" || !strings.HasPrefix(name, "modules/") && name != "main.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		project[name] = entry{text, e.mode}
	}
	return nil
}
