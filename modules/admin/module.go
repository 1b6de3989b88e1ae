// Package admin serves the admin page, with which admins read and change everything that the API document describes.
package admin

import (
	"context"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/adminpage"
)

// Users are the users, some of whom are admins. *user.Module implements it.
type Users interface {
	HasAdmin(ctx context.Context) (bool, error)
	OpenSignIn(reason string)
}

// Module provides the routes of the admin page.
type Module struct {
	page  *adminpage.Page
	on    bool
	first func(ctx context.Context) (bool, error) // reports whether the page offers to create the first admin
}

// Settings are the settings of this module.
type Settings struct {
	// Admin turns the admin page on: true or false. The default is true in development, and false in production.
	Admin string `mapstructure:"ADMIN" validate:"omitempty,oneof=true false" example:"true"`
}

// New creates the module. If ADMIN=true is set, it allows sign-in without the master key, unless PUBLIC_SIGNIN is set: the page has
// no server that could keep the key.
func New(d kit.Deps, s Settings, users Users) *Module {
	first := func(ctx context.Context) (bool, error) {
		if !d.Development {
			return false, nil
		}
		has, err := users.HasAdmin(ctx)
		return !has, err
	}
	if s.Admin == "true" {
		users.OpenSignIn("ADMIN=true")
	}
	on := s.Admin == "true" || s.Admin == "" && d.Development
	return &Module{page: adminpage.New(d.Name, d.Routes), on: on, first: first}
}

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts { return kit.Parts{} }
