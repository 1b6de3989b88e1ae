package main

import (
	"cmp"
	"errors"
	"path/filepath"
	"strings"
)

// ask asks for the values that no flag has set, and adds them to values. It asks again after an invalid answer, and fails if the
// input ends early.
func (c cli) ask(values map[string]string) error {
	ended := false
	question := func(name, text, standard string, check func(string) string) {
		for !ended && values[name] == "" {
			c.printf("%s [%s]: ", text, standard)
			line, err := c.in.ReadString('\n')
			answer := cmp.Or(strings.TrimSpace(line), standard)
			if reason := check(answer); reason != "" {
				c.printf("  %s\n", reason)
				ended = err != nil
				continue
			}
			values[name] = answer
		}
	}
	var r request
	question("name", "Name", "shop", checkName)
	question("module", "Module path", "example.com/"+values["name"], checkModule)
	question("dir", "Directory", "../"+values["name"], func(dir string) string {
		if _, err := checkTarget(dir, filepath.ToSlash(dir) != "../"+values["name"]); err != nil {
			return err.Error()
		}
		return ""
	})
	if values["without"] == "" {
		question("with", "Components: none, or some of "+strings.Join(names(), ", "), all, func(list string) string {
			var wrong mistakes
			r.choose(list, "", &wrong)
			return wrong.Error()
		})
	}
	r.choose(values["with"], values["without"], &mistakes{})
	if r.has("social") {
		question("providers", "Identity providers: some of "+strings.Join(providers, ", "), all, func(list string) string {
			var wrong mistakes
			chooseProviders(list, &wrong)
			return wrong.Error()
		})
	}
	if ended {
		return errors.New("the input ended before the last question")
	}
	return nil
}
