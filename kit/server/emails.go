package server

import (
	"fmt"
	"html"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
)

// emailsPolicy allows inline styles and nothing else.
const emailsPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

// mountEmails adds /dev/emails, which lists the previews of the modules: NAME.html and NAME.txt.
func mountEmails(engine *gin.Engine, modules []kit.Module) {
	const htmlType, textType = "text/html; charset=utf-8", "text/plain; charset=utf-8"
	var list strings.Builder
	pages := map[string]file{}
	for _, m := range modules {
		previewer, ok := m.(kit.EmailPreviewer)
		if !ok {
			continue
		}
		for _, p := range previewer.EmailPreviews() {
			pages[p.Name+".html"] = file{contentType: htmlType, content: []byte(p.Message.HTML)}
			pages[p.Name+".txt"] = file{contentType: textType, content: fmt.Appendf(nil, "To: %s\nSubject: %s\n\n%s", p.Message.To, p.Message.Subject, p.Message.Text)}
			fmt.Fprintf(&list, "<tr><td>%s<td>%s<td><a href=\"emails/%[1]s.html\">HTML</a><td><a href=\"emails/%[1]s.txt\">text</a>\n",
				html.EscapeString(p.Name), html.EscapeString(p.Message.Subject))
		}
	}
	index := []byte("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Emails</title>\n<style>body { font-family: sans-serif } td { padding: 4px 12px }</style>\n" +
		"<h1>Emails</h1>\n<p>Edit them in <code>modules/*/emails</code>, and restart the service.</p>\n<table>\n" + list.String() + "</table>\n")
	engine.GET("/dev/emails", func(c *gin.Context) {
		c.Header("Content-Security-Policy", emailsPolicy)
		c.Data(http.StatusOK, htmlType, index)
	})
	engine.GET("/dev/emails/:file", func(c *gin.Context) {
		page, ok := pages[c.Param("file")]
		if !ok {
			rest.Fail(c, apperr.New(apperr.NotFound, "There is no such email. GET /dev/emails lists them."))
			return
		}
		c.Header("Content-Security-Policy", emailsPolicy)
		c.Data(http.StatusOK, page.contentType, page.content)
	})
}
