package transfer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
)

// ErrUsage is the error of a wrong command line.
var ErrUsage = errors.New("see --help")

// Host is what the program lends to its commands.
type Host struct {
	Database       func() (string, error)       // DATABASE_URL
	Collections    func() ([]store.Spec, error) // all that the modules declare
	Stdout, Stderr io.Writer
}

const copyUsage = `Usage: ginseng copy [--from ADDRESS] --to ADDRESS [--skip COLLECTION]... [--replace]

Copies a database, between any two of mongodb://…, mongodb+srv://… and sqlite:PATH: all collections, documents and
indexes. In the end it reads both databases again and compares them. Stop the services that use them first. A copy that
was stopped goes on when the same command is run again; until it has ended, no service starts on the target.

An address env:NAME is taken from the environment variable NAME, where no list of processes shows its password.

`

const backupUsage = `Usage: ginseng backup FILE

Writes the embedded database (DATABASE_URL=sqlite:PATH) into a new file, as it is at this moment, while the service goes
on with its work. The FILE - is the standard output, as in: docker exec ginseng ginseng backup - >FILE. To restore it, stop
the service and put the file in the place of the database.

`

// parse reads flags. flag.ErrHelp: it has printed the usage, as was asked.
func parse(flags *flag.FlagSet, usage string, args []string, h Host) error {
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	flags.Usage = func() {
		_, _ = io.WriteString(flags.Output(), usage)
		flags.PrintDefaults()
	}
	if errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(h.Stdout)
		flags.Usage()
	} else if err != nil {
		return fmt.Errorf("%w; %w", err, ErrUsage)
	}
	return err
}

// CopyCommand is `ginseng copy`.
func CopyCommand(ctx context.Context, args []string, h Host) error {
	flags := flag.NewFlagSet("copy", flag.ContinueOnError)
	from := flags.String("from", "", "`address` of the source (default DATABASE_URL)")
	to := flags.String("to", "", "`address` of the target")
	replace := flags.Bool("replace", false, "delete the documents that the target has; without it they are an error")
	o := Options{Progress: h.Stderr, Report: h.Stdout}
	flags.Func("skip", "leave a `collection` of the source behind; may be repeated", func(name string) error {
		o.Skip = append(o.Skip, name)
		return nil
	})
	err := parse(flags, copyUsage, args, h)
	switch {
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("%q is too much; %w", flags.Arg(0), ErrUsage)
	case *to == "":
		return fmt.Errorf("--to is missing; %w", ErrUsage)
	}
	if *from == "" {
		if *from, err = h.Database(); err != nil {
			return err
		}
	}
	if o.From, err = address(*from); err == nil {
		o.To, err = address(*to)
	}
	if err != nil {
		return err
	}
	if o.Specs, err = h.Collections(); err != nil {
		return err
	}
	o.Replace = *replace
	err = Copy(ctx, o)
	switch {
	case err != nil && ctx.Err() != nil:
		return errors.New("the copy was stopped; the same command goes on where it is")
	case errors.Is(err, engines.ErrAddress):
		return fmt.Errorf("%w; %w", err, ErrUsage)
	}
	return err
}

func address(text string) (string, error) {
	name, ok := strings.CutPrefix(text, "env:")
	if !ok {
		return text, nil
	}
	if text = os.Getenv(name); text == "" {
		return "", fmt.Errorf("the environment variable %s is not set; %w", name, ErrUsage)
	}
	return text, nil
}
