package rest_test

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/rest"
)

// Note is the body of a request and the view of its response.
type Note struct {
	Text string `json:"text" validate:"required,max=20"`
	Pin  bool   `json:"pin"`
}

// A handler returns an error, which becomes a problem. Unknown and invalid parameters are reported together.
func Example() {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.POST("/notes", rest.Handle(func(g *gin.Context) error {
		note, err := rest.Bind[Note](g)
		if err != nil {
			return err
		}
		return rest.OK(g, note)
	}))
	var problem struct {
		Errors []struct{ Param, Code, Message string }
	}
	for _, body := range []string{`{"text":"Buy milk","pin":true}`, `{"pin":"yes","colour":"red"}`} {
		r := httptest.NewRequest("POST", "/notes", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		engine.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("Content-Type"))
		if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil {
			log.Fatal(err)
		}
		for _, e := range problem.Errors {
			fmt.Println(e.Param, e.Code, e.Message)
		}
	}
	// Output:
	// 200 application/json; charset=utf-8
	// 400 application/problem+json
	// text required Must be given.
	// pin type Must be true or false.
	// colour unknown Is not a parameter of this operation. Allowed: text, pin. The body was read as JSON.
}
