//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// toy is a service that prints a line, then emails, and waits for an interrupt.
const toy = "```sh\necho 'Toy listening on http://toy:1, at %' && printf 'To: ada\\n\\nhttp://toy/#old\\nend\\nTo: eve\\n\\nhttp://toy/#new\\nend\\n'; exec tail -f /dev/null\n```\n" +
	"```text\nToy listening on http://toy:1, at %\n```\n"

// read runs a Markdown file and returns the output and the error.
func read(t *testing.T, markdown string, skip ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	dir := t.TempDir()
	s := session{file: "a.md", dir: dir, tree: filepath.Join(dir, "tree"), env: os.Environ(), skip: skip, stdout: &out}
	if err := os.Mkdir(s.tree, 0o755); err != nil {
		t.Fatal(err)
	}
	err := s.runAll(t.Context(), parse(markdown))
	return out.String(), err
}

func TestRunAll(t *testing.T) {
	t.Parallel()
	first, second := strings.ReplaceAll(toy, "%", "first"), strings.ReplaceAll(toy, "%", "last")
	log := func(text string) string { return "```log\n" + text + "\n```\n" }
	sh := func(text string) string { return "```sh\n" + text + "\n```\n" }
	const email = "To: …\n\nhttp://toy/#…\nend"
	const paste = "LINK='http://toy/#…'\necho got $LINK\n# → got http://toy/#"
	for _, test := range []struct {
		name, text string
		skip       []string
		says       string // part of the output
		wrong      string // part of the error; "" for none
	}{
		{name: "variables stay", text: sh("A=1") + sh("echo $A\n# → 1"), says: "a.md:2: ok"},
		{name: "wrong", text: sh("\n\necho 2\n# → 1"), wrong: "a.md:2: line 2: echo 2"},
		{name: "a command that fails", text: sh("echo before\nsh -c 'exit 7'\necho after"), wrong: "a command failed"},
		{name: "a command that may fail", text: sh("false || echo 1\nif false; then :; fi\n# → 1")},
		{name: "a service after a command that fails", text: "```sh\nfalse\n" + strings.TrimPrefix(first, "```sh\n"), wrong: "did not print"},
		{name: "skipped", text: sh("A=1") + sh("node x.mjs"), skip: []string{"node "}, says: "a.md:5: SKIPPED: node x.mjs"},
		{name: "nothing to run", text: "```text\nx\n```\n", wrong: "no block to run"},
		{name: "a file", text: "```js\n// x.mjs\nexport {}\n```\n" + sh("cat x.mjs\n# → // x.mjs…export {}"), says: "a.md:2: ok"},
		{name: "js without a name", text: "```js\nexport {}\n```\n", wrong: "no block to run"},
		{name: "the first email", text: first + log(email) + sh(paste+"old")},
		{name: "the second email", text: first + log(email) + log(email) + sh(paste+"new")},
		{name: "an email by address", text: first + log("To: eve…end") + sh(paste+"new")},
		{name: "another service at the address", text: first + log("To: eve") + second + log("To: ada\n…\nend") + sh(paste+"old")},
		{name: "two services", text: first + strings.ReplaceAll(second, "toy:1", "toy:2") + log("Toy listening on http://toy:2, at last")},
		{name: "not whole lines", text: "```sh\necho Toy listening on http://toy:1\n```\n```text\nToy listening on http://toy:1\n```\n" + log("listening"), wrong: "listening: the service exited"},
		{name: "no service", text: log("x"), wrong: "no service is running"},
		{name: "nothing like it", text: first + log("To: ada") + sh("A='To: eve…'"), wrong: "no output matches To: eve…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			said, err := read(t, test.text, test.skip...)
			if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("error %v, want %q", err, test.wrong)
			}
			if !strings.Contains(said, test.says) {
				t.Errorf("said %q, want %q", said, test.says)
			}
		})
	}
}
