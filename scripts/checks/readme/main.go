//go:build unix

// Command readme runs the commands of README.md and other Markdown files, each file in a fresh copy of the repository, and
// compares what they print with what the file says. It runs in the root of a git repository:
//
//	go -C scripts/checks run ./readme [-skip PREFIX]... [FILE]...
//
// # What it runs
//
// Blocks with the language sh run from top to bottom in one shell, so that variables stay. In a block, a comment with an
// arrow has the expected output of the commands above it, with "…" for any text; it may continue on several lines:
//
//	curl localhost:9000/nothing/here
//	# → 404 {"type":"about:blank","title":"Not Found",…}
//
// Three digits after the arrow are the HTTP status of the last curl call. Every command must succeed, in a pipeline the last one. A
// status that the file does not mention must be 2xx or 3xx.
//
// An sh block followed by a text block with an HTTP address starts a service in the shell's directory. The service must print the
// lines of the text block. It is interrupted, as with Ctrl-C, when another service starts at the same address or the file ends.
// It must then exit.
//
// A log block has expected output of the service that started last. In sh blocks after it, "…" in a variable's value in single
// quotes is replaced with the matching text of that output, as a reader would copy it:
//
//	LINK='http://localhost:3000/reset#…'
//
// A js block whose first line is a comment with a file name, such as "// session.mjs", is saved under this name. Without
// Node.js, blocks that start with "node " are skipped, as are blocks that start with a prefix of -skip.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var skip []string
	flag.Func("skip", "skip blocks that start with `PREFIX`; may be repeated", func(prefix string) error {
		skip = append(skip, prefix)
		return nil
	})
	flag.Parse()
	if _, err := exec.LookPath("node"); err != nil {
		skip = append(skip, "node ")
	}
	files := flag.Args()
	if len(files) == 0 {
		files = []string{"README.md"}
	}
	if err := runFiles(ctx, files, skip); err != nil {
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1)
	}
}

// runFiles runs the files, whose names are relative to the caller's directory, until one fails.
func runFiles(ctx context.Context, files, skip []string) error {
	if err := os.Chdir(os.Getenv("PWD")); err != nil { // go -C has changed the directory
		return err
	}
	for _, file := range files {
		if err := run(ctx, file, skip, os.Stdout); err != nil {
			return err
		}
	}
	return nil
}

// run runs the blocks of a file in a temporary copy of the repository.
func run(ctx context.Context, file string, skip []string, stdout io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "readme-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := session{file: file, dir: dir, tree: filepath.Join(dir, "tree"), skip: skip, stdout: stdout}
	// Copy the files that a fresh clone would have if everything that is not ignored were committed.
	copyTree := exec.CommandContext(ctx, "sh", "-c", `mkdir "$0" && git ls-files -z --cached --others --exclude-standard |
		tar --null --ignore-failed-read -T - -cf - 2>/dev/null | tar -xf - -C "$0"`, s.tree)
	if out, err := copyTree.CombinedOutput(); err != nil {
		return fmt.Errorf("copying the repository: %w\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(s.tree, file))
	if err != nil {
		return err
	}
	if s.env, err = s.environment(); err != nil {
		return err
	}
	return s.runAll(ctx, parse(string(text)))
}

// session is a shell and the services that it started.
type session struct {
	file      string
	dir, tree string // temporary directory, and the copy of the repository in it
	env       []string
	skip      []string
	stdout    io.Writer
	shell     *shell
	services  []*service // running services, in the order of their start
	printed   string     // output that matched the last log block
}

// curlrc makes curl print the status of each response to standard error. curl reads it in CURL_HOME.
const curlrc = `silent
show-error
write-out = "%{stderr}HTTP %{http_code}\n"
`

// environment returns the process's environment without settings of the service and with curl's configuration.
func (s *session) environment() ([]string, error) {
	example, err := os.ReadFile(filepath.Join(s.tree, ".env.example"))
	if err != nil {
		return nil, err
	}
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return regexp.MustCompile(`(?m)^#*` + regexp.QuoteMeta(name) + `=`).Match(example)
	})
	return append(env, "CURL_HOME="+s.dir), os.WriteFile(filepath.Join(s.dir, ".curlrc"), []byte(curlrc), 0o600)
}

// runAll runs the blocks, and stops the services at the end.
func (s *session) runAll(ctx context.Context, blocks []block) (err error) {
	if s.shell, err = newShell(ctx, s.tree, s.dir, s.env); err != nil {
		return err
	}
	defer func() {
		for _, running := range slices.Backward(s.services) {
			err = errors.Join(err, running.stop())
		}
		err = errors.Join(err, s.shell.close())
	}()
	ran := 0
	for i, b := range blocks {
		title, _, _ := strings.Cut(b.text, "\n")
		if b.language == "sh" && slices.ContainsFunc(s.skip, func(prefix string) bool { return strings.HasPrefix(b.text, prefix) }) {
			fmt.Fprintf(s.stdout, "%s:%d: SKIPPED: %s\n", s.file, b.line, title)
			continue
		}
		begun := time.Now()
		switch {
		case b.language == "sh" && i+1 < len(blocks) && blocks[i+1].address() != "":
			err = s.serve(ctx, b.text, blocks[i+1])
		case b.language == "sh":
			err = s.runBlock(b)
		case b.language == "log" && len(s.services) == 0:
			err = errors.New("no service is running")
		case b.language == "log":
			s.printed, err = s.services[len(s.services)-1].next(ctx, strings.TrimSpace(b.text))
		case b.file() != "":
			err = os.WriteFile(filepath.Join(s.tree, b.file()), []byte(b.text), 0o600)
		default:
			continue
		}
		if err != nil {
			err = fmt.Errorf("%s:%d: %w", s.file, b.line, err)
			for _, running := range s.services {
				err = fmt.Errorf("%w\noutput of the service at %s:\n%s", err, running.address, running.output.String())
			}
			return err
		}
		ran++
		fmt.Fprintf(s.stdout, "%s:%d: ok (%.1fs): %s\n", s.file, b.line, time.Since(begun).Seconds(), title)
	}
	if ran == 0 {
		return fmt.Errorf("%s has no block to run", s.file)
	}
	return nil
}

// serve starts a service. If a service already runs at the same address, serve first stops that service.
func (s *session) serve(ctx context.Context, command string, greeting block) error {
	at := func(running *service) bool { return running.address == greeting.address() }
	if i := slices.IndexFunc(s.services, at); i >= 0 {
		old := s.services[i]
		s.services = slices.Delete(s.services, i, i+1)
		if err := old.stop(); err != nil {
			return err
		}
	}
	directory, err := s.shell.run("pwd") // after each cd
	if err != nil {
		return err
	}
	started, err := startService(command, greeting.address(), strings.TrimSpace(directory.stdout), s.env)
	if err != nil {
		return err
	}
	s.services = append(s.services, started)
	for line := range strings.Lines(strings.TrimSpace(greeting.text) + "\n") {
		if _, _, err := started.wait(ctx, startTimeout, regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(line)), 0); err != nil {
			return err
		}
	}
	return nil
}

// runBlock runs the commands of a block and compares their output.
func (s *session) runBlock(b block) error {
	for _, step := range b.steps() {
		command, err := fill(step.command, s.printed)
		if err != nil {
			return err
		}
		result, err := s.shell.run(command)
		if err == nil {
			err = step.check(result)
		}
		if err != nil {
			return fmt.Errorf("line %d: %s\n%w", step.line, strings.TrimSpace(command), err)
		}
	}
	return nil
}
