//go:build unix

package main

import (
	"reflect"
	"strings"
	"testing"
)

const sample = "# Title\n\n```sh\ngo run .\n```\n\nIt prints:\n\n```text\nServer listening\n```\n\n" +
	"```sh\nA=1\n\ncurl one\n# → 201 {\"id\":\"…\",\n#        \"name\":\"ada\"}\n" +
	"curl two \\\n  -d x   # a word\n# → 204\nlast\n```\n"

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
		{command: "A=1\n\ncurl one\n", line: 14, status: "201", body: `{"id":"…","name":"ada"}`},
		{command: "curl two \\\n  -d x   # a word\n", line: 19, status: "204"},
		{command: "last\n", line: 22},
	}
	if got := blocks[2].steps(); !reflect.DeepEqual(got, steps) {
		t.Errorf("steps = %+v,\nwant %+v", got, steps)
	}
}

func TestCheckFindsWhatReadmeGetsWrong(t *testing.T) {
	said := step{status: "201", body: `{"id":"…","name":"ada.[]"}`}
	silent := step{}
	for _, test := range []struct {
		name   string
		step   step
		result result
		wrong  string // part of the error; "" for none
	}{
		{"as it says", said, result{0, "{\"id\":\"1\",\"name\":\"ada.[]\"}\n", "HTTP 201\n"}, ""},
		{"another status", said, result{0, `{"id":"1","name":"ada.[]"}`, "HTTP 200\n"}, "it answers:  200"},
		{"another body", said, result{0, `{"id":"1","name":"adaX[]"}`, "HTTP 201\n"}, "adaX"},
		{"more than it says", said, result{0, `{"id":"1","name":"ada.[]"} more`, "HTTP 201\n"}, "more"},
		{"no call", said, result{0, "", ""}, "no call was made"},
		{"a captured answer first", said, result{0, `{"id":"1","name":"ada.[]"}`, "HTTP 200\nHTTP 201\n"}, ""},
		{"a captured error first", said, result{0, `{"id":"1","name":"ada.[]"}`, "HTTP 401\nHTTP 201\n"}, "answered 401"},
		{"failing command", silent, result{7, "", "curl: (7) refused\nHTTP 000\n"}, "refused"},
		{"failing command, promised", said, result{1, "", "HTTP 201\n"}, "exit code 1"},
		{"nothing said, well answered", silent, result{0, "anything", "HTTP 200\nHTTP 302\n"}, ""},
		{"nothing said, badly answered", silent, result{0, "problem", "HTTP 200\nHTTP 404\n"}, "answered 404"},
	} {
		err := test.step.check(test.result)
		if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: check = %v, want %q", test.name, err, test.wrong)
		}
	}
}
