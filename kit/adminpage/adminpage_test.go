package adminpage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestClient compares the copy of the client with the generated one.
func TestClient(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile(filepath.Join("..", "..", "clients", "typescript", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("page/client.js")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("page/client.js is not clients/typescript/index.js: run make client")
	}
}

// TestLibraries compares the files of npm packages with their sums. scripts/checks/browser compares them with the packages.
func TestLibraries(t *testing.T) {
	t.Parallel()
	sums, err := os.ReadFile("SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(sums)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is not that of SHA256SUMS", name)
		}
		found++
	}
	if libraries, _ := filepath.Glob("page/*.mjs"); len(libraries)+2 != found { // and two licenses
		t.Errorf("SHA256SUMS has %d files; there are %d libraries", found, len(libraries))
	}
}

// TestSize limits what a browser loads, and the code that is maintained here.
func TestSize(t *testing.T) {
	t.Parallel()
	compressed, lines := 0, 0
	for _, name := range append(names(), index) {
		content, err := files.ReadFile("page/" + name)
		if err != nil {
			t.Fatal(err)
		}
		size := len(compress(content))
		compressed += size
		if name == "style.css" && size > 12<<10 {
			t.Errorf("style.css has %d bytes compressed", size)
		}
		if ext := filepath.Ext(name); name != "client.js" && (ext == ".js" || ext == ".css") {
			lines += bytes.Count(content, []byte("\n"))
		}
	}
	t.Logf("%d bytes compressed, %d lines", compressed, lines)
	if compressed > 120<<10 || lines > 3500 {
		t.Errorf("the page has %d bytes compressed and %d lines", compressed, lines)
	}
}

// TestSinks finds code that the Content-Security-Policy of the page forbids.
func TestSinks(t *testing.T) {
	t.Parallel()
	for _, name := range names() {
		content, err := files.ReadFile("page/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, sink := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "dangerouslySetInnerHTML", "srcdoc"} {
			if filepath.Ext(name) == ".js" && bytes.Contains(content, []byte(sink)) {
				t.Errorf("%s has %s", name, sink)
			}
		}
	}
}
