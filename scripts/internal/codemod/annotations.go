package codemod

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// implied matches the annotations of generated handlers that the router implies.
var implied = regexp.MustCompile(`^//\s+@(?:` +
	`Param\s+(?:If-Match|If-None-Match|Idempotency-Key|Last-Event-ID)\s+header\s.*|` +
	`Produce\s+json,event-stream|` +
	`Failure\s+429\s.*"too_many_requests: too many open streams"|` +
	`Failure\s+403\s.*"forbidden: the caller is (?:not an admin|neither an admin nor a user with the role [a-z0-9 -]+)"|` +
	`Security\s+(?:UserToken|MasterKey))$`)

// generatedHandlers are the handlers that the generator writes. For handlers of other routes, which need not be routes of a
// resource, the router implies less.
var generatedHandlers = []string{"create", "list", "changes", "get", "update", "delete"}

// cutAnnotations deletes the annotations of generated handlers of a resource that the router implies. An annotation takes
// precedence over the router, so one that stays would be out of date when the router changes.
func cutAnnotations(p *pkg) {
	for _, f := range p.files {
		for _, decl := range f.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok || !p.resource || path.Base(f.name) != "controller.go" || function.Doc == nil || !slices.Contains(generatedHandlers, function.Name.Name) {
				continue
			}
			security := 0
			for _, line := range function.Doc.List {
				if strings.Contains(line.Text, "@Security") || strings.Contains(line.Text, "@x-optional-security") {
					security++
				}
			}
			for _, line := range function.Doc.List {
				if implied.MatchString(line.Text) && (security == 1 || !strings.Contains(line.Text, "@Security")) {
					f.cut(line)
					f.annotated = true
				}
			}
		}
	}
}
