package settings

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"example.com/ginseng/kit/suggest"
)

// The entropy of a generated secret and the minimum length of a secret in production, in bytes. RFC 7518 section 3.2 requires
// 32 bytes for HS256.
const (
	secretBytes = 32
	minSecret   = 32
)

// secrets returns the names of the settings with the rule secret.
func (l *loader) secrets() []string {
	return slices.DeleteFunc(slices.Clone(l.names), func(name string) bool { return !isSecret(l.fields[name]) })
}

func isSecret(f reflect.StructField) bool { return f.Tag.Get("validate") == tagSecret }

// missingSecrets returns the names of the secrets that are not set. It returns nil if a name in .env looks like a misspelled secret.
func (l *loader) missingSecrets() []string {
	missing := slices.DeleteFunc(l.secrets(), func(name string) bool { return l.viper.GetString(name) != "" })
	for _, key := range l.viper.AllKeys() {
		name := strings.ToUpper(key)
		if !slices.Contains(l.names, name) && suggest.Nearest(name, missing) != "" {
			return nil
		}
	}
	return missing
}

// newSecrets returns the names of the secrets that are to be written to .env.
func (l *loader) newSecrets() []string {
	missing := l.missingSecrets()
	if l.mode != Development || l.hasFile && !l.atStart || !l.hasFile && len(missing) < len(l.secrets()) {
		return nil
	}
	return missing
}

// addSecrets writes new secrets to .env if they are needed. If another process writes .env at the same time, both have the values of
// one of them, except on file systems that cannot lock directories.
func (l *loader) addSecrets() (Source, error) {
	if len(l.newSecrets()) == 0 {
		return Source{}, nil
	}
	lock := flock.New(filepath.Dir(l.path), flock.SetFlag(os.O_RDONLY))
	_ = lock.Lock()
	defer func() { _ = lock.Unlock() }()
	if err := l.read(); err != nil {
		return Source{}, err
	}
	source := Source{Added: l.newSecrets()}
	if len(source.Added) == 0 {
		return Source{}, nil // another process has added them
	}
	if !l.hasFile {
		source.Created = l.path
	}
	return source, l.writeSecrets(source.Added)
}

// writeSecrets adds a new value for each of the secrets to .env. The loader then uses these values.
func (l *loader) writeSecrets(secrets []string) error {
	var b strings.Builder
	flag := os.O_WRONLY | os.O_APPEND
	if !l.hasFile {
		flag |= os.O_CREATE | os.O_EXCL
		b.WriteString("# Written at the first start in development mode. See .env.example for all settings.\n")
	} else {
		b.WriteString("\n# Written in development mode, because the values were missing.\n")
	}
	for _, name := range secrets {
		raw := make([]byte, secretBytes)
		rand.Read(raw)
		value := base64.RawURLEncoding.EncodeToString(raw)
		fmt.Fprintf(&b, "%s=%s\n", name, value)
		l.viper.Set(name, value)
	}
	f, err := os.OpenFile(l.path, flag, 0o600)
	if err != nil {
		return &Invalid{[]Problem{{Name: ".env", Reason: fmt.Sprintf("cannot be written (%v); make it writable, or set %s",
			errors.Unwrap(err), strings.Join(secrets, " and "))}}}
	}
	_, err = f.WriteString(b.String())
	return errors.Join(err, f.Close())
}

// Secrets returns the names of the settings with the rule secret in the struct that target points to.
func Secrets(target any) []string { return newLoader(target).secrets() }
