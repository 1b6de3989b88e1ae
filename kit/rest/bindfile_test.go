package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
)

// TestBindFile decodes the values that a field for files can have in JSON and in a form.
func TestBindFile(t *testing.T) {
	t.Parallel()
	type FileFields struct {
		Cover  *files.File  `json:"cover"`
		Papers []files.File `json:"papers"`
	}
	type input struct {
		Title string `json:"title"`
		FileFields
	}
	const view = `{"name":"a","type":"image/png","size":1,"sha256":"x","url":"/a","width":null}`
	for body, want := range map[string]string{
		`{"cover":` + view + `}`:                   `[] `,
		`{"papers":[` + view + `,{"id":1}]}`:       `[] `,
		`{"papers":[]}`:                            `[] `,
		`{"cover":null,"papers":null,"title":"a"}`: `[title cover papers] `,
		`{"cover":[]}`:                             `[] cover type`,
		`{"cover":{}}`:                             `[] cover type`,
		`{"cover":"x"}`:                            `[] cover type`,
		`{"cover":1}`:                              `[] cover type`,
		`{"cover":{"other":1}}`:                    `[] cover type`,
		`{"cover":[` + view + `]}`:                 `[] cover type`,
		`{"papers":{}}`:                            `[] papers type`,
		`{"papers":` + view + `}`:                  `[] papers type`,
		`{"papers":"x"}`:                           `[] papers type`,
		`{"papers":[null]}`:                        `[] papers type`,
		`{"papers":[[]],"cover":false,"title":1}`:  `[] title type; cover type; papers type`,
		`{"papers":[` + view + `, 1]}`:             `[] papers type`,
		`cover=&papers=&title=a`:                   `[title] `,
		`cover=null&papers=null`:                   `[cover papers] `,
		`cover=x&papers=%5B1%5D`:                   `[] cover type; papers type`,
		`papers=%5B%5D&cover=%7B%22name%22%3A1%7D`: `[] `,
	} {
		contentType := typeForm
		if strings.HasPrefix(body, "{") {
			contentType = typeJSON
		}
		g, _ := gin.CreateTestContext(httptest.NewRecorder())
		g.Request = httptest.NewRequest(http.MethodPatch, "/", strings.NewReader(body))
		g.Request.Header.Set("Content-Type", contentType)
		patch, err := BindPatch[input](g)
		got := fmt.Sprint(patch.Given, " ")
		if invalid := (*apperr.Error)(nil); errors.As(err, &invalid) {
			got += codes(invalid.Fields)
		}
		if got != want || patch.Fields.Cover != nil || len(patch.Fields.Papers) > 0 {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
		if contentType == typeJSON {
			var in input
			if invalid := DecodeObject(json.RawMessage(body), &in); (invalid != nil) != (err != nil) {
				t.Errorf("DecodeObject: %s: %v", body, invalid)
			}
		}
	}
}
