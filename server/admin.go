package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/command"
	"example.com/ginseng/kit/store/transfer"
)

const adminUsage = `Usage: %[1]s admin EMAIL

Makes the user with the email address an admin, and creates the user if there is none. The address counts as verified. If it was
not, the password, sessions, linked accounts, passkeys and API keys of the user are removed: somebody else may have signed up
with the address.

The command prints a link with which the admin sets a password. The link is valid once, for RESET_TTL. It leads to the page in
RESET_LINK_ORIGINS that has a path. If there is no such page, or more than one, the command asks for the password of a new user
at the terminal.

Stop the service first, unless the database is MongoDB.

Example:

	%[1]s admin ada@example.com
`

const adminCommand = "admin"

// hasUsers reports whether a module of the service makes admins.
func (p program) hasUsers() (has bool) {
	_ = p.describe(&transfer.Recorder{}, func(h *Handler) error { has = h.admins != nil; return nil })
	return has
}

func (p program) admin(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags := pflag.NewFlagSet("admin", pflag.ContinueOnError)
	if err := command.Parse(flags, fmt.Sprintf(adminUsage, p.name), args, stdout); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("an EMAIL is needed; %w", command.ErrUsage)
	}
	email := flags.Arg(0)
	handler, done, err := p.open(ctx, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if handler.admins == nil {
		return errors.New("this service has no users: none of its modules has kit.Parts.Admins")
	}
	made, err := handler.admins.MakeAdmin(ctx, email, func() (string, error) { return readPassword(os.Stdin, stderr) })
	switch apperr.CodeOf(err) {
	case "":
	case apperr.ValidationFailed, apperr.Conflict, apperr.Forbidden:
		return errors.New(reason(err))
	default:
		return err
	}
	result := email + " is an admin"
	if made.Created {
		result = "created the user " + email + ", who is an admin"
	}
	if made.Link != "" {
		result += "; this link, which is valid once, sets a password:\n" + made.Link
	}
	_, err = fmt.Fprintln(stdout, result)
	return err
}

// readPassword asks for a new password, twice.
func readPassword(terminal *os.File, stderr io.Writer) (string, error) {
	fd := int(terminal.Fd())
	if !term.IsTerminal(fd) {
		return "", errors.New("the user needs a password: run the command at a terminal, or set RESET_LINK_ORIGINS to one page with a path, to get a link")
	}
	before, err := term.MakeRaw(fd) // Ctrl-C is then the end of the input
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, before) }()
	prompt := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{terminal, stderr}, "")
	password, err := prompt.ReadPassword("Password: ")
	if err != nil || password == "" {
		return "", errors.New("no password was entered; nothing was changed")
	}
	if again, err := prompt.ReadPassword("Repeat the password: "); err != nil || again != password {
		return "", errors.New("the passwords differ; nothing was changed")
	}
	return password, nil
}
