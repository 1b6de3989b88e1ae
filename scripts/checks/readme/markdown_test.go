//go:build unix

package main

import (
	"reflect"
	"strings"
	"testing"
)

const sample = "# Title\n\n```sh\ngo run .\n```\n\nIt prints:\n\n```text\nServer listening\n```\n\n" +
	"```sh\nA=1\n\ncurl one\n# → 201 {\"id\":\"…\",\n#        \"name\":\"ada\"}\n" +
	"curl two \\\n  -d x   # a word\n# → 204\nnode three\n# → 2016 was a year\nlast\n```\n"

func TestParseAndSteps(t *testing.T) {
	blocks := parse(sample)
	want := []block{
		{"sh", 4, "go run .\n"},
		{"text", 10, "Server listening\n"},
		{"sh", 14, blocks[2].text},
	}
	if !reflect.DeepEqual(blocks, want) {
		t.Fatalf("parse = %+v", blocks)
	}
	steps := []step{
		{command: "A=1\n\ncurl one\n", line: 14, says: true, status: "201", body: `{"id":"…","name":"ada"}`},
		{command: "curl two \\\n  -d x   # a word\n", line: 19, says: true, status: "204"},
		{command: "node three\n", line: 22, says: true, body: "2016 was a year"},
		{command: "last\n", line: 24},
	}
	if got := blocks[2].steps(); !reflect.DeepEqual(got, steps) {
		t.Errorf("steps = %+v,\nwant %+v", got, steps)
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		block         block
		address, file string
	}{
		{block: block{language: "text", text: "Server listening on http://0.0.0.0:9000, in development mode\n"}, address: "http://0.0.0.0:9000"},
		{block: block{language: "text", text: "It is up. Set:\n\nA_URL=http://127.0.0.1:9100/a\nB_URL=http://[::1]:1/b\n"}, address: "http://127.0.0.1:9100"},
		{block: block{language: "text", text: "config/  reads the settings\n"}},
		{block: block{language: "sh", text: "# listening on http://0.0.0.0:9000\n"}},
		{block: block{language: "js", text: "// session.mjs\nexport {}\n"}, file: "session.mjs"},
		{block: block{language: "js", text: "// ../session.mjs\n"}},
		{block: block{language: "js", text: "export {}\n// session.mjs\n"}},
		{block: block{language: "sh", text: "// session.mjs\n"}},
	} {
		if address, file := test.block.address(), test.block.file(); address != test.address || file != test.file {
			t.Errorf("%q: address %q, file %q", test.block.text, address, file)
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	const printed = "To: ada@example.com\n\nhttp://localhost:3000/reset#a'b\nhttp://localhost:3000/reset#c\n"
	for command, want := range map[string]string{
		"LINK='http://localhost:3000/reset#…'   # paste\ncurl \"$LINK\"\n": "LINK='http://localhost:3000/reset#a'   # paste\ncurl \"$LINK\"\n",
		"A='To: …'\nB='ada@…'\n":                                           "A='To: ada@example.com'\nB='ada@example.com'\n",
		"A='no such …'\n":                                                  "",
		"curl -d A='To: …'\n":                                              "curl -d A='To: …'\n",
		"A='fixed'\ncurl x\n# a comment with …'\n":                         "A='fixed'\ncurl x\n# a comment with …'\n",
	} {
		if got, err := fill(command, printed); (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("fill(%q) = %q, %v", command, got, err)
		}
	}
}

func TestCheckFindsWhatTheTextGetsWrong(t *testing.T) {
	said := step{says: true, status: "201", body: `{"id":"…","name":"ada.[]"}`}
	printed := step{says: true, body: "10 calls, … refresh"}
	silent := step{}
	for _, test := range []struct {
		name   string
		step   step
		result result
		wrong  string // part of the error; "" for none
	}{
		{"as it says", said, result{0, "{\"id\":\"1\",\"name\":\"ada.[]\"}\n", "HTTP 201\n"}, ""},
		{"another status", said, result{0, `{"id":"1","name":"ada.[]"}`, "HTTP 200\n"}, "got:  200"},
		{"another body", said, result{0, `{"id":"1","name":"adaX[]"}`, "HTTP 201\n"}, "adaX"},
		{"more than it says", said, result{0, `{"id":"1","name":"ada.[]"} more`, "HTTP 201\n"}, "more"},
		{"no call", said, result{0, "", ""}, "no HTTP call"},
		{"a captured response first", said, result{0, `{"id":"1","name":"ada.[]"}`, "HTTP 200\nHTTP 201\n"}, ""},
		{"a captured error first", said, result{0, `{"id":"1","name":"ada.[]"}`, "HTTP 401\nHTTP 201\n"}, "status 401"},
		{"as it says, without a call", printed, result{0, "10 calls, 1 refresh\n", ""}, ""},
		{"as it says, after a call", printed, result{0, "10 calls, 1 refresh\n", "HTTP 204\n"}, ""},
		{"as it says, after an error", printed, result{0, "10 calls, 1 refresh\n", "HTTP 404\n"}, "status 404"},
		{"printed something else", printed, result{0, "10 calls, 2 refreshes\n", ""}, "2 refreshes"},
		{"failing command", silent, result{7, "", "curl: (7) refused\nHTTP 000\n"}, "refused"},
		{"failing command, promised", said, result{1, "", "HTTP 201\n"}, "exit code 1"},
		{"no expectation, success", silent, result{0, "anything", "HTTP 200\nHTTP 302\n"}, ""},
		{"no expectation, error", silent, result{0, "problem", "HTTP 200\nHTTP 404\n"}, "status 404"},
	} {
		err := test.step.check(test.result)
		if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: check = %v, want %q", test.name, err, test.wrong)
		}
	}
}
