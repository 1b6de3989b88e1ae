package main

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// gone is what a project is made without, by the names under which others speak of it.
type gone struct {
	paths      map[string]bool // files and folders
	settings   map[string]bool
	routes     []string // of the folders that are gone
	keptRoutes []string
	targets    map[string]bool // of the Makefile
	tests      map[string]bool // of Go: true if it is gone
	users      bool            // there are none
	words      map[string]bool // names of providers
}

var (
	routeLine   = regexp.MustCompile(`\.(?:GET|POST|PUT|PATCH|DELETE)\("(/[^"]*)"`)
	settingTag  = regexp.MustCompile(`\benv:"([A-Z][A-Z0-9_]+)"`)
	settingLine = regexp.MustCompile(`(?m)^#?([A-Z][A-Z0-9_]+)=`)
)

// leaveOut takes out of the tree what the rooms say, and returns what has gone with it.
func leaveOut(t tree, a answers) (kept tree, g gone) {
	kept = maps.Clone(t)
	g = newGone()
	for _, room := range rooms {
		if a.has(room.needs...) {
			continue
		}
		if strings.Contains(room.path, "#") {
			g.paths[room.path] = true
			continue
		}
		for name := range t {
			if name == room.path || strings.HasPrefix(name, room.path+"/") {
				delete(kept, name)
			}
		}
	}
	g.users = !a.has(user)
	for _, p := range providers {
		g.words[p] = a.has(social) && !a.has(p)
	}
	g.note(t, kept)
	return kept, g
}

// note compares a tree before and after.
func (g *gone) note(before, after tree) {
	folders := map[string]bool{}
	for name := range after {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	g.routes, g.keptRoutes = nil, nil
	keptSettings := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		text := before[name].text
		_, stays := after[name]
		if !stays {
			g.paths[name] = true
			for dir := path.Dir(name); dir != "." && !folders[dir]; dir = path.Dir(dir) {
				g.paths[dir] = true
			}
		}
		if strings.HasSuffix(name, ".go") && strings.HasPrefix(name, "modules/") && !strings.HasSuffix(name, "_test.go") {
			for _, m := range routeLine.FindAllSubmatch(text, -1) {
				if stays {
					g.keptRoutes = append(g.keptRoutes, string(m[1]))
				} else {
					g.routes = append(g.routes, string(m[1]))
				}
			}
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "config/") { // whose examples are of others
			for _, m := range settingTag.FindAllSubmatch(text, -1) {
				if stays {
					keptSettings[string(m[1])] = true
				} else {
					g.settings[string(m[1])] = true
				}
			}
		}
		if path.Base(name) == ".env.example" && name != ".env.example" {
			for _, m := range settingLine.FindAllSubmatch(text, -1) {
				if !stays {
					g.settings[string(m[1])] = true
				}
			}
		}
	}
	maps.DeleteFunc(g.settings, func(name string, _ bool) bool { return keptSettings[name] })
}

// isRoute reports whether a text is the path of a route of a module, be it gone or not, or begins like one.
func (g gone) isRoute(text string) bool {
	if method, rest, ok := strings.Cut(text, " "); ok && strings.ToUpper(method) == method {
		text = rest
	}
	text, _, _ = strings.Cut(text, "?")
	return strings.HasPrefix(text, "/") && (likeOne(text, g.keptRoutes) || likeOne(text, g.routes))
}

// text reports whether a text of a file names something that is gone.
func (g gone) text(s *source, text string) bool {
	if strings.HasPrefix(s.name, "scripts/") {
		if test, _, _ := strings.Cut(text, "/"); g.tests[test] {
			return true
		}
	}
	if strings.HasPrefix(s.name, "scripts/generate/") && !strings.HasPrefix(text, "../") {
		return false // of a tree that its tests make
	}
	if g.words[text] && (g.serves(s) || strings.HasPrefix(s.name, "kit/testkit/")) {
		return true
	}
	return g.path(text) || g.serves(s) && (g.setting(text) || g.route(text))
}

// serves reports whether a file is of code that knows the service's routes.
func (g gone) serves(s *source) bool {
	folder := path.Dir(s.name)
	return folder == "." || folder == "kit/testkit" || strings.HasPrefix(folder, "modules") || strings.HasPrefix(folder, "scripts") ||
		slices.ContainsFunc(s.imports(), func(i string) bool { return strings.HasSuffix(i, "/kit/testkit") })
}

// path reports whether a text names a file or folder that is gone.
func (g gone) path(text string) bool {
	for strings.HasPrefix(text, "../") {
		text = text[len("../"):]
	}
	return g.paths[strings.Trim(strings.TrimPrefix(text, "./"), "/")]
}

// setting reports whether a text names a setting that is gone, or gives it a value.
func (g gone) setting(text string) bool {
	name, _, _ := strings.Cut(text, "=")
	return g.settings[name]
}

// route reports whether a text is the path of a route that is gone, or begins like one, also below another root and after
// a method; and like none that stays.
func (g gone) route(text string) bool {
	if method, rest, ok := strings.Cut(text, " "); ok && strings.ToUpper(method) == method {
		text = rest
	}
	text, _, _ = strings.Cut(text, "?")
	if !strings.HasPrefix(text, "/") {
		return false
	}
	for _, part := range strings.Split(text, "/") {
		if g.words[part] && likeOne(text, g.keptRoutes) {
			return true
		}
	}
	if likeOne(text, g.keptRoutes) {
		return false
	}
	if likeOne(text, g.routes) {
		return true
	}
	if i := strings.IndexByte(text[1:], '/'); i >= 0 {
		below := text[i+1:]
		return likeOne(below, g.routes) && !likeOne(below, g.keptRoutes)
	}
	return false
}

// likeOne reports whether a text is one of the routes or its beginning, or goes on where one ends.
func likeOne(text string, routes []string) bool {
	parts := strings.Split(text, "/")[1:] // the last is "" before a parameter
	if parts[0] == "" {
		return false
	}
	return slices.ContainsFunc(routes, func(route string) bool {
		of := strings.Split(route, "/")[1:]
		if len(parts) > len(of) {
			return false
		}
		for i, part := range parts {
			if param := strings.HasPrefix(of[i], ":"); !param && of[i] != part || param && i == 0 {
				return false
			}
		}
		return true
	})
}

// more reports whether more has gone than what is the template's own.
func (g gone) more() bool {
	for name := range g.paths {
		if !isOwn(name) {
			return true
		}
	}
	return false
}

func newGone() gone {
	return gone{paths: map[string]bool{}, settings: map[string]bool{}, targets: map[string]bool{}, tests: map[string]bool{}, words: map[string]bool{}}
}
