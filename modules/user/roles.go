package user

//go:generate go run example.com/ginseng/scripts/generate user

import "example.com/ginseng/kit/access"

// Roles are the roles that an admin can give to users. The generator adds the roles of the project to this file:
//
//	go tool generate user --roles practitioner,reception
var Roles = []string{"user", "admin"}

type createRole struct {
	Role string `json:"role" validate:"oneof=user admin" enums:"user,admin"`
}

type updateRole struct {
	Role string `json:"role" validate:"required,oneof=user admin" enums:"user,admin"` // only admins can change the role
}

type viewRole struct {
	Role access.Role `json:"role" swaggertype:"string" enums:"user,admin" example:"user"`
}

type anyViewRole struct {
	Role access.Role `json:"role,omitempty" swaggertype:"string" enums:"user,admin" extensions:"x-omitempty" example:"user"`
}
