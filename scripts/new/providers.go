package main

import (
	"regexp"
	"slices"
	"strings"
)

// withoutProviders takes the identity providers that are not chosen out of what lists them by name. Where the tests of all
// modules take one as an example, they take one that is there.
func withoutProviders(kept tree, chosen []string) {
	if len(chosen) == 0 || len(chosen) == len(providers) {
		return
	}
	example := func(name string) string {
		if slices.Contains(chosen, name) {
			return name
		}
		return chosen[0]
	}
	for name, e := range kept {
		text := string(e.text)
		switch {
		case strings.HasPrefix(name, "modules/social/") && !strings.HasSuffix(name, "_test.go"):
			text = strings.ReplaceAll(text, strings.Join(providers, ","), strings.Join(chosen, ","))
			text = strings.ReplaceAll(text, strings.Join(providers, ", "), strings.Join(chosen, ", "))
			text = exampleTag.ReplaceAllStringFunc(text, func(tag string) string {
				return `example:"` + example(exampleTag.FindStringSubmatch(tag)[1]) + `"`
			})
		case name == "modules/docs_test.go":
			text = strings.ReplaceAll(text, "/github", "/"+example("github"))
			text = strings.ReplaceAll(text, "GitHub", properNames[example("github")])
		}
		e.text = []byte(text)
		kept[name] = e
	}
}

var (
	exampleTag  = regexp.MustCompile(`example:"(facebook|github|google)"`)
	properNames = map[string]string{"facebook": "Facebook", "github": "GitHub", "google": "Google"}
)
