package organization

//go:generate go run example.com/ginseng/scripts/generate organization

import "example.com/ginseng/kit/access"

// Roles are the roles of members, the highest first. The generator adds the roles of the project to this file, which rank between
// member and admin:
//
//	go tool generate organization --roles editor
var Roles = []access.Role{"owner", "admin", "member"}

type roleInput struct {
	Role string `json:"role" validate:"required,oneof=owner admin member" enums:"owner,admin,member" example:"member"`
}

type viewRole struct {
	Role access.Role `json:"role" swaggertype:"string" enums:"owner,admin,member" example:"member"`
}

type anyViewRole struct {
	Role *access.Role `json:"role" swaggertype:"string" enums:"owner,admin,member" extensions:"x-nullable" example:"owner"` // of the caller; null for admins of the service who are no members
}
