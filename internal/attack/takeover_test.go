package attack_test

import (
	"net/url"
	"testing"

	"example.com/ginseng/testkit/providers"
)

// TestPreHijacking signs up with the victim's address, links the attacker's provider account, and keeps a session,
// a refresh token and a reset token. After the victim resets the password, none of these may work (pre-hijacking
// attacks: Sudhodanan and Paverd, USENIX Security 2022).
func TestPreHijacking(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "ada@example.com"
	form := url.Values{"email": {email}, "password": {guess}}
	id := ok(t, w.Do(request{Method: "POST", Path: "/users", Form: form})).JSON(201)["id"].(string)
	eve := w.SignIn(email, guess)
	w.GitHub.AddUser(providers.User{ID: "666", Email: "eve@example.com", EmailVerified: true})
	ok(t, w.Do(enter("github", eve.Token, "access_token", w.GitHub.Token("666"))))
	if got := userID(t, w.Do(enter("github", "", "access_token", w.GitHub.Token("666")))); got != id {
		t.Fatalf("setup failed: the account is linked to %s", got)
	}

	ok(t, w.Do(complete(resetToken(t, w.API, email), recovered)))

	rejected(t, w.API, []attempt{
		{"the attacker's session", me(eve.Token), 401, "unauthorized"},
		{"the attacker's refresh token", refresh(eve.RefreshToken), 401, "unauthorized"},
		{"the attacker's password", try(email, guess, ""), 401, "unauthorized"},
		{"link another account", enter("google", eve.Token, "access_token", "x"), 401, "unauthorized"},
	})
	if got := userID(t, w.Do(enter("github", "", "access_token", w.GitHub.Token("666")))); got == id {
		t.Errorf("GitHub: the attack succeeded: the attacker got in as %s", email)
	}
	ada := w.SignIn(email, recovered)
	if list := w.Do(request{Method: "GET", Path: "/auth/identities", As: ada.Token}).JSON(200); list["count"] != 0.0 {
		t.Errorf("the attack succeeded: the victim's account has %v", list)
	}
	w.Google.AddUser(providers.User{ID: "7", Email: email, EmailVerified: true})
	if got := userID(t, w.Do(enter("google", "", "access_token", w.Google.Token("7")))); got != id {
		t.Errorf("the victim's own account at Google leads to %s, not to %s", got, id)
	}
}

// TestLinkWithAStolenToken links the attacker's provider account with a stolen user token. After the victim resets
// the password, only the victim's provider account may sign in.
func TestLinkWithAStolenToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "ada@example.com"
	w.GitHub.AddUser(providers.User{ID: "7", Email: email, EmailVerified: true})
	ada := ok(t, w.Do(enter("github", "", "access_token", w.GitHub.Token("7")))).JSON(201)
	id := ada["user"].(map[string]any)["id"].(string)
	w.Google.AddUser(providers.User{ID: "666", Email: "eve@example.com", EmailVerified: true})
	ok(t, w.Do(enter("google", ada["token"].(string), "access_token", w.Google.Token("666"))))

	ok(t, w.Do(complete(resetToken(t, w.API, email), recovered)))

	if got := userID(t, w.Do(enter("google", "", "access_token", w.Google.Token("666")))); got == id {
		t.Errorf("the attack succeeded: the attacker got in as %s", email)
	}
	if got := userID(t, w.Do(enter("github", "", "access_token", w.GitHub.Token("7")))); got != id {
		t.Errorf("the victim's own account leads to %s, not to %s", got, id)
	}
}
