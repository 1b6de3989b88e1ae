package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/ginseng/kit/store/mongo/mongotest"
)

// importer is a service with a user, in a directory with a file of articles.
type importer struct {
	*testing.T
	dir   string
	set   []string // settings
	owner string
	file  string
}

func newImporter(t *testing.T, address string, articles int) importer {
	t.Helper()
	im := importer{T: t, dir: t.TempDir(), file: "articles.ndjson"}
	if address != "" {
		im.set = append(im.set, "DATABASE_URL="+address)
	}
	p := start(t, im.dir, im.set...)
	key := setting(t, im.dir, "MASTER_KEY")
	status, user := p.call("POST", "/users", key, url.Values{"email": {"a@example.com"}, "password": {"analytical engine"}})
	if status != 201 {
		t.Fatal(status, user)
	}
	im.owner = user["id"].(string)
	if address == "" {
		if code, _, stderr := im.does("export", "articles"); code != 1 || !strings.Contains(stderr, "open in another process") {
			t.Errorf("while the service runs: exit code %d: %s", code, stderr)
		}
	}
	if code := p.Stop(syscall.SIGTERM); code != 0 {
		t.Fatal(code)
	}
	var b strings.Builder
	for i := range articles {
		fmt.Fprintf(&b, `{"title":"Article %d","userId":"%s"}`+"\n", i, im.owner)
	}
	im.write(im.file, b.String())
	return im
}

// setting returns a value of .env.
func setting(t *testing.T, dir, name string) string {
	t.Helper()
	env, err := os.ReadFile(filepath.Join(dir, ".env"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(env)) {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	t.Fatalf(".env has no %s", name)
	return ""
}

func (im importer) write(name, content string) {
	im.Helper()
	if err := os.WriteFile(filepath.Join(im.dir, name), []byte(content), 0o600); err != nil {
		im.Fatal(err)
	}
}

func (im importer) does(args ...string) (code int, stdout, stderr string) {
	im.Helper()
	return does(im.T, im.dir, im.set, args...)
}

// TestImportKilled kills imports, and repeats them. There are no duplicates, and nothing is missing.
func TestImportKilled(t *testing.T) {
	t.Parallel()
	const articles = 12_000
	im := newImporter(t, "", articles)
	kills := 0
	for delay := 500 * time.Millisecond; kills < 4 && delay < time.Minute; delay += 250 * time.Millisecond {
		cmd, _ := command(t, im.dir, im.set...)
		cmd.Args = append(cmd.Args, "import", "articles", im.file)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
		if cmd.Wait() == nil { // it was faster
			break
		}
		timer.Stop()
		kills++
	}
	if code, stdout, stderr := im.does("import", "articles", im.file); code != 0 || !strings.Contains(stdout, " 0 rejected") {
		t.Fatalf("after %d kills: exit code %d: %s%s", kills, code, stdout, stderr)
	}
	code, stdout, stderr := im.does("import", "articles", im.file)
	if code != 0 || stdout != "articles: 0 created, 12,000 stored before, 0 rejected\n" {
		t.Errorf("repeated: exit code %d: %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = im.does("export", "articles")
	titles := map[string]bool{}
	for line := range strings.Lines(stdout) {
		_, title, _ := strings.Cut(line, `"title":"`)
		title, _, _ = strings.Cut(title, `"`)
		titles[title] = true
	}
	if code != 0 || strings.Count(stdout, "\n") != articles || len(titles) != articles {
		t.Errorf("exit code %d, %d lines, %d titles: %s", code, strings.Count(stdout, "\n"), len(titles), stderr)
	}
}

// TestImportCommand checks the arguments, the output and the exit codes, on each engine.
func TestImportCommand(t *testing.T) {
	t.Parallel()
	addresses := map[string]string{"sqlite": ""}
	if mongotest.Available() {
		addresses["mongodb"] = mongotest.New(t).String()
	}
	for engine, address := range addresses {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			im := newImporter(t, address, 30)
			im.write("bad.csv", "title,userId\r\n"+strings.Repeat("one,x\r\n", 25)+"two,'"+im.owner+"\r\n")
			for _, test := range []struct {
				args           string
				code           int
				stdout, stderr string // parts of the output
			}{
				{"import --dry-run articles articles.ndjson", 0, "articles: 30 created, 0 stored before (dry run: nothing is stored), 0 rejected\n", ""},
				{"import articles articles.ndjson", 0, "articles: 30 created, 0 stored before, 0 rejected\n", "import: "},
				{"import articles articles.ndjson", 0, "articles: 0 created, 30 stored before, 0 rejected\n", ""},
				{"import articles bad.csv", 1, "articles: 1 created, 0 stored before, 25 rejected\n", "bad.csv:2: userId: Must be an ID: 24 hexadecimal characters.\n"},
				{"import articles bad.csv", 1, "articles: 0 created, 1 stored before, 25 rejected\n", "… and 5 more lines\nginseng: 25 lines were rejected; correct them and run the same command again\n"},
				{"export articles out.csv", 0, "", "export: 31 records in "},
				{"export articles out.csv", 1, "", "out.csv: file exists"},
				{"import --update-by id articles out.csv", 0, "articles: 0 created, 31 updated, 0 rejected\n", ""},
				{"import articles absent.csv", 1, "", "absent.csv: no such file"},
				{"import articles articles.txt", 2, "", "specify the format with --format"},
				{"import --format xml articles bad.csv", 2, "", `"xml" is not a format`},
				{"import --update-by title articles bad.csv", 1, "", "title is not a unique field of articles; use id"},
				{"import article bad.csv", 1, "", `did you mean "articles"?`},
				{"import articles", 2, "", "a RESOURCE and a FILE are needed"},
				{"export", 2, "", "a RESOURCE is needed"},
				{"export -h", 0, "Usage: ginseng export", ""},
			} {
				code, stdout, stderr := im.does(strings.Fields(test.args)...)
				if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
					t.Errorf("%s: exit code %d: %s%s", test.args, code, stdout, stderr)
				}
			}
			cmd, stderr := command(t, im.dir, im.set...)
			cmd.Args = append(cmd.Args, "import", "--format", "ndjson", "articles", "-")
			cmd.Stdin = strings.NewReader(`{"title":"from a pipe","userId":"` + im.owner + `"}`)
			if out, err := cmd.Output(); err != nil || string(out) != "articles: 1 created, 0 stored before, 0 rejected\n" {
				t.Errorf("%v: %s%s", err, out, stderr)
			}
		})
	}
}
