package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestLargeDescription describes resources with more and more fields. A description must have at most 8 KiB, and keep the details
// that fit.
func TestLargeDescription(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	field := object{"type": "string", "maxLength": 200, "example": "An example", "description": "What the field means, in a sentence.", "enum": []string{"low", "high"}}
	for _, test := range []struct {
		fields    int
		want, not string
	}{
		{20, `"example":"`, `"incomplete":`}, {60, `"description":`, `"example":"`}, {80, `"enum":`, `"description":`}, {120, `"maxLength":`, `"enum":`},
		{1000, `"incomplete":`, `"enum":`},
	} {
		fields := object{"example": object{"type": "string"}} // the name of a field
		for i := range test.fields {
			fields[fmt.Sprintf("field%04d", i)] = field
		}
		post := object{"requestBody": object{"content": object{"application/json": object{"schema": object{"properties": fields}}}}}
		document, err := json.Marshal(object{"paths": object{"/things": object{"post": post}}})
		if err != nil {
			t.Fatal(err)
		}
		c := newCatalog([]string{"things"}, document)
		text := c.describe(c.resources["things"])
		if len(text) > maxDescription || !strings.Contains(text, test.want) || strings.Contains(text, test.not) || !strings.Contains(text, `"example":{"type":"string"}`) {
			t.Errorf("%d fields: %d bytes, %.1000s", test.fields, len(text), text)
		}
	}
}
