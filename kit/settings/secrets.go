package settings

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

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

// newSecrets returns the names of the secrets that Load writes to .env.
func (l *loader) newSecrets() []string {
	secrets := l.secrets()
	missing := slices.DeleteFunc(slices.Clone(secrets), func(name string) bool { return l.viper.GetString(name) != "" })
	misspelled := slices.ContainsFunc(l.viper.AllKeys(), func(key string) bool {
		name := strings.ToUpper(key)
		return !slices.Contains(l.names, name) && suggest.Nearest(name, missing) != ""
	})
	if l.mode != Development || misspelled || len(missing) == 0 || !l.hasFile && len(missing) < len(secrets) {
		return nil
	}
	return missing
}

// writeSecrets adds a new value for each of the secrets to .env. The loader then uses these values.
func (l *loader) writeSecrets(secrets []string) error {
	var b strings.Builder
	if !l.hasFile {
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
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return &Invalid{[]Problem{{Name: ".env", Reason: fmt.Sprintf("cannot be written (%v); make it writable, or set %s",
			errors.Unwrap(err), strings.Join(secrets, " and "))}}}
	}
	_, err = f.WriteString(b.String())
	return errors.Join(err, f.Close())
}

// Secrets returns the names of the settings with the rule secret in the struct that target points to.
func Secrets(target any) []string { return newLoader(target).secrets() }
