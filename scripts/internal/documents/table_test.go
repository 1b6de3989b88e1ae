package documents

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRoutes reads the routes of a service, of the service with another file, and of one that does not compile.
func TestRoutes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const printing = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Print(`{\"routes\": [{\"method\": \"GET\", \"path\": \"/notes\", \"caller\": \"user\"}]}`) }\n"
	write("go.mod", "module shop\n")
	main := write("main.go", printing)
	other := write("other.txt", strings.Replace(printing, "/notes", "/things", 1))
	broken := write("broken.txt", strings.Replace(printing, "fmt.Print", "fmt.Prints", 1))
	for _, test := range []struct {
		overlay    map[string]string
		path, text string
	}{
		{nil, "/notes", ""},
		{map[string]string{main: other}, "/things", ""},
		{map[string]string{main: broken}, "", "fmt.Prints"},
		{map[string]string{main: ""}, "", "no Go files"},
	} {
		table, err := Routes(t.Context(), dir, test.overlay)
		if test.text != "" {
			if !errors.Is(err, ErrRoutes) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%v: %v", test.overlay, err)
			}
			continue
		}
		if err != nil || len(table.Routes) != 1 || table.Routes[0].Path != test.path || table.Routes[0].Caller != "user" {
			t.Errorf("%v: %v, %+v", test.overlay, err, table)
		}
	}
}
