package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/ginseng/kit/command"
	"example.com/ginseng/kit/settings"
	"example.com/ginseng/kit/suggest"
)

type subcommand struct {
	name, summary string
	usage         string // printed by help; "" if run prints it for the argument -h
	run           func(ctx context.Context, args []string) error
}

func (p program) commands(stdout, stderr io.Writer) []subcommand {
	return []subcommand{
		{"serve", "serve HTTP until SIGINT or SIGTERM (the default command)",
			"Serves HTTP until SIGINT or SIGTERM, then completes the requests in progress. The settings are read from the environment\n" +
				"and from .env in the current directory. In development, serve writes missing secrets to .env.\n\nExample:\n\n\tAPP_ENV=production " + p.name + " serve\n",
			noArgs(func(ctx context.Context) error { return p.serve(ctx, stdout, stderr) })},
		{"healthcheck", "exit 0 if the service on this machine is ready",
			"Requests /readyz from the service that runs with the same HOST and PORT. Use the command in containers.\n\nExample:\n\n\t" +
				"HEALTHCHECK CMD [\"/" + p.name + "\", \"healthcheck\"]\n",
			noArgs(healthcheck)},
		{"migrate", "run the pending migrations of stored documents", "",
			func(ctx context.Context, args []string) error { return p.migrate(ctx, args, stdout, stderr) }},
		{"copy", "copy a database to another engine or file", "",
			func(ctx context.Context, args []string) error { return p.copy(ctx, args, stdout, stderr) }},
		{"backup", "write the embedded database to a file while the service runs", "",
			func(ctx context.Context, args []string) error { return p.backup(ctx, args, stdout, stderr) }},
		{"files", "find missing and unreferenced files", "",
			func(ctx context.Context, args []string) error { return p.files(ctx, args, stdout, stderr) }},
		{"import", "store the records of an NDJSON or CSV file", "",
			func(ctx context.Context, args []string) error { return p.importRecords(ctx, args, stdout, stderr) }},
		{"export", "write the records of a resource to an NDJSON or CSV file", "",
			func(ctx context.Context, args []string) error { return p.exportRecords(ctx, args, stdout, stderr) }},
		{adminCommand, "make a user an admin, and create the user if there is none", "",
			func(ctx context.Context, args []string) error { return p.admin(ctx, args, stdout, stderr) }},
		{"routes", "print the routes as JSON",
			"Prints the routes of the API, with their callers, limits and resources, as JSON. It needs no settings and no database. \"make docs\"\n" +
				"combines the output with the annotations of the controllers into docs/openapi.json.\n",
			noArgs(func(context.Context) error { return p.routes(stdout) })},
		{"version", "print the version", "Prints the version of the program.\n",
			noArgs(func(context.Context) error {
				_, err := fmt.Fprintln(stdout, p.name, p.version)
				return err
			})},
	}
}

// noArgs returns a run function for a command without flags and arguments.
func noArgs(run func(context.Context) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		if len(args) > 0 {
			return unexpected(args[0])
		}
		return run(ctx)
	}
}

func unexpected(arg string) error {
	return fmt.Errorf("unexpected argument %q; %w", arg, command.ErrUsage)
}

// dispatch runs the command that args[0] names, or serve if there are no arguments.
func (p program) dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	name := "serve"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	commands := p.commands(stdout, stderr)
	if asksHelp(name) {
		switch {
		case len(args) > 1:
			return unexpected(args[1])
		case len(args) == 0 || asksHelp(args[0]):
			return p.help(commands, stdout)
		}
		name, args = args[0], []string{"-h"}
	}
	at := slices.IndexFunc(commands, func(c subcommand) bool { return c.name == name })
	if at < 0 {
		var names []string
		for _, c := range commands {
			names = append(names, c.name)
		}
		hint := ""
		if nearest := suggest.Nearest(name, names); nearest != "" {
			hint = fmt.Sprintf(" (did you mean %q?)", nearest)
		}
		return fmt.Errorf("unknown command %q%s; %w", name, hint, command.ErrUsage)
	}
	c := commands[at]
	if c.usage != "" && len(args) > 0 && isHelp(args[0]) {
		_, err := fmt.Fprintf(stdout, "Usage: %s %s\n\n%s", p.name, c.name, c.usage)
		return err
	}
	return c.run(ctx, args)
}

func asksHelp(name string) bool { return name == "help" || isHelp(name) }

func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

func (p program) help(commands []subcommand, w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Serves an HTTP API and manages its database.\n\nUsage: %s [COMMAND]\n\nThe commands are:\n\n", p.name)
	for _, c := range commands {
		if c.name == adminCommand && !p.hasUsers() {
			continue
		}
		fmt.Fprintf(&b, "\t%-12s %s\n", c.name, c.summary)
	}
	fmt.Fprintf(&b, "\nRun %s help COMMAND for the usage of a command. The settings are in the environment and in .env.\n"+
		"Exit codes: %d success, %d failure, %d invalid usage, %d invalid settings.\n",
		p.name, exitOK, exitFailure, exitUsage, exitSettings)
	_, err := io.WriteString(w, b.String())
	return err
}

// healthcheck requests /readyz from the service with the same settings.
func healthcheck(ctx context.Context) error {
	var address Address
	if err := settings.LoadPart(".", &address); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, headerTimeout)
	defer cancel()
	url := "http://" + net.JoinHostPort(dialHost(address.Host), strconv.Itoa(address.Port)) + readyz
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // without the proxy of the environment
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s responded %s", url, response.Status)
	}
	return nil
}
