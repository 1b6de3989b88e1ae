package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed are the licences that what is in the binary may have, by their SPDX identifiers: those that ask for no more than
// to be named. Another one is a decision to take before it is added here.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "blessing"}

// part is something that others wrote and that is in the binary.
type part struct {
	name, version string
	purl          string
	licences      []string // SPDX identifiers, sorted
	texts         []string // files with licences and notices
}

// target is what a binary is built for.
type target struct{ goos, goarch, tags string }

// image is what the Dockerfile builds.
var image = target{"linux", "amd64", "nomsgpack,validator_novalidatefn"}

// parts lists what the service in root is made of on a target: the modules of which it links packages, the standard library,
// and what is embedded.
func parts(root string, t target) ([]part, error) {
	found := map[string]*part{}
	folders := map[string][]string{} // of a part, to look for licences in
	err := listPackages(root, t, func(p listedPackage) {
		name, version, top := "std", strings.TrimPrefix(runtime.Version(), "go"), p.Root
		if p.Module != nil {
			if p.Module.Main {
				return
			}
			name, version, top = p.Module.Path, p.Module.Version, p.Module.Dir
		} else if !p.Standard {
			return
		}
		if found[name] == nil {
			found[name] = &part{name: name, version: version, purl: "pkg:golang/" + name + "@" + version}
			folders[name] = []string{top}
		}
		for dir := p.Dir; p.Module != nil && len(dir) > len(top); dir = filepath.Dir(dir) {
			folders[name] = append(folders[name], dir)
		}
	})
	if err != nil {
		return nil, err
	}
	var all []part
	var wrong error
	for _, name := range slices.Sorted(maps.Keys(found)) {
		p := found[name]
		slices.Sort(folders[name])
		for _, dir := range slices.Compact(folders[name]) {
			wrong = errors.Join(wrong, p.read(dir))
		}
		all = append(all, *p)
	}
	ui, err := swaggerUI(filepath.Join(root, "middleware", "swaggerui"))
	all = append(all, ui)
	for _, p := range all {
		wrong = errors.Join(wrong, p.judge())
	}
	return all, errors.Join(wrong, err)
}

// listedPackage is what the go command says of a package.
type listedPackage struct {
	Dir, Root string
	Standard  bool
	Module    *struct {
		Path, Version, Dir string
		Main               bool
	}
}

func listPackages(root string, t target, each func(listedPackage)) error {
	cmd := exec.Command("go", "list", "-deps", "-tags", t.tags, "-json=Dir,Root,Standard,Module", ".")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+t.goos, "GOARCH="+t.goarch, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w\n%s", err, &stderr)
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		each(p)
	}
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying`)
	noticeFile  = regexp.MustCompile(`(?i)^(notice|patents)`)
)

// read classifies the licences in a folder.
func (p *part) read(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		name := filepath.Join(dir, f.Name())
		isLicence := licenceFile.MatchString(f.Name()) && filepath.Ext(name) != ".go"
		if f.IsDir() || !isLicence && !noticeFile.MatchString(f.Name()) {
			continue
		}
		p.texts = append(p.texts, name)
		if !isLicence {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		p.add(classify(text)...)
	}
	return nil
}

func (p *part) add(licences ...string) {
	p.licences = append(p.licences, licences...)
	slices.Sort(p.licences)
	p.licences = slices.Compact(p.licences)
}

// read are the files that no program can classify, by their SHA-256, with what a person has read in them of what gets into the
// binary. Another text under the name is to be read again.
var read = map[string][]string{
	// modernc.org/libc: LICENSE-3RD-PARTY.md
	"f597097efe3d97021f89170746bd3a0fb9a8b6fb26b82043ed68a4e0283bee6c": {"BSD-2-Clause", "BSD-3-Clause", "MIT"},
	// modernc.org/memory: LICENSE-LOGO, of a picture that gets into no binary
	"5ae5bee3072a841376451b48d8cfcec7188e10543926d5870828d36c8a750dc5": {},
	// modernc.org/sqlite: LICENSE-3RD-PARTY.md, section 1
	"b4366b9c27a9364633e015011a231913ed19bf1228f335bf617e50a6f7b168a6": {"BSD-3-Clause", "MIT", "blessing"},
	// modernc.org/sqlite: LICENSE-SQLITE, public domain
	"8438c9c89b849131ead81d5435cb97fcf052df5b0b286dda8a2d4c29e6cb3fd0": {"blessing"},
}

// enough of a text, in percent, must be that of a licence. The rest is names, years, and which part it is of.
const enough = 60

// classify names the licences in a text.
func classify(text []byte) (ids []string) {
	if ids, ok := read[fmt.Sprintf("%x", sha256.Sum256(text))]; ok {
		return ids
	}
	coverage := licensecheck.Scan(text)
	if coverage.Percent < enough {
		return []string{"unknown"}
	}
	for _, match := range coverage.Match {
		ids = append(ids, match.ID)
	}
	return ids
}

// judge fails unless all licences are allowed.
func (p *part) judge() error {
	if len(p.licences) == 0 {
		return fmt.Errorf("%s has no licence that this program finds; look for it in %s", p.name, p.texts)
	}
	for _, id := range p.licences {
		if !slices.Contains(allowed, id) {
			return fmt.Errorf("%s has the licence %s, which is not allowed; leave it out or, when you have read it, name it in "+
				"scripts/supply/parts.go: %s", p.name, id, strings.Join(p.texts, ", "))
		}
	}
	return nil
}

var (
	uiVersion = regexp.MustCompile(`Swagger UI (\d+\.\d+\.\d+)`)
	comment   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	// short are the ways in which comments name licences.
	short = map[string]*regexp.Regexp{
		"Apache-2.0":   regexp.MustCompile(`(?i)Apache(-| license )2\.0`),
		"BSD-3-Clause": regexp.MustCompile(`BSD-3-Clause`),
		"MIT":          regexp.MustCompile(`\bMIT\b`),
		"MPL-2.0":      regexp.MustCompile(`(?i)MPL-2\.0|Mozilla Public License 2\.0`),
	}
)

// swaggerUI is the part that is embedded from files of this repository. What its bundles are made of says its licence in a
// comment; where that offers a choice, an allowed one is chosen.
func swaggerUI(dir string) (part, error) {
	about, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		return part{}, err
	}
	found := uiVersion.FindSubmatch(about)
	if found == nil {
		return part{}, fmt.Errorf("%s/README.md does not say which version it is", dir)
	}
	p := part{name: "swagger-ui-dist", version: string(found[1]), purl: "pkg:npm/swagger-ui-dist@" + string(found[1])}
	if err := p.read(dir); err != nil {
		return p, err
	}
	p.licences = slices.DeleteFunc(p.licences, func(id string) bool { return id == "unknown" }) // the bundles', which follow
	bundles, _ := filepath.Glob(filepath.Join(dir, "*.js.LICENSE.txt"))
	for _, bundle := range bundles {
		text, err := os.ReadFile(bundle)
		if err != nil {
			return p, err
		}
		for _, c := range comment.FindAllString(string(text), -1) {
			var offered []string
			for id, words := range short {
				if words.MatchString(c) {
					offered = append(offered, id)
				}
			}
			slices.SortFunc(offered, func(a, b string) int {
				return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
			})
			if len(offered) == 0 {
				return p, fmt.Errorf("%s has a part without a licence that this program knows:\n%s", bundle, c)
			}
			p.add(offered[0])
		}
	}
	return p, nil
}

// rank sorts allowed licences before others.
func rank(id string) int {
	if slices.Contains(allowed, id) {
		return 0
	}
	return 1
}
