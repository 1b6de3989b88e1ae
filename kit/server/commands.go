package server

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/ginseng/kit/settings"
	"example.com/ginseng/kit/store/transfer"
)

// command is a command of the program.
type command struct {
	name, summary string
	usage         string // shown by help; "" if run does that for the argument -h
	run           func(ctx context.Context, args []string) error
}

func (p program) commands(stdout, stderr io.Writer) []command {
	host := transfer.Host{Database: databaseURL, Collections: p.collections, Stdout: stdout, Stderr: stderr}
	return []command{
		{"serve", "serve HTTP until SIGINT or SIGTERM (the default command)",
			"Serve reads the settings from the environment and from .env in the current directory; see .env.example.\n" +
				"In development, the first start writes .env with new secrets.\n\nExample:\n\n\tAPP_ENV=production " + p.name + " serve\n",
			noArgs(func(ctx context.Context) error { return p.serve(ctx, stdout, stderr) })},
		{"healthcheck", "exit 0 if the service on this machine is ready",
			"Healthcheck requests /readyz from the service that runs with the same HOST and PORT. It is meant for containers.\n\nExample:\n\n\t" +
				"HEALTHCHECK CMD [\"/" + p.name + "\", \"healthcheck\"]\n",
			noArgs(healthcheck)},
		{"migrate", "run the pending migrations of stored documents", "",
			func(ctx context.Context, args []string) error { return p.migrate(ctx, args, stdout, stderr) }},
		{"copy", "copy a database to another engine or file", "",
			func(ctx context.Context, args []string) error { return transfer.CopyCommand(ctx, args, host) }},
		{"backup", "write the embedded database to a file while the service runs", "",
			func(ctx context.Context, args []string) error { return transfer.BackupCommand(ctx, args, host) }},
		{"version", "print the version", "Version prints the version of the program.\n",
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
			return fmt.Errorf("unexpected argument %q; %w", args[0], transfer.ErrUsage)
		}
		return run(ctx)
	}
}

// dispatch runs the command that args name.
func (p program) dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	name := "serve"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	commands := p.commands(stdout, stderr)
	if isHelp(name) || name == "help" {
		if len(args) == 0 {
			return p.help(commands, stdout)
		}
		name, args = args[0], []string{"-h"}
	}
	at := slices.IndexFunc(commands, func(c command) bool { return c.name == name })
	if at < 0 {
		return fmt.Errorf("unknown command %q%s; %w", name, suggestion(name, commands), transfer.ErrUsage)
	}
	c := commands[at]
	if c.usage != "" && len(args) > 0 && isHelp(args[0]) {
		_, err := fmt.Fprintf(stdout, "Usage: %s %s\n\n%s", p.name, c.name, c.usage)
		return err
	}
	return c.run(ctx, args)
}

func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

// help lists the commands.
func (p program) help(commands []command, w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s [COMMAND]\n\nThe commands are:\n\n", p.name)
	for _, c := range commands {
		fmt.Fprintf(&b, "\t%-12s %s\n", c.name, c.summary)
	}
	fmt.Fprintf(&b, "\nRun %s help COMMAND for the usage of a command.\n", p.name)
	_, err := io.WriteString(w, b.String())
	return err
}

// suggestion returns the command with the most similar name, or "".
func suggestion(name string, commands []command) string {
	nearest := slices.MinFunc(commands, func(a, b command) int { return cmp.Compare(distance(name, a.name), distance(name, b.name)) })
	if distance(name, nearest.name) > len(nearest.name)/2 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", nearest.name)
}

// distance returns the Levenshtein distance of two ASCII strings.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitution := diagonal
			if a[i] != b[j] {
				substitution++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitution, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// healthcheck requests /readyz from the service with the same settings.
func healthcheck(ctx context.Context) error {
	var address Address
	if err := settings.LoadPart(".", &address); err != nil {
		return err
	}
	host := address.Host
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, headerTimeout)
	defer cancel()
	url := "http://" + net.JoinHostPort(host, strconv.Itoa(address.Port)) + readyz
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s responded %s", url, response.Status)
	}
	return nil
}
