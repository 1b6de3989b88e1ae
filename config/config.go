// Package config declares the settings of this service.
package config

import (
	"example.com/ginseng/modules"
	"example.com/ginseng/server"
)

// Settings are all settings of the service.
type Settings struct {
	server.Settings
	Modules modules.Settings
}
