package social

import (
	"testing"
	"time"

	"example.com/ginseng/testkit/providers"
)

func TestGitLab(t *testing.T) {
	t.Parallel()
	n := subject{
		fake: func(now func() time.Time) providers.Fake { return providers.NewGitLab(clientApp, now) },
		connect: func(n *internet, address, secret string) provider {
			openIDOf(n).SetIssuer(address)
			return n.environment().openID(newGitLab(GitLabSettings{IDs: []string{clientApp.ID}, Secret: secret, URL: address}))
		},
	}.start(t)
	want := Profile{Subject: ada.ID, Email: ada.Email, EmailVerified: true, Name: ada.Name, Picture: ada.Picture}
	if p, err := n.ask(t, n.code(ada.ID)); err != nil || p != want {
		t.Errorf("%+v, %v", p, err)
	}
	if invalid := invalidSettings(&GitLabSettings{IDs: []string{"1"}, URL: "https://gitlab.example.com"}); invalid != "GITLAB_CLIENT_SECRET" {
		t.Error(invalid)
	}
}
