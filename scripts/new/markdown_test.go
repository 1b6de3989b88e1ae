package main

import "testing"

func someGone() gone {
	g := newGone()
	g.routes, g.keptRoutes = []string{"/articles", "/articles/:id"}, []string{"/users", "/auth"}
	g.paths["docs/gone.md"], g.paths["docs/guide.md#gone-section"], g.paths["scripts/bench"] = true, true, true
	g.settings["GONE_KEY"] = true
	g.targets["bench"] = true
	return g
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	g := someGone()
	for from, want := range map[string]string{
		"`POST` to `/users`, `/articles` and `/auth` takes a key.\n":                      "`POST` to `/users` and `/auth` takes a key.\n",
		"`GET /users`, `GET /articles` and every list. More.\n":                           "`GET /users` and every list. More.\n",
		"One. See [it](gone.md). Three\nmore.\n":                                          "One. Three\nmore.\n",
		"`/articles` alone.\n\nOther.\n":                                                  "Other.\n",
		"| a | b |\n|---|---|\n| `GET /articles` | x |\n| `GET /users` | y |\n":           "| a | b |\n|---|---|\n| `GET /users` | y |\n",
		"# T\n\n## S\n\n| a |\n|---|\n| `GONE_KEY` |\n\n## U\n\nText.\n":                  "# T\n\n## U\n\nText.\n",
		"- `make bench` loads\n- `make test`\n  tests\n":                                  "- `make test`\n  tests\n",
		"1. [a](#gone-section)\n2. b\n":                                                   "2. b\n",
		"# T\n\n## Gone section\n\nx\n\n### Deeper\n\ny\n\n## Next\n\nz\n":                "# T\n\n## Next\n\nz\n",
		"Like this:\n\n```sh\ncurl localhost:9000/articles -d x\n\necho\n```\n\nAfter.\n": "After.\n",
		"```sh\ncurl localhost:9000/users\n\n# ## Gone section\n```\n":                    "```sh\ncurl localhost:9000/users\n\n# ## Gone section\n```\n",
		"```sh\ngo -C scripts/bench run .\n```\n\nx\n":                                    "x\n",
	} {
		if got := g.pruneMarkdown("docs/guide.md", from); got != want {
			t.Errorf("%q:\n%q, want\n%q", from, got, want)
		}
	}
	g.users = true
	if got, want := g.pruneMarkdown("docs/guide.md", "Admins may. Others, too.\n"), "Others, too.\n"; got != want {
		t.Errorf("%q", got)
	}
}

func TestMakefile(t *testing.T) {
	t.Parallel()
	g := someGone()
	delete(g.targets, "bench")
	got := g.pruneMakefile(`.PHONY: test bench lint

test: ## test
	go test ./...

bench: ## load
	go -C scripts/bench run .

lint: ## lint
	go vet ./...
	swag fmt --exclude scripts,scripts/bench --quiet
	go -C scripts/bench vet
`)
	if want := `.PHONY: test lint

test: ## test
	go test ./...

lint: ## lint
	go vet ./...
	swag fmt --exclude scripts --quiet
`; got != want || !g.targets["bench"] {
		t.Errorf("%s", got)
	}
}

func TestShell(t *testing.T) {
	t.Parallel()
	got := someGone().pruneShell(`#!/bin/sh
guides() {
  go run ./scripts/readme README.md docs/gone.md docs/guide.md
  if [ -d scripts/bench ]; then go -C scripts/bench run . -check; fi
}

bench() {
  need npm
  go -C scripts/bench run .
}

step 'guides' guides
step 'benchmark' bench
step 'again' make bench
step 'lint' make lint
`)
	if want := `#!/bin/sh
guides() {
  go run ./scripts/readme README.md docs/guide.md
}

step 'guides' guides
step 'lint' make lint
`; got != want {
		t.Errorf("%s", got)
	}
}
