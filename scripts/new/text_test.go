package main

import "testing"

func TestPruneYAML(t *testing.T) {
	t.Parallel()
	g := newGone()
	g.paths["scripts/bench"], g.paths["scripts/browser"] = true, true
	g.settings["JWT_SECRET"], g.settings["MAIL_URL"] = true, true
	const before = `# What is updated.
version: 2
updates:
  - package-ecosystem: gomod
    directories:
      - /
      - /scripts/bench
      - /scripts/bench2

  - package-ecosystem: npm
    directories:
      - /scripts/browser
    schedule: {interval: weekly}

data:
  MASTER_KEY: a
  JWT_SECRET: b
  environment:
    - MAIL_URL=log:
    - PORT=1
`
	const want = `# What is updated.
version: 2
updates:
  - package-ecosystem: gomod
    directories:
      - /
      - /scripts/bench2

data:
  MASTER_KEY: a
  environment:
    - PORT=1
`
	if got := g.pruneYAML(before); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
