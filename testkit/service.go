package testkit

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/settings"
	"example.com/ginseng/server"
)

// Service is the service under test.
type Service struct {
	// Modules creates the modules with the settings of the file .env in dir. See the function Modules.
	Modules   func(d kit.Deps, dir string) ([]kit.Module, error)
	Documents server.Documents
}

// Modules returns a function for Service.Modules. The function reads the settings S from a directory, and calls newModules. Settings
// with the rule secret that the test does not set have a random value, the same for all services of the process.
func Modules[S any](newModules func(kit.Deps, S) []kit.Module) func(kit.Deps, string) ([]kit.Module, error) {
	return func(d kit.Deps, dir string) ([]kit.Module, error) {
		var s S
		if err := addSecrets(dir, settings.Secrets(&s)); err != nil {
			return nil, err
		}
		if err := settings.LoadPart(dir, &s); err != nil {
			return nil, err
		}
		return newModules(d, s), nil
	}
}

var secrets sync.Map // random values by name of the setting

// addSecrets adds the secrets with the names to dir/.env, except those that the file has.
func addSecrets(dir string, names []string) error {
	file := filepath.Join(dir, ".env")
	env, err := os.ReadFile(file)
	for _, name := range names {
		if !bytes.Contains(append([]byte("\n"), env...), []byte("\n"+name+"=")) {
			value, _ := secrets.LoadOrStore(name, rand.Text()+rand.Text())
			env = fmt.Appendf(env, "%s=%s\n", name, value)
		}
	}
	return errors.Join(err, os.WriteFile(file, env, 0o600))
}
