//go:build unix

// Command readme runs the commands of README.md and other Markdown files, word for word, each file in a fresh copy of the
// tree, and holds what they print against what the file says they print. It runs in the root of a git repository:
//
//	go -C scripts/checks run ./readme [-skip PREFIX]... [FILE]...
//
// # What it reads
//
// Blocks fenced as sh, from top to bottom, in one shell, whose variables stay. In a block, a comment with an arrow says
// what the commands above it print, "…" standing for any text; the comment may go on over several lines:
//
//	curl localhost:9000/nothing/here
//	# → 404 {"type":"about:blank","title":"Not Found",…}
//
// A number of three digits is the HTTP status of the last call: curl tells it through a configuration file of its own, so
// that the commands stay as they are. Every command must succeed, and a call whose status the file does not say must be
// answered 2xx or 3xx.
//
// A block with a block fenced as text after it that has an http address in it starts a service there, in the folder where
// the shell is: it must print these lines, runs on while the blocks after it are run, and is interrupted as with Ctrl-C
// when the next service starts at the address or the file ends. It must then end by itself.
//
// A block fenced as log is what the service that was started last prints by now, "…" standing for any text. What a
// variable is given in single quotes with "…" in it is taken from there, as a reader copies it from the terminal:
//
//	LINK='http://localhost:3000/reset#…'
//
// A block fenced as js whose first line is a comment with a name, such as "// session.mjs", is saved under this name. On
// a machine without Node.js, blocks that begin with "node " are not run.
//
// Nor are blocks that begin with a prefix of -skip. Either is said.
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
	flag.Func("skip", "do not run blocks that begin with `PREFIX`; may be repeated", func(prefix string) error {
		skip = append(skip, prefix)
		return nil
	})
	flag.Parse()
	if err := os.Chdir(os.Getenv("PWD")); err != nil { // go -C has moved to this module
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1)
	}
	if _, err := exec.LookPath("node"); err != nil {
		skip = append(skip, "node ")
	}
	files := flag.Args()
	if len(files) == 0 {
		files = []string{"README.md"}
	}
	for _, file := range files {
		if err := run(ctx, file, skip, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "readme:", err)
			os.Exit(1)
		}
	}
}

// run does everything that a file says in a temporary folder, which it removes.
func run(ctx context.Context, file string, skip []string, stdout io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "readme-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tree := filepath.Join(dir, "tree")
	if err := copyTree(ctx, tree); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(tree, file))
	if err != nil {
		return err
	}
	s := session{file: file, dir: dir, tree: tree, skip: skip, stdout: stdout}
	if s.env, err = s.environment(); err != nil {
		return err
	}
	defer func() {
		if closeErr := s.close(); err == nil {
			err = closeErr
		}
	}()
	return s.runAll(ctx, parse(string(text)))
}

// copyTree copies what git would have in a fresh clone, were everything committed that is not ignored.
func copyTree(ctx context.Context, to string) error {
	out, err := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		info, err := os.Stat(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, text, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}

// session is one reader at work: a shell and the services that run.
type session struct {
	file      string // what is read
	dir, tree string
	env       []string
	skip      []string
	stdout    io.Writer
	shell     *shell
	services  []*service // in the order of their start
	printed   string     // what the last block fenced as log showed
}

// curlrc makes curl tell the status of each answer on standard error. It is read from CURL_HOME.
const curlrc = `silent
show-error
write-out = "%{stderr}HTTP %{http_code}\n"
`

// environment is this process's own, without the settings of the service, and with curl's configuration.
func (s *session) environment() ([]string, error) {
	example, err := os.ReadFile(filepath.Join(s.tree, ".env.example"))
	if err != nil {
		return nil, err
	}
	settings := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^#?([A-Z][A-Z0-9_]*)=`).FindAllStringSubmatch(string(example), -1) {
		settings[match[1]] = true
	}
	env := []string{"CURL_HOME=" + s.dir}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !settings[name] && name != "CURL_HOME" {
			env = append(env, pair)
		}
	}
	return env, os.WriteFile(filepath.Join(s.dir, ".curlrc"), []byte(curlrc), 0o600)
}

func (s *session) runAll(ctx context.Context, blocks []block) (err error) {
	if s.shell, err = newShell(ctx, s.tree, s.dir, s.env); err != nil {
		return err
	}
	ran := 0
	for i, b := range blocks {
		if b.language == "sh" && s.skipped(b) {
			_, _ = fmt.Fprintf(s.stdout, "%s:%d: SKIPPED: %s\n", s.file, b.line, firstLine(b.text))
			continue
		}
		begun := time.Now()
		switch {
		case b.language == "sh" && i+1 < len(blocks) && blocks[i+1].address() != "":
			err = s.serve(ctx, b.text, blocks[i+1])
		case b.language == "sh":
			err = s.runBlock(b)
		case b.language == "log":
			err = s.read(ctx, strings.TrimSpace(b.text))
		case b.file() != "":
			err = os.WriteFile(filepath.Join(s.tree, b.file()), []byte(b.text), 0o600)
		default:
			continue
		}
		if err != nil {
			return errors.Join(fmt.Errorf("%s:%d: %w", s.file, b.line, err), s.logs())
		}
		ran++
		took := time.Since(begun).Seconds()
		_, _ = fmt.Fprintf(s.stdout, "%s:%d: ok (%.1fs): %s\n", s.file, b.line, took, firstLine(b.text))
	}
	if ran == 0 {
		return fmt.Errorf("%s has no block to run", s.file)
	}
	return nil
}

func (s *session) skipped(b block) bool {
	for _, prefix := range s.skip {
		if strings.HasPrefix(b.text, prefix) {
			return true
		}
	}
	return false
}

// serve starts a service in place of the one at the same address.
func (s *session) serve(ctx context.Context, command string, greeting block) error {
	at := func(running *service) bool { return running.address == greeting.address() }
	if i := slices.IndexFunc(s.services, at); i >= 0 {
		old := s.services[i]
		s.services = slices.Delete(s.services, i, i+1)
		if err := old.stop(); err != nil {
			return err
		}
	}
	folder, err := s.shell.folder()
	if err != nil {
		return err
	}
	started, err := startService(command, greeting.address(), folder, s.env)
	if err != nil {
		return err
	}
	s.services = append(s.services, started)
	return started.waitFor(ctx, strings.Split(strings.TrimSpace(greeting.text), "\n"))
}

// runBlock runs the steps of a block and holds what they print against what the file says.
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

// read waits for what the service that was started last is to print.
func (s *session) read(ctx context.Context, pattern string) (err error) {
	if len(s.services) == 0 {
		return errors.New("no service runs")
	}
	s.printed, err = s.services[len(s.services)-1].next(ctx, pattern)
	return err
}

// logs quotes what the running services printed, to explain a failure.
func (s *session) logs() error {
	var all []error
	for _, running := range s.services {
		all = append(all, fmt.Errorf("the service at %s printed:\n%s", running.address, running.output()))
	}
	return errors.Join(all...)
}

func (s *session) close() (err error) {
	for _, running := range slices.Backward(s.services) {
		err = errors.Join(err, running.stop())
	}
	if s.shell != nil {
		err = errors.Join(err, s.shell.close())
	}
	return err
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
