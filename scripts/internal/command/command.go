// Package command has what the commands of the generators share: flags, mistakes and exit codes.
package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"example.com/ginseng/scripts/internal/naming"
)

// Exit codes.
const ExitOK, ExitFailed, ExitUsage = 0, 1, 2

// Mistakes are the mistakes in a call, one line each. They end a command with ExitUsage.
type Mistakes []string

// Add adds a mistake.
func (m *Mistakes) Add(format string, args ...any) { *m = append(*m, fmt.Sprintf(format, args...)) }

func (m Mistakes) Error() string { return strings.Join(m, "\n") }

// Err returns the mistakes as an error, or nil if there are none.
func (m Mistakes) Err() error {
	if len(m) == 0 {
		return nil
	}
	return m
}

// ErrNoArguments makes Exit print the usage as an error.
var ErrNoArguments = errors.New("no arguments")

// Parse parses flags. The error is pflag.ErrHelp, or Mistakes with a suggestion for an unknown flag.
func Parse(flags *pflag.FlagSet, args []string) error {
	flags.Usage = func() {}
	err := flags.Parse(args)
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return err
	}
	text := "flags: " + err.Error()
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var names []string
		flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		text += "; " + naming.Suggest("--"+unknown.GetSpecifiedName(), names)
	}
	return Mistakes{text}
}

// Exit prints the error of a command, or its usage, and returns the exit code.
func Exit(out, stderr io.Writer, name, usage string, err error) int {
	var wrong Mistakes
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, pflag.ErrHelp):
		_, _ = fmt.Fprint(out, usage)
		return ExitOK
	case errors.Is(err, ErrNoArguments):
		_, _ = fmt.Fprint(stderr, usage)
		return ExitUsage
	case errors.As(err, &wrong):
		_, _ = fmt.Fprintln(stderr, wrong)
		return ExitUsage
	}
	_, _ = fmt.Fprintf(stderr, "%s: %v\n", name, err)
	return ExitFailed
}
