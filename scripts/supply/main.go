// Command supply says what others wrote of the service: which parts the binary is made of, and under which licences. It
// fails where it finds a licence that parts.go does not allow, or none.
//
//	go -C scripts/supply run . licences          # write docs/licenses.md
//	go -C scripts/supply run . licences -check   # write nothing; exit 1 if it differs
//	go -C scripts/supply run . sbom -version v1.2.3 BINARY FOLDER
//
// sbom reads from a binary what it is made of, and writes into the folder sbom.cdx.json, in CycloneDX's form, and
// THIRD_PARTY.txt, the texts of the licences, which whoever gets the binary must get too.
package main

import (
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	root    = "../.." // of the service's module; go -C makes this program's own the folder in which it runs
	list    = "docs/licenses.md"
	command = "go -C scripts/supply run . licences"
	usage   = "usage: supply licences [-check] | sbom [-version VERSION] BINARY FOLDER"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "supply:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	check := flags.Bool("check", false, "write nothing; exit 1 if "+list+" differs")
	version := flags.String("version", "unknown", "of the service")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch {
	case args[0] == "licences" && flags.NArg() == 0:
		return licences(*check)
	case args[0] == "sbom" && flags.NArg() == 2:
		return sbom(*version, flags.Arg(0), flags.Arg(1))
	}
	return errors.New(usage)
}

// licences writes the list of licences or, with check, compares it.
func licences(check bool) error {
	all, err := parts(root, image)
	if err != nil {
		return err
	}
	want, file := table(all), filepath.Join(root, list)
	if !check {
		return os.WriteFile(file, []byte(want), 0o644)
	}
	have, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if string(have) != want {
		return errors.New(list + " is not what the binary is made of; run: " + command)
	}
	return nil
}

// table is the list of licences. It names no versions, which change often; the binary and its SBOM have them.
func table(all []part) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Licences of others' work

What others wrote of the binary for Linux, and under which licences. Made by `+"`%s`"+`. CI fails
on a licence other than %s. `+"`make sbom`"+`
writes the versions as an SBOM, and the licences' texts: hand these on with the binary. Tools of the development, in scripts,
are in no binary and not here.

| part | licences |
|---|---|
`, command, strings.Join(allowed, ", "))
	for _, p := range all {
		fmt.Fprintf(&b, "| %s | %s |\n", p.name, strings.Join(p.licences, ", "))
	}
	return b.String()
}

// sbom writes what a binary is made of.
func sbom(version, binary, folder string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	all, err := parts(root, targetOf(info))
	if err != nil {
		return err
	}
	if err := same(all, info); err != nil {
		return fmt.Errorf("%s was built of other things than those that are here; build it again: %w", binary, err)
	}
	bom, err := document(version, binary, info, all)
	if err != nil {
		return err
	}
	notices, err := texts(all)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(folder, "sbom.cdx.json"), bom, 0o644),
		os.WriteFile(filepath.Join(folder, "THIRD_PARTY.txt"), notices, 0o644),
	)
}

func targetOf(info *buildinfo.BuildInfo) (t target) {
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			t.goos = s.Value
		case "GOARCH":
			t.goarch = s.Value
		case "-tags":
			t.tags = s.Value
		}
	}
	return t
}

// same fails unless the modules that the binary names are those that were found.
func same(all []part, info *buildinfo.BuildInfo) error {
	found, built := map[string]string{}, map[string]string{"std": strings.TrimPrefix(info.GoVersion, "go")}
	for _, p := range all {
		if strings.HasPrefix(p.purl, "pkg:golang/") {
			found[p.name] = p.version
		}
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			return fmt.Errorf("%s is replaced by %s", m.Path, m.Replace.Path)
		}
		built[m.Path] = m.Version
	}
	var wrong error
	for _, name := range slices.Sorted(maps.Keys(built)) {
		if found[name] != built[name] {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %q is in it, and here is %q", name, built[name], found[name]))
		}
		delete(found, name)
	}
	for name, version := range found {
		wrong = errors.Join(wrong, fmt.Errorf("%s %s is not in it", name, version))
	}
	return wrong
}
