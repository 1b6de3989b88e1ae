package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// terminal reports whether a person can be asked: the file is a character device, and not the null device.
func terminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && !os.SameFile(info, null)
}

// ask asks for the answers that the command line does not give, and returns it with them.
func ask(args []string, lines *bufio.Reader, out io.Writer) []string {
	r, _ := parseArgs(args, lines) // mistakes are told later
	if r.verb != "new" || r.given["config"] {
		return args
	}
	question := func(text, standard string) string {
		_, _ = fmt.Fprintf(out, "%s [%s]: ", text, standard)
		answer, _ := lines.ReadString('\n')
		if answer = strings.TrimSpace(answer); answer == "" {
			return standard
		}
		return answer
	}
	if r.Name == "" {
		r.Name = question("The project's name", "shop")
		args = append(args, r.Name)
	}
	if !r.given["module"] {
		args = append(args, "--module", question("Its module path", "example.com/"+r.Name))
	}
	if !r.given["with"] && !r.given["without"] {
		for _, c := range components {
			_, _ = fmt.Fprintf(out, "  %-15s %s\n", c.name, c.about)
		}
		args = append(args, "--with", question("Components, apart by commas; or none", "all"))
	}
	return args
}

// list prints what would be written.
func list(project tree, out io.Writer) error {
	for _, name := range slices.Sorted(maps.Keys(project)) {
		if _, err := fmt.Fprintf(out, "%8d  %s\n", len(project[name].text), name); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d files; nothing was written\n", len(project))
	return err
}

// summary says what was made, and how to go on.
func summary(r request, project tree, notes []string, out io.Writer) {
	with := "no component"
	if len(r.Components) > 0 {
		with = strings.Join(r.Components, ", ")
	}
	_, _ = fmt.Fprintf(out, "%s is made in %s: %d files of the module %s, with %s.\n", r.Name, r.dir, len(project), r.Module, with)
	for _, line := range append(slices.Clone(r.said), notes...) {
		_, _ = fmt.Fprintln(out, line)
	}
	_, _ = fmt.Fprintln(out, "Fresh secrets are in .env. It has no LICENSE: that choice is yours.")
	_, _ = fmt.Fprintf(out, "\n  cd %s\n  go run .\n  go test ./...\n", filepath.ToSlash(r.dir))
}
