package social

// GitLabSettings are the settings for GitLab.com or a GitLab server.
type GitLabSettings struct {
	IDs    []string `mapstructure:"GITLAB_CLIENT_ID" example:"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"`
	Secret string   `mapstructure:"GITLAB_CLIENT_SECRET" validate:"required_with=IDs" example:"gloas-0123456789abcdef"`
	URL    string   `mapstructure:"GITLAB_URL" default:"https://gitlab.com"`
}

// Check implements settings.Checker.
func (c *GitLabSettings) Check(report func(name, reason string)) {
	checkBase("GITLAB_URL", &c.URL, report)
}

func newGitLab(c GitLabSettings) openID {
	return openID{name: "GitLab", issuer: c.URL, ids: c.IDs, secret: c.Secret}
}
