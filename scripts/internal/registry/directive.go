package registry

import (
	"regexp"
	"strings"
)

const directive = "//go:generate go run example.com/ginseng/scripts/generate "

var directiveArgument = regexp.MustCompile(`"([^"]*)"|[^\s"]+`)

// Directive returns the go:generate line that declares a resource with the arguments of the command generate.
func Directive(args []string) string {
	for i, arg := range args {
		if strings.ContainsAny(arg, " \t") {
			args[i] = `"` + arg + `"` // a declaration has neither quotes nor backslashes
		}
	}
	return directive + strings.Join(args, " ")
}

// ReadDirective returns the arguments in the go:generate line of a Go file, or nil if there is none.
func ReadDirective(source string) (args []string) {
	for line := range strings.Lines(source) {
		if rest, ok := strings.CutPrefix(line, directive); ok {
			for _, arg := range directiveArgument.FindAllString(rest, -1) {
				args = append(args, strings.Trim(arg, `"`))
			}
		}
	}
	return args
}
