package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	trees "example.com/ginseng/scripts/internal/files"
)

const profileFile = "modules/user/profile.go"

// planProfile plans new fields of users, which are apart from those of the account.
func (p *project) planProfile(c call) (*plan, error) {
	var wrong mistakes
	for _, flag := range c.set {
		if flag != "add" && flag != "dry-run" {
			wrong.add("flag --%s: is not for users; edit %s", flag, profileFile)
		}
	}
	current, err := os.ReadFile(p.path(profileFile))
	if errors.Is(err, os.ErrNotExist) {
		wrong.add("name user: %s does not exist; add users with go tool new add user", profileFile)
	} else if err != nil {
		return nil, err
	}
	before := Resource{Module: p.module, Name: "user", Plural: "users"}
	if args := readDirective(string(current)); len(args) > 1 {
		before.Fields = parseFields(args[1:], &wrong)
	}
	edit := editOf(before.Fields, c, &wrong)
	for _, f := range edit.fields {
		if f.Required || f.Unique || f.Search || f.Sort || f.Filter || f.Type == typeRef {
			wrong.add("field %s: a field of users is optional, and has neither unique, search, sort and filter nor ref; edit modules/user for these", f.Name)
		}
		if slices.Contains([]string{"email", "name", "picture", "role", "password", "epoch", "linksFrom", "emailVerified", "hasPassword", "suspended"}, f.Name) {
			wrong.add("field %s: is a field of every user; choose another name", f.Name)
		}
	}
	if err := wrong.err(); err != nil {
		return nil, err
	}
	if err := trees.CheckClean(context.Background(), p.root); err != nil {
		return nil, err
	}
	after := before
	after.Fields = edit.fields
	const name = "profile.go"
	old, err := before.renderFiles(name)
	if err != nil {
		return nil, err
	}
	next, err := after.renderFiles(name)
	if err != nil {
		return nil, err
	}
	merged, err := mergeFile(name, current, old[name], next[name])
	if err != nil {
		return nil, fmt.Errorf("nothing was changed: edit %s by hand: %w", profileFile, err)
	}
	out := &plan{root: p.root, name: "user", verb: verbChange, done: "Users have new fields. Next:\n  git diff\n  go test ./modules/user/\n"}
	out.add(change{profileFile, current, merged})
	return out, nil
}
