// Package command parses the arguments of commands.
package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"example.com/ginseng/kit/suggest"
)

// ErrUsage marks errors in the command line.
var ErrUsage = errors.New("see --help")

// Parse parses the arguments of a command. For --help, it prints usage and the flags to stdout and returns pflag.ErrHelp. All
// other errors are marked with ErrUsage.
func Parse(flags *pflag.FlagSet, usage string, args []string, stdout io.Writer) error {
	flags.Usage = func() { _, _ = io.WriteString(stdout, usage+flags.FlagUsages()) }
	err := flags.Parse(args)
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var names []string
		flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		if name := suggest.Nearest("--"+unknown.GetSpecifiedName(), names); name != "" {
			return fmt.Errorf("%w (did you mean %q?); %w", err, name, ErrUsage)
		}
		return fmt.Errorf("%w; use one of %s; %w", err, strings.Join(names, ", "), ErrUsage)
	}
	return fmt.Errorf("%w; %w", err, ErrUsage)
}
