package twofactor_test

import (
	"strings"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// TestMissingParameters signs in without parameters. The response also reports that code is missing, although recovery_code can
// replace it.
func TestMissingParameters(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	response := api.Do(testkit.Request{Method: "POST", Path: "/auth/second-factor", JSON: `{}`, As: testkit.MasterKey})
	for _, param := range []string{"challenge", "code"} {
		if !strings.Contains(string(response.Body), `"param":"`+param+`","code":"required"`) {
			t.Errorf("%s is not reported: %s", param, response.Body)
		}
	}
}
