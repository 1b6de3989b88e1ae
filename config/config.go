// Package config declares the settings of this service.
package config

import (
	"example.com/ginseng/kit/server"
	"example.com/ginseng/modules"
)

// Settings are all settings of the service.
type Settings struct {
	server.Settings
	Modules modules.Settings
}
