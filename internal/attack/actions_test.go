package attack_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pquerna/otp/totp"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	apikey "example.com/ginseng/modules/api-key"
	emailcode "example.com/ginseng/modules/email-code"
	emailverification "example.com/ginseng/modules/email-verification"
	passwordreset "example.com/ginseng/modules/password-reset"
	"example.com/ginseng/modules/user"
)

// actions are what a person can do with an account. Each returns false if the person cannot do it, or if it would change
// nothing: then nothing has changed.
var actions = map[string]func(s *scene, p *person) bool{
	"change": func(s *scene, p *person) bool { // asks for a change to one of their addresses
		to := p.mailboxes[0]
		if s.user().Email == to {
			to = p.mailboxes[1]
		}
		caller, ok := s.withPassword(p)
		if !ok || len(s.live(p, "change")) > 0 {
			return false
		}
		_, err := s.verifications.RequestChange(s.ctx, s.client, caller, emailverification.ChangeInput{Email: to, Link: verifyLink})
		return err == nil
	},
	"confirm": func(s *scene, p *person) bool { return s.follow(first(s.live(p, "change"))) },
	"undo":    func(s *scene, p *person) bool { return s.follow(first(s.live(p, "undo"))) },
	"undo the last": func(s *scene, p *person) bool {
		links := s.live(p, "undo")
		return len(links) > 1 && s.follow(links[len(links)-1:])
	},
	"reset": func(s *scene, p *person) bool {
		if !slices.Contains(p.mailboxes[:], s.user().Email) {
			return false
		}
		links := s.live(p, "reset")
		if len(links) == 0 {
			links = s.ask(p)
		}
		pass := fmt.Sprintf("%s %d", p.name, s.numbers)
		if _, err := s.resets.Complete(s.ctx, s.client, links[0].token, pass); err != nil {
			return false
		}
		s.password, p.passwords = pass, append(p.passwords, pass)
		return true
	},
	"link": func(s *scene, p *person) bool {
		caller, ok := s.withSession(p)
		if !ok || s.linkedTo() == p {
			return false
		}
		_, err := s.provider(caller, p)
		if err != nil && !apperr.Is(err, apperr.SecondFactorRequired) {
			return false
		}
		s.linked = p
		return true
	},
	"unlink": func(s *scene, p *person) bool {
		caller, ok := s.withSession(p)
		return ok && s.social.Unlink(s.ctx, caller, "github") == nil
	},
	"enrol": func(s *scene, p *person) bool {
		withPassword, ok := s.withPassword(p)
		if _, err := s.factors.Get(s.ctx, s.id); !ok || err != nil {
			return false
		}
		caller, ok := s.withSession(p)
		if !ok {
			return false
		}
		enrolment, err := s.factors.Create(s.ctx, withPassword)
		if err != nil {
			return false
		}
		code, _ := totp.GenerateCode(enrolment.Secret, s.clock.Now()) // the secret is valid
		if _, _, err := s.factors.Confirm(s.ctx, caller, s.client, code); err != nil {
			return false
		}
		p.secret, s.factor, s.enrolled = enrolment.Secret, p, s.numbers
		return true
	},
	"create a key": func(s *scene, p *person) bool {
		caller, ok := s.withPassword(p)
		if !ok {
			caller, ok = s.withSession(p)
		}
		if factor, err := s.factors.Get(s.ctx, s.id); !ok || s.hasKey(p) || err != nil || factor.Enabled && s.factor != p {
			return false
		}
		created, err := s.keys.Create(s.ctx, caller, apikey.CreateInput{Name: p.name, Scopes: []string{"*:read"}})
		p.key = created.Key
		return err == nil
	},
	"sign in": func(s *scene, p *person) bool {
		if _, ok := s.withSession(p); ok || !slices.Contains(p.passwords, s.password) {
			return false
		}
		in, _, err := s.sessions.SignIn(s.ctx, s.client, s.user().Email, s.password)
		in, err = s.pass(p, in, err)
		if err == nil {
			p.session = in
		}
		return err == nil
	},
	"sign in with GitHub": func(s *scene, p *person) bool {
		u := s.user()
		byAddress := s.linkedTo() == nil && u.EmailVerified && u.Email == p.mailboxes[0] // otherwise it is another account
		if _, ok := s.withSession(p); ok || s.linkedTo() != p && !byAddress {
			return false
		}
		in, err := s.provider(access.Principal{}, p)
		if err == nil {
			p.session = in
		}
		if byAddress && s.linkedTo() != nil { // also if the second factor is missing
			s.linked = p
			return true
		}
		return err == nil
	},
	"sign in with a code": func(s *scene, p *person) bool {
		before := s.user()
		if _, ok := s.withSession(p); ok || !slices.Contains(p.mailboxes[:], before.Email) {
			return false
		}
		in, _, err := s.codes.SignIn(s.ctx, s.client, s.askCode(p))
		in, err = s.pass(p, in, err)
		if err == nil {
			p.session = in
		}
		after := s.user()
		if !after.HasPassword() {
			s.password = ""
		}
		return err == nil || after.Epoch != before.Epoch // also if the second factor is missing
	},
	"register a passkey": func(s *scene, p *person) bool {
		caller, ok := s.withSession(p)
		return ok && !s.hasPasskey(p) && s.register(caller, p) == nil
	},
	"sign in with the passkey": func(s *scene, p *person) bool {
		if _, ok := s.withSession(p); ok || !s.hasPasskey(p) {
			return false
		}
		in, err := s.usePasskey(p)
		if err == nil {
			p.session = in
		}
		return err == nil
	},
	"delete": func(s *scene, p *person) bool {
		caller, ok := s.withSession(p)
		s.deleted = ok && s.users.Delete(s.ctx, caller, s.id, nil) == nil
		return s.deleted
	},
}

