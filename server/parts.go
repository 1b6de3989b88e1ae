package server

import (
	"errors"
	"fmt"
	"reflect"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/email"
)

// addParts adds the Parts of the modules to p. It fails if two modules verify the same credential, or make admins.
func addParts(p *kit.Parts, modules []kit.Module) error {
	for _, m := range modules {
		own := m.Parts()
		p.Jobs = append(p.Jobs, own.Jobs...)
		p.Workers = append(p.Workers, own.Workers...)
		p.Closers = append(p.Closers, own.Closers...)
		p.Migrations = append(p.Migrations, own.Migrations...)
		p.EmailPreviews = bothPreviews(p.EmailPreviews, own.EmailPreviews)
		p.Metrics = append(p.Metrics, own.Metrics...)
		if err := errors.Join(setOnly(&p.Tokens, own.Tokens), setOnly(&p.APIKeys, own.APIKeys), setOnly(&p.Passwords, own.Passwords),
			setOnly(&p.SecondFactors, own.SecondFactors), setOnly(&p.Admins, own.Admins)); err != nil {
			return err
		}
	}
	return nil
}

// bothPreviews returns a function that returns the previews of a and b, either of which can be nil.
func bothPreviews(a, b func() []email.Preview) func() []email.Preview {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func() []email.Preview { return append(a(), b()...) }
}

// setOnly sets verifier to v, unless v is nil. It fails if verifier is already set.
func setOnly[V any](verifier *V, v V) error {
	switch {
	case any(v) == nil:
	case any(*verifier) != nil:
		return fmt.Errorf("%T and %T both implement %v; remove one of the modules", *verifier, v, reflect.TypeFor[V]())
	default:
		*verifier = v
	}
	return nil
}
