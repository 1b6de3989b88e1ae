package settings

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestDotenv compares values with those that sh reads, if the system has sh.
func TestDotenv(t *testing.T) {
	t.Parallel()
	sh, noShell := exec.LookPath("sh")
	getenv := func(name string) (string, bool) { return "of the environment", name == "OUTSIDE" }
	for _, test := range []struct {
		text, want string
		differs    bool // sh rejects the text, or reads another value
	}{
		{text: `KEY=abc#456`, want: "abc#456"},
		{text: `KEY=abc #456`, want: "abc"},
		{text: `KEY=#456`, want: "#456"},
		{text: `KEY= # a comment`, want: ""},
		{text: `KEY="x" # a "note"`, want: "x"},
		{text: `KEY="x"#y`, want: "x#y"},
		{text: `KEY='x' # it's`, want: "x"},
		{text: `KEY="a # b"`, want: "a # b"},
		{text: `KEY='a "b" $c \d'`, want: `a "b" $c \d`},
		{text: `KEY="a \"b\" \$c \\ \d \n 'e'"`, want: `a "b" $c \ \d \n 'e'`},
		{text: `KEY=a'b'"c"d`, want: "abcd"},
		{text: `KEY=a\ \#\"\$b`, want: `a #"$b`},
		{text: "KEY='a\nb'", want: "a\nb"},
		{text: "KEY=\"a\\\nb\"", want: "ab"},
		{text: "KEY=a\\\nb", want: "ab"},
		{text: "A='x y'\nKEY=$A-${A}z", want: "x y-x yz"},
		{text: `KEY="<$OUTSIDE>"`, want: "<of the environment>"},
		{text: `KEY=a$/b$`, want: "a$/b$"},
		{text: `KEY="$"`, want: "$"},
		{text: "# KEY=x\n\n  # y\nexport KEY=z", want: "z"},
		{text: "KEY=x\nKEY=y", want: "y"},
		{text: `KEY=`, want: ""},
		{text: `KEY=""`, want: ""},
		{text: `KEY=a=b`, want: "a=b"},
		{text: "KEY=é\t", want: "é"},
		{text: "\ufeffKEY=x\r\nOTHER=y\r\n", want: "x", differs: true},
		{text: `KEY = x `, want: "x", differs: true},
		{text: `KEY=Ada <ada@example.com> # x`, want: "Ada <ada@example.com>", differs: true},
		{text: `KEY=-----BEGIN PRIVATE KEY-----\nMIGT`, want: `-----BEGIN PRIVATE KEY-----\nMIGT`, differs: true},
	} {
		values, err := dotenv(test.text, getenv)
		if got := values["KEY"]; err != nil || got != test.want {
			t.Errorf("%q: %q, want %q, %v", test.text, got, test.want, err)
		}
		if test.differs || noShell != nil {
			continue
		}
		path := filepath.Join(t.TempDir(), ".env")
		if err := os.WriteFile(path, []byte(test.text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		command := exec.CommandContext(t.Context(), sh, "-c", `. "$1"; printf %s "$KEY"`, "sh", path)
		command.Env = []string{"OUTSIDE=of the environment"}
		if read, err := command.CombinedOutput(); err != nil || string(read) != test.want {
			t.Errorf("sh reads %q as %q, %v", test.text, read, err)
		}
	}
	for text, want := range map[string]string{
		"A=x\nKEY":         "line 2 is not NAME=value",
		"A=\"x\ny\"\n1=x":  "line 3 is not NAME=value",
		"KEY: x":           "line 1 is not NAME=value",
		"KEY=\"secret":     "line 1 " + errQuote.Error(),
		"KEY='secret\nA=x": "line 1 " + errQuote.Error(),
		"KEY=pa$word":      "line 1 " + errExpansion.Error(),
		"KEY=\"pa$$word\"": "line 1 " + errExpansion.Error(),
		"KEY=$(secret)":    "line 1 " + errExpansion.Error(),
		"KEY=`secret`":     "line 1 " + errExpansion.Error(),
		"KEY=${A:-secret}": "line 1 " + errExpansion.Error(),
	} {
		if values, err := dotenv(text, getenv); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v, want %s", text, values, err, want)
		}
	}
}
