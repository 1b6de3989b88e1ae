package email_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/kit/email"
)

// check returns the invalid settings and the reasons.
func check(c email.Settings) map[string]string {
	wrong := map[string]string{}
	c.Check(func(name, what string) { wrong[name] = what })
	return wrong
}

func TestSettings(t *testing.T) {
	t.Parallel()
	const from = "Ginseng <no-reply@example.com>"
	for name, c := range map[string]struct {
		config email.Settings
		sends  bool
		wrong  string // names of the invalid settings
	}{
		"nothing":                  {email.Settings{}, false, ""},
		"log":                      {email.Settings{URL: "log:"}, false, ""},
		"log with a sender":        {email.Settings{URL: "log:", From: from}, false, ""},
		"log with a bad sender":    {email.Settings{URL: "log:", From: "x"}, false, "MAIL_FROM"},
		"smtp":                     {email.Settings{URL: "smtp://localhost", From: from}, true, ""},
		"smtp with all":            {email.Settings{URL: "smtp://ada%40example.com:p%2Fq@[::1]:2525/", From: "no-reply@example.com"}, true, ""},
		"user with @":              {email.Settings{URL: "smtp://ada@example.com:secret@smtp.example.com", From: from}, true, ""},
		"smtps":                    {email.Settings{URL: "smtps://u:p@smtp.example.com", From: from}, true, ""},
		"no sender":                {email.Settings{URL: "smtp://localhost"}, true, "MAIL_FROM"},
		"two senders":              {email.Settings{URL: "smtp://localhost", From: "a@example.com, b@example.com"}, true, "MAIL_FROM"},
		"sender with a line":       {email.Settings{URL: "smtp://localhost", From: "a@example.com\r\nBcc: b@example.com"}, true, "MAIL_FROM"},
		"unknown scheme":           {email.Settings{URL: "http://localhost", From: from}, true, "MAIL_URL"},
		"no scheme":                {email.Settings{URL: "smtp.example.com:587", From: from}, true, "MAIL_URL"},
		"no slashes":               {email.Settings{URL: "smtp:localhost", From: from}, true, "MAIL_URL"},
		"no host":                  {email.Settings{URL: "smtp://u:p@", From: from}, true, "MAIL_URL"},
		"port 0":                   {email.Settings{URL: "smtp://localhost:0", From: from}, true, "MAIL_URL"},
		"port 65536":               {email.Settings{URL: "smtp://localhost:65536", From: from}, true, "MAIL_URL"},
		"slash in the password":    {email.Settings{URL: "smtp://u:hunter2/x@localhost", From: from}, true, "MAIL_URL"},
		"question in the password": {email.Settings{URL: "smtp://u:25?hunter2@localhost", From: from}, true, "MAIL_URL"},
		"hash in the password":     {email.Settings{URL: "smtp://u:25#hunter2@localhost", From: from}, true, "MAIL_URL"},
		"path":                     {email.Settings{URL: "smtp://localhost/hunter2", From: from}, true, "MAIL_URL"},
		"broken percent":           {email.Settings{URL: "smtp://u:hunter2%zz@localhost", From: from}, true, "MAIL_URL"},
		"user alone":               {email.Settings{URL: "smtp://hunter2@localhost", From: from}, true, "MAIL_URL"},
		"sendgrid":                 {email.Settings{URL: "sendgrid://SG.hunter2", SendGridURL: "https://api.eu.sendgrid.com/", From: from}, true, ""},
		"key alone":                {email.Settings{SendGridKey: "SG.hunter2", SendGridURL: "https://api.sendgrid.com", From: from}, true, ""},
		"both halves":              {email.Settings{URL: "sendgrid:", SendGridKey: "SG.hunter2", SendGridURL: "https://api.sendgrid.com", From: from}, true, ""},
		"SMTP before the key":      {email.Settings{URL: "smtp://localhost", SendGridKey: "SG.hunter2", From: from}, true, ""},
		"log before the key":       {email.Settings{URL: "log:", SendGridKey: "SG.hunter2"}, false, ""},
		"sendgrid without a key":   {email.Settings{URL: "sendgrid://", SendGridURL: "https://api.sendgrid.com", From: from}, true, "MAIL_URL"},
		"key with a line":          {email.Settings{SendGridKey: "SG.hunter2\nX: y", SendGridURL: "https://api.sendgrid.com", From: from}, true, "SENDGRID_KEY"},
		"key in the clear":         {email.Settings{SendGridKey: "SG.hunter2", SendGridURL: "http://api.sendgrid.com", From: from}, true, "SENDGRID_URL"},
		"API with a path":          {email.Settings{SendGridKey: "SG.hunter2", SendGridURL: "https://api.sendgrid.com/v3", From: from}, true, "SENDGRID_URL"},
		"API of another's":         {email.Settings{SendGridKey: "SG.hunter2", SendGridURL: "https://api.sendgrid.com@evil.example", From: from}, true, "SENDGRID_URL"},
		"all at once":              {email.Settings{URL: "x", From: "x"}, true, "MAIL_FROM MAIL_URL"},
	} {
		wrong := check(c.config)
		if names := strings.Join(slices.Sorted(maps.Keys(wrong)), " "); names != c.wrong {
			t.Errorf("%s: invalid settings %q, want %q: %v", name, names, c.wrong, wrong)
		}
		for setting, what := range wrong {
			if strings.Contains(what, "hunter2") || !strings.Contains(what, "for example "+setting+"=") && !strings.Contains(what, "for example MAIL_URL=") {
				t.Errorf("%s: %s %s", name, setting, what)
			}
		}
		if c.config.Sends() != c.sends {
			t.Errorf("%s: sends is %v", name, !c.sends)
		}
		if _, err := email.New(c.config, email.Options{}); (err == nil) != (len(wrong) == 0) || err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: New: %v", name, err)
		}
	}
}
