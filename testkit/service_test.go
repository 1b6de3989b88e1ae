package testkit_test

import (
	"slices"
	"testing"

	"example.com/ginseng/kit"
	"example.com/ginseng/testkit"
)

// shopSettings are the settings of a project with a secret of its own.
type shopSettings struct {
	Secret string `mapstructure:"SHOP_SECRET" validate:"secret" example:"change-me-to-a-long-random-secret"`
	Other  string `mapstructure:"SHOP_OTHER_SECRET" validate:"secret" example:"change-me-to-another-long-random-secret"`
}

// TestSettings starts two instances with a secret that the test sets, and one that it does not set.
func TestSettings(t *testing.T) {
	t.Parallel()
	var got []shopSettings
	service := testkit.Service{Modules: testkit.Modules(func(_ kit.Deps, s shopSettings) []kit.Module {
		got = append(got, s)
		return nil
	})}
	testkit.Start(t, service, testkit.Env("SHOP_SECRET", "x")).Instance()
	if len(got) != 2 || got[0] != got[1] || got[0].Secret != "x" || len(got[0].Other) < 32 {
		t.Errorf("the settings are %q", got)
	}
	testkit.Start(t, service).Instance(testkit.Env("SHOP_SECRET", "y"))
	if secrets := []string{got[2].Secret, got[3].Secret}; len(secrets[0]) < 32 || secrets[1] != "y" || slices.Contains(secrets, "x") {
		t.Errorf("the secrets are %q", secrets)
	}
}
