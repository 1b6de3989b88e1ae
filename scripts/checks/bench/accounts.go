package main

import (
	"encoding/base64"
	"fmt"
	"time"
)

// createAuthors creates the accounts of the authors and returns their ids.
func (s *service) createAuthors() ([]string, error) {
	ids := make([]string, authors)
	for i := range ids {
		var user struct{ ID string }
		account := fmt.Sprintf(`{"access_token":%q,"email":%q,"password":%q}`, masterKey, email(i), password)
		if err := s.call("POST", "/users", "", account, &user); err != nil {
			return nil, err
		}
		ids[i] = user.ID
	}
	return ids, nil
}

// email returns the email address of an author.
func email(author int) string { return fmt.Sprintf("author%d@example.com", author) }

// basic returns the credentials of an author.
func basic(author int) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(email(author)+":"+password))
}

// masterKeyBody is the body of a sign-in.
const masterKeyBody = `{"access_token":"` + masterKey + `"}`

// signIn gets new tokens for the authors.
func (s *service) signIn() error {
	s.tokens = make([]string, authors)
	for i := range s.tokens {
		var session struct{ Token string }
		if err := s.call("POST", "/auth", basic(i), masterKeyBody, &session); err != nil {
			return err
		}
		s.tokens[i] = session.Token
	}
	return nil
}

// createKey creates an API key of the first author. The key expires soon, because later runs use the same database, and an author
// can have at most 50 keys.
func (s *service) createKey() error {
	soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	var created struct{ Key string }
	err := s.call("POST", "/users/me/api-keys", basic(0), `{"name":"bench","scopes":["*:read"],"expiresAt":"`+soon+`"}`, &created)
	s.key = created.Key
	return err
}
