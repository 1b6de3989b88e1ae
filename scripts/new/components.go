package main

import "slices"

// The components that a project may have or leave out.
const (
	user          = "user"
	social        = "social"
	passwordReset = "password-reset"
	article       = "article"
	policy        = "policy"
)

// components are all of them, in the order in which they are asked for.
var components = []component{
	{name: user, about: "registration, sign-in, sessions"},
	{name: social, about: "sign-in with Facebook, GitHub, Google", needs: user},
	{name: passwordReset, about: "a forgotten password is reset by e-mail", needs: user},
	{name: article, about: "the example of a resource"},
	{name: policy, about: "policies, and which of them apply to a workload"},
}

// component is something that a project may be made without.
type component struct{ name, about, needs string }

// room is a file, a folder, or the section of a guide: "docs/x.md#heading".
type room struct {
	path  string
	needs []string // names of components and providers
}

// never is needed by what is the template's own, and no project has.
const never = "-"

// rooms are the files and folders that stand or fall with components: each goes unless all that it needs are chosen. What
// else names something that has gone is found by itself.
var rooms = []room{
	{"modules/user", []string{user}},
	{"modules/auth", []string{user}},
	{"kit/access/token.go", []string{user}},
	{"kit/access/fuzz_test.go", []string{user}},
	{"kit/password/password.go", []string{user}},
	{"kit/telemetry/hasher.go", []string{user}},
	{"kit/telemetry/mail.go", []string{passwordReset}},
	{"kit/telemetry/service_test.go", []string{user, passwordReset, article}},
	{"internal/attack/telemetry_test.go", []string{user, social, passwordReset}},
	{"kit/testkit/account.go", []string{user}},
	{"internal/attack", []string{user}},
	{"internal/resilience", []string{article, user}},
	{"internal/resilience/mail_test.go", []string{passwordReset}},
	{"internal/resilience/providers_test.go", []string{social, "github"}},
	{"docs/reliability.md", []string{article, user}},
	{"scripts/soak", []string{article, user}},
	{"docs/authentication.md", []string{user}},
	{"docs/operations.md#passwords", []string{user}},
	{"docs/operations.md#jwt_secret", []string{user}},
	{"modules/social", []string{social}},
	{"kit/testkit/providers", []string{social}},
	{"kit/testkit/providers.go", []string{social}},
	{"scripts/providers", []string{social, "facebook", "github", "google"}},
	{"modules/social/client_test.go", []string{social, "facebook", "github", "google"}},
	{"modules/social/router_test.go", []string{social, "facebook", "github", "google"}},
	{"modules/social/service_test.go", []string{social, "facebook", "github", "google"}},
	{"modules/social/facebook.go", []string{social, "facebook"}},
	{"modules/social/github.go", []string{social, "github"}},
	{"modules/social/google.go", []string{social, "google"}},
	{"kit/testkit/providers/facebook.go", []string{social, "facebook"}},
	{"kit/testkit/providers/facebook_test.go", []string{social, "facebook"}},
	{"kit/testkit/providers/github.go", []string{social, "github"}},
	{"kit/testkit/providers/github_test.go", []string{social, "github"}},
	{"kit/testkit/providers/google.go", []string{social, "google"}},
	{"kit/testkit/providers/idtoken.go", []string{social, "google"}},
	{"kit/testkit/providers/google_test.go", []string{social, "google"}},
	{"docs/authentication.md#sign-in-with-facebook-github-google", []string{social}},
	{"docs/authentication.md#try-it-without-an-account-anywhere", []string{social, "facebook", "github", "google"}},
	{"docs/authentication.md#forgotten-password", []string{passwordReset}},
	{"modules/password-reset", []string{passwordReset}},
	{"kit/email", []string{passwordReset}},
	{"modules/article", []string{article}},
	{"scripts/bench", []string{article, user}},
	{"docs/performance.md", []string{article, user}},
	{"docs/performance.svg", []string{article, user}},
	{"scripts/browser", []string{article, user}},
	{"scripts/client", []string{article, user}},
	{"scripts/client/password-reset.ts", []string{passwordReset}},
	{"scripts/client/policies.ts", []string{policy}},
	{"docs/client.md", []string{article, user}},
	{"scripts/container", []string{article, user}},
	{"internal/attack/takeover_test.go", []string{user, social, passwordReset}},
	{"modules/roundtrips_test.go", []string{article, user}},
	{"internal/attack/resets_test.go", []string{user, passwordReset}},
	{"scripts/generate/cli_test.go", []string{user, policy}},
	{"scripts/generate/journal_test.go", []string{user, policy}},
	{"scripts/generate/journal_linux_test.go", []string{user, policy}},
	{"scripts/generate/registry_test.go", []string{article, policy}},
	{"scripts/matrix", []string{article, user}},
	{"scripts/mutants", []string{article, user}},
	{"modules/policy", []string{policy}},
	{"scripts/kubecheck", []string{policy}},
	{"scripts/protogen", []string{policy}},
	{"docs/policies.md", []string{policy}},
	{"docs/selector.schema.json", []string{policy}},
	// The template's own: no project has them.
	{"scripts/new", []string{never}},
	{"docs/new-project.md", []string{never}},
	{"LICENSE", []string{never}},
	{"CHANGELOG.md", []string{never}},
}

func names() []string {
	out := make([]string, len(components))
	for i, c := range components {
		out[i] = c.name
	}
	return out
}

// has reports whether all of the components and providers are chosen.
func (a answers) has(needs ...string) bool {
	return !slices.ContainsFunc(needs, func(n string) bool { return !slices.Contains(a.Components, n) && !slices.Contains(a.Providers, n) })
}
