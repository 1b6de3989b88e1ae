package main

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ginseng/scripts/internal/files"
)

// routes are the routes of the runtime.
const routes = `{"routes": [{"method": "POST", "path": "/batch"}, {"method": "GET", "path": "/changes"}, {"method": "GET", "path": "/emails"}, {"method": "POST", "path": "/emails/:id/retry"}, {"method": "DELETE", "path": "/emails/:id"}, {"method": "GET", "path": "/jobs"}, {"method": "POST", "path": "/jobs/:name/run"}]}`

// TestRun writes the documents of a project in which a generator was killed, and finds them up to date.
func TestRun(t *testing.T) {
	runtime, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(runtime, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	project := files.Tree{
		"go.mod": []byte(strings.Replace(string(mod), "module example.com/ginseng\n", "module example.com/shop\n", 1) +
			"\nrequire example.com/ginseng v0.0.0\n\nreplace example.com/ginseng => " + runtime + "\n"),
		"main.go":             []byte("package main\n\nimport \"fmt\"\n\n//\t@title\t\tShop\n//\t@version\t1\n//\t@securityDefinitions.apikey\tUserToken\n//\t@in\theader\n//\t@name\tAuthorization\nfunc main() { fmt.Println(`" + routes + "`) }\n"),
		"modules/late/api.go": []byte("package late\n\n// list\n//\n//\t@Success\t204\n//\t@Router\t\t/late [get]\nfunc list() {}\n"),
	}
	project[".ginseng-undo.json"] = []byte(`[{"Path": "modules/late/api.go", "After": "` + base64.StdEncoding.EncodeToString(project["modules/late/api.go"]) + `"}, {"Path": "modules/modules.go", "After": ""}]`)
	if err := project.Write("."); err != nil {
		t.Fatal(err)
	}
	if err := run(true); err == nil || !strings.Contains(err.Error(), ".env.example is out of date") {
		t.Errorf("check: %v", err)
	}
	if err := errors.Join(run(false), run(true)); err != nil {
		t.Error(err)
	}
	document, err := os.ReadFile("docs/openapi.json")
	if err != nil || !strings.Contains(string(document), `"Shop"`) || strings.Contains(string(document), "/late") {
		t.Errorf("%v\n%s", err, document)
	}
}
