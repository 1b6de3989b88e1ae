//go:build unix

// Command readme runs the commands of README.md, word for word, in a fresh copy of the tree, and holds what they print
// against what README says they print. It runs in the root of a git repository:
//
//	go run ./scripts/readme [-skip PREFIX]...
//
// # What it reads
//
// Blocks fenced as sh, from top to bottom, in one shell, whose variables stay. In a block, a comment with an arrow says
// what the last call above it answers, "…" standing for any text; the comment may go on over several lines:
//
//	curl localhost:9000/articles/65f0c1d2e3a4b5c6d7e8f901
//	# → 404 {"type":"about:blank","title":"Not Found",…}
//
// The number is the HTTP status: curl tells it through a configuration file of its own, so that the commands stay as
// they are. Every command must succeed, and a call that README says nothing of must be answered 2xx or 3xx.
//
// A block with a block fenced as text after it that begins with "Server listening" starts a service: it must print
// these lines, runs on while the blocks after it are run, and is interrupted as with Ctrl-C when the next service
// starts or README ends. It must then end by itself.
//
// A block that begins with a prefix of -skip is not run, which is said.
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
	if err := run(ctx, skip, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1)
	}
}

// run does everything in a temporary folder, which it removes.
func run(ctx context.Context, skip []string, stdout io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "readme-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tree := filepath.Join(dir, "tree")
	if err := copyTree(ctx, tree); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(tree, "README.md"))
	if err != nil {
		return err
	}
	s := session{dir: dir, tree: tree, skip: skip, stdout: stdout}
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

// session is one reader at work: a shell and at most one running service.
type session struct {
	dir, tree string
	env       []string
	skip      []string
	stdout    io.Writer
	shell     *shell
	service   *service
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
		if b.language != "sh" {
			continue
		}
		if s.skipped(b) {
			_, _ = fmt.Fprintf(s.stdout, "README.md:%d: SKIPPED: %s\n", b.line, firstLine(b.text))
			continue
		}
		begun := time.Now()
		if next := i + 1; next < len(blocks) && blocks[next].greets() {
			err = s.serve(ctx, b, blocks[next].text)
		} else {
			err = s.runBlock(b)
		}
		if err != nil {
			return errors.Join(err, s.logOfService())
		}
		ran++
		took := time.Since(begun).Seconds()
		_, _ = fmt.Fprintf(s.stdout, "README.md:%d: ok (%.1fs): %s\n", b.line, took, firstLine(b.text))
	}
	if ran == 0 {
		return errors.New("README.md has no block fenced as sh to run")
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

// serve starts the service of a block in place of the one that runs.
func (s *session) serve(ctx context.Context, b block, printed string) error {
	if err := s.stopService(); err != nil {
		return err
	}
	service, err := startService(b.text, s.tree, s.dir, s.env)
	if err != nil {
		return fmt.Errorf("README.md:%d: %w", b.line, err)
	}
	s.service = service
	if err := service.waitFor(ctx, strings.Split(strings.TrimSpace(printed), "\n")); err != nil {
		return fmt.Errorf("README.md:%d: %w", b.line, err)
	}
	return nil
}

// runBlock runs the steps of a block and holds their answers against what README says.
func (s *session) runBlock(b block) error {
	for _, step := range b.steps() {
		result, err := s.shell.run(step.command)
		if err == nil {
			err = step.check(result)
		}
		if err != nil {
			return fmt.Errorf("README.md:%d: %s\n%w", step.line, strings.TrimSpace(step.command), err)
		}
	}
	return nil
}

// logOfService quotes what the running service said, to explain a failure.
func (s *session) logOfService() error {
	if s.service == nil {
		return nil
	}
	return fmt.Errorf("the service printed:\n%s", s.service.output())
}

func (s *session) stopService() error {
	if s.service == nil {
		return nil
	}
	service := s.service
	s.service = nil
	return service.stop()
}

func (s *session) close() error {
	err := s.stopService()
	if s.shell != nil {
		err = errors.Join(err, s.shell.close())
	}
	return err
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
