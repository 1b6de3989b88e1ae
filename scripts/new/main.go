// Command new creates a project from Ginseng's service, adds and removes components, and upgrades projects.
//
//	go run ./scripts/new NAME [flags]
//	go run ./scripts/new upgrade --dir PROJECT
//	go tool new add COMPONENT…        in a project
//	go tool new remove COMPONENT…
//
// A project has main.go, config, docs and the chosen directories of modules, with the import paths of these packages changed to
// the project's own. Everything else is the runtime: the module example.com/ginseng, either as a copy in third_party/ginseng or,
// with --runtime, as a dependency. The runtime includes the template, so a project needs no checkout of Ginseng to add a
// component.
//
// The exit code is 2 for invalid usage, with one line per mistake, and 1 for other errors.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/mattn/go-isatty"

	"example.com/ginseng/scripts/internal/command"
	"example.com/ginseng/scripts/internal/documents"
	"example.com/ginseng/scripts/internal/files"
)

var usage = `Creates a project from Ginseng's service, and adds, removes and upgrades its parts.

Usage: go run ./scripts/new NAME [flags]
       go run ./scripts/new add COMPONENT… [--dir PROJECT]
       go run ./scripts/new remove COMPONENT… [--dir PROJECT]
       go run ./scripts/new upgrade --dir PROJECT [--runtime PATH@VERSION]

In a project, write "go tool new" instead of "go run ./scripts/new". Without flags, missing answers are asked at a terminal.

Flags:
  --module PATH           module path of the project (example.com/NAME)
  --dir DIR               directory of the project (../NAME; for add, remove and upgrade the current directory)
  --with LIST             components: ` + strings.Join(names(), ", ") + `; or all, or none (all)
  --without LIST          all components except these
  --providers LIST        identity providers of social: apple, facebook, github, gitlab, google, microsoft (all);
                          others need only settings (OIDC_PROVIDERS)
  --runtime PATH@VERSION  depend on this module instead of a copy in third_party/ginseng
  --config FILE           read these values from a JSON file, or from standard input with -
  --dry-run               write nothing; list the files and show the differences
  -h, --help              print this text

Examples:
  go run ./scripts/new shop --without article,policy --dir ../shop
  go tool new add policy

Exit codes: 0 success, 1 failure, 2 invalid usage with one line per mistake.
`

func main() {
	debug.SetGCPercent(400) // a fifth less CPU time, and 10 MB more memory
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	c := cli{in: bufio.NewReader(os.Stdin), out: os.Stdout, err: os.Stderr, terminal: isatty.IsTerminal(os.Stdin.Fd()), document: documents.All}
	code := c.main(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// cli is the process's input and output.
type cli struct {
	in       *bufio.Reader
	out, err io.Writer
	terminal bool                                          // in is a terminal, so the command asks for missing answers
	document func(dir, runtime string) (files.Tree, error) // documents.All
}

func (c cli) main(ctx context.Context, args []string) int {
	r, err := c.parse(args)
	switch {
	case err != nil:
	case r.command == "":
		err = c.create(ctx, r)
	case r.command == commandUpgrade:
		err = c.upgrade(ctx, r)
	default:
		err = c.change(ctx, r)
	}
	return command.Exit(c.out, c.err, "new", usage, err)
}

func (c cli) printf(format string, args ...any) { _, _ = fmt.Fprintf(c.out, format, args...) }
