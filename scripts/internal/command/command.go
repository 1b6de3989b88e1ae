// Package command parses the flags of the generators' commands, and turns their errors into exit codes.
package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"example.com/ginseng/kit/command"
)

// Exit codes.
const ExitOK, ExitFailed, ExitUsage = 0, 1, 2

// Mistakes are the mistakes in the arguments of a command, one line each. With this error, Exit returns ExitUsage.
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

// ErrNoArguments is the error of a command without arguments. With this error, Exit prints the usage to stderr.
var ErrNoArguments = errors.New("no arguments")

// Parse parses arguments. The error is pflag.ErrHelp for --help, and otherwise Mistakes. For an unknown flag, Mistakes suggest a
// known flag.
func Parse(flags *pflag.FlagSet, args []string) error {
	err := command.Parse(flags, "", args, io.Discard)
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return err
	}
	return Mistakes{"flags: " + strings.TrimSuffix(err.Error(), "; "+command.ErrUsage.Error())}
}

// Exit prints the error of the command called name to stderr, or usage to out if err is pflag.ErrHelp, and returns the exit
// code.
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
