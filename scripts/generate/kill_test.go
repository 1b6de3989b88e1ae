package main

import (
	"errors"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/scripts/internal/command"
	"example.com/ginseng/scripts/internal/documents"
	"example.com/ginseng/scripts/internal/registry"
)

var kills = flag.Int("kills", 2, "how often TestKilled kills the command")

// undoFile exists while the command changes the project.
const undoFile = ".ginseng-undo.json"

// TestMain runs the command instead of the tests in a process that started does.
func TestMain(m *testing.M) {
	if os.Getenv("GINSENG_GENERATE") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// start starts the command in a new process.
func start(t *testing.T, dir, temporary string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GINSENG_GENERATE=1", "TMPDIR="+temporary)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// wait waits for a process and returns its exit code.
func wait(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// fakeMain prints the routes of the runtime and of the resources in the registry. Compiling the service would take longer.
const fakeMain = `func main() {
	rows := "{\"method\": \"POST\", \"path\": \"/batch\"}, {\"method\": \"GET\", \"path\": \"/changes\"}, {\"method\": \"GET\", \"path\": \"/emails\"}, " +
		"{\"method\": \"POST\", \"path\": \"/emails/:id/retry\"}, {\"method\": \"DELETE\", \"path\": \"/emails/:id\"}, {\"method\": \"GET\", \"path\": \"/jobs\"}, {\"method\": \"POST\", \"path\": \"/jobs/:name/run\"}"
	for _, name := range []string{"note", "page"} {
		if strings.Contains(registry, name+".New(") {
			for _, route := range []string{"POST /%ss", "GET /%ss", "GET /%ss/:id", "PUT /%ss/:id", "PATCH /%ss/:id", "DELETE /%ss/:id"} {
				method, path, _ := strings.Cut(fmt.Sprintf(route, name), " ")
				rows += fmt.Sprintf(", {\"method\": %q, \"path\": %q, \"resource\": \"%ss\", \"list\": {\"name\": \"%ss\"}}", method, path, name, name)
			}
		}
	}
	fmt.Println("{\"routes\": [" + rows + "]}")
}

//go:embed modules/modules.go
var registry string
`

// newService makes a project whose documents can be generated.
func newService(t *testing.T) string {
	t.Helper()
	dir := newProject(t)
	runtime, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	mod := strings.Replace(read(t, filepath.Join(root, "go.mod")), "module example.com/ginseng\n", "module example.com/shop\n", 1)
	write(t, filepath.Join(dir, "go.mod"), mod+"\nrequire example.com/ginseng v0.0.0\n\nreplace example.com/ginseng => "+runtime+"\n")
	write(t, filepath.Join(dir, "go.sum"), read(t, filepath.Join(root, "go.sum")))
	write(t, filepath.Join(dir, "main.go"), "package main\n\nimport (\n\t_ \"embed\"\n\t\"fmt\"\n\t\"strings\"\n)\n\n//\t@title\t\tShop\n//\t@version\t1\n//\n//\t@securityDefinitions.apikey\tUserToken\n"+
		"//\t@in\t\t\t\t\t\theader\n//\t@name\t\t\t\t\tAuthorization\n//\n//\t@securityDefinitions.apikey\tMasterKey\n//\t@in\t\t\t\t\t\theader\n//\t@name\t\t\t\t\tAuthorization\n"+fakeMain)
	return dir
}

// TestKilled kills the command at random moments, every second time soon after it begins to write. Afterwards all files, with the
// documents, are those from before or after the change. If the kill interrupted the writes, this is so after the next run.
func TestKilled(t *testing.T) {
	dir, temporary := newService(t), t.TempDir()
	add, undo := []string{"note", "text", "maker:ref(user)"}, []string{"--undo", "note"}
	run := func(args []string) (code int) { return wait(t, start(t, dir, temporary, args...)) }
	if run(add) != command.ExitOK || run(undo) != command.ExitOK { // the documents are generated
		t.Fatal("the command fails")
	}
	without, begun := files(t, dir), time.Now()
	run(add)
	with, took := files(t, dir), time.Since(begun)
	if document := filepath.Join(dir, documents.OpenAPIFile); !strings.Contains(with[document], `"/notes"`) || strings.Contains(without[document], `"/notes"`) {
		t.Fatal("the document does not change with the resource")
	}
	counts := map[string]int{}
	for i := range *kills {
		args, before, after := undo, with, without
		if i%2 == 1 {
			args, before, after = add, without, with
		}
		if cmd := start(t, dir, temporary, args...); (i/2+i)%2 == 0 {
			kill(cmd, time.Millisecond, func() bool { return writes(dir, before) })
		} else {
			kill(cmd, took, func() bool { return true })
		}
		now := files(t, dir)
		_, undone := now[filepath.Join(dir, undoFile)]
		switch {
		case maps.Equal(now, before):
			counts["before"]++
		case maps.Equal(now, after):
			counts["after"]++
		case undone:
			counts["between"]++
		default:
			t.Errorf("%q was killed, and nothing will undo it", args)
		}
		if code := run(args); code != command.ExitOK && code != command.ExitUsage || !maps.Equal(files(t, dir), after) {
			t.Fatalf("%q, run again: exit code %d, and not the files of after", args, code)
		}
	}
	t.Logf("%v", counts)
}

// kill waits until begun returns true, kills the process after a random time up to limit, and waits until it has ended.
func kill(cmd *exec.Cmd, limit time.Duration, begun func() bool) {
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	for !begun() {
		select {
		case <-ended:
			return
		default:
		}
	}
	select {
	case <-ended:
	case <-time.After(rand.N(limit)):
		_ = cmd.Process.Kill()
		<-ended
	}
}

// writes reports whether the command has begun to write. It writes the documents first.
func writes(dir string, before map[string]string) bool {
	document := filepath.Join(dir, documents.OpenAPIFile)
	content, _ := os.ReadFile(document)
	_, err := os.Stat(filepath.Join(dir, undoFile))
	return err == nil || string(content) != before[document]
}

// TestTogether adds two resources at the same time. A process that finds the files changed by the other fails, and succeeds
// when it is run again.
func TestTogether(t *testing.T) {
	dir, temporary := newService(t), t.TempDir()
	first, second := start(t, dir, temporary, "note", "text"), start(t, dir, temporary, "page", "text")
	codes := map[string]int{"note": wait(t, first), "page": wait(t, second)}
	if codes["note"]+codes["page"] > command.ExitFailed {
		t.Fatalf("exit codes %v", codes)
	}
	for name, code := range codes {
		if code != command.ExitOK && wait(t, start(t, dir, temporary, name, "text")) != command.ExitOK {
			t.Errorf("%s cannot be added again", name)
		}
	}
	document, modules := read(t, filepath.Join(dir, documents.OpenAPIFile)), read(t, filepath.Join(dir, registry.Path))
	for _, want := range []string{"note", "page"} {
		if !strings.Contains(document, `"/`+want+`s"`) || !strings.Contains(modules, want+".New(") {
			t.Errorf("%s is missing in the document or in the registry:\n%s", want, modules)
		}
	}
}
