package settings_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"example.com/ginseng/kit/settings"
)

// Clinic has the settings of a module. A tag names the variable in the environment or in .env.
type Clinic struct {
	Rooms int    `mapstructure:"CLINIC_ROOMS" default:"10" validate:"min=1,max=100"`
	Phone string `mapstructure:"CLINIC_PHONE" validate:"required" example:"+49 30 1234567"`
}

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, text := range []string{"CLINIC_PHONE=112\n", "CLINIC_ROOMS=0\n"} {
		if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
		var c Clinic
		err := settings.LoadPart(dir, &c)
		fmt.Println(c.Rooms, c.Phone, err)
	}
	// Output:
	// 10 112 <nil>
	// 0  CLINIC_ROOMS: must be an integer from 1 to 100, for example CLINIC_ROOMS=10
	// CLINIC_PHONE: is missing, for example CLINIC_PHONE=+49 30 1234567
}