// adminChange is the action of an admin: to give the account the owner's address.
const adminChange = "admin: change"

var operator = access.Principal{UserID: store.NewID(), Role: access.RoleAdmin}

func (s *scene) adminChange() bool {
	to := s.owner.mailboxes[0]
	if s.user().Email == to {
		return false
	}
	caller := operator
	caller.AuthTime = s.clock.Now()
	_, err := s.users.Update(s.ctx, caller, s.id, nil, store.Patch[user.UpdateInput]{Fields: user.UpdateInput{Email: to}, Given: []string{"email"}})
	return err == nil
}

func first(links []link) []link { return links[:min(1, len(links))] }

// follow opens a link, if there is one.
func (s *scene) follow(links []link) bool {
	if len(links) == 0 {
		return false
	}
	u, err := s.verifications.Confirm(s.ctx, links[0].token)
	if err == nil && !u.HasPassword() {
		s.password = ""
	}
	return err == nil
}

// ask has a reset sent to the account's address, which is the person's, and returns its link.
func (s *scene) ask(p *person) []link {
	_, _ = s.resets.Create(s.ctx, s.client, passwordreset.CreateInput{Email: s.user().Email, Link: resetLink})
	s.read()
	return s.live(p, "reset")
}

// askCode has a code sent to the account's address, which is the person's, and returns it.
func (s *scene) askCode(p *person) emailcode.SignInInput {
	p.code = ""
	accepted, _, _ := s.codes.Request(s.ctx, s.client, s.user().Email)
	s.read()
	return emailcode.SignInInput{Challenge: accepted.Challenge, Code: p.code}
}

// linkedTo returns whose account at GitHub can sign in, or nil.
func (s *scene) linkedTo() *person {
	u := s.user()
	if list, err := s.social.List(s.ctx, access.Principal{UserID: u.ID, Epoch: u.Epoch}); err != nil || list.Count == 0 {
		return nil
	}
	return s.linked
}

// do makes an action, by its name. An attacker with the mailbox of the account also has a reset and a code sent, and keeps them.
func (s *scene) do(name string) bool {
	s.clock.Advance(time.Hour) // the limits do not count what happened before
	if s.deleted {
		return false
	}
	done := false
	if name == adminChange {
		done = s.adminChange()
	} else {
		who, what, _ := strings.Cut(name, ": ")
		if who == "intruder" {
			done = s.intrudes(what)
		}
		for _, p := range s.people() {
			if p.name == who {
				done = actions[what](s, p)
			}
		}
	}
	if !done {
		return false
	}
	s.read()
	for _, p := range s.attackers() {
		if !slices.Contains(p.mailboxes[:], s.user().Email) {
			continue
		}
		p.codes = append(p.codes, s.askCode(p))
		if len(s.live(p, "reset")) == 0 {
			s.ask(p)
		}
	}
	return true
}

// state describes all that decides what can happen next. Names, secrets and times differ between scenes with the same state.
func (s *scene) state() string {
	if s.deleted {
		return "deleted"
	}
	var b strings.Builder
	u := s.user()
	address := func(a string) string { return a[:strings.IndexByte(a, '-')] + a[strings.IndexByte(a, '@'):] }
	_, _ = fmt.Fprint(&b, address(u.Email), u.EmailVerified, u.LinksFrom == u.Epoch)
	if p := s.linkedTo(); p != nil {
		b.WriteString(" linked " + p.name)
	}
	factor, _ := s.factors.Get(s.ctx, s.id)
	type sent struct {
		number int
		text   string
	}
	var links []sent
	for _, p := range s.people() {
		_, signedIn := s.withSession(p)
		_, _ = fmt.Fprint(&b, " ", p.name, slices.Contains(p.passwords, s.password), signedIn, s.hasKey(p), s.hasPasskey(p))
		for _, l := range p.links {
			if !s.works(l) {
				continue
			}
			text := p.name + " " + l.purpose
			if l.purpose != "reset" {
				view, _ := s.verifications.Get(s.ctx, l.token)
				text += " " + address(view.Email)
			}
			links = append(links, sent{l.number, text})
		}
	}
	if factor.Enabled {
		links = append(links, sent{s.enrolled, "factor " + s.factor.name})
	}
	slices.SortStableFunc(links, func(a, b sent) int { return a.number - b.number })
	for _, l := range links {
		b.WriteString("; " + l.text)
	}
	return b.String()
}
