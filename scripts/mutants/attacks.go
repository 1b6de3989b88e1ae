package main

// attacks is the table: every attack, the defence against it, the test that makes it, and the service without the
// defence. The tests are those of internal/attack and, where they make the attack already, those of the modules.
func attacks() []attack {
	rows := [][]attack{tokens(), signingIn(), sessions(), bodies(), accounts(), resets(), providers(), logs()}
	var all []attack
	for _, theme := range rows {
		all = append(all, theme...)
	}
	return all
}

// Files that several rows change.
const (
	accessToken = "kit/access/token.go"
	authService = "modules/auth/service.go"
	guard       = "middleware/guard.go"
	decode      = "kit/input/decode.go"
	readBody    = "kit/input/read.go"
	userService = "modules/user/service.go"
	limiter     = "kit/ratelimit/ratelimit.go"
	guesses     = "kit/ratelimit/guess.go"
	attackTests = "internal/attack"
	authTests   = "modules/auth"
	accessTests = "kit/access"
)

func tokens() []attack {
	trustTokens := edit{
		authService, "session, err := s.sessions.all.Get(ctx, sessionID)\n",
		"session, err := s.sessions.all.Get(ctx, sessionID)\n\tif apperr.Is(err, apperr.NotFound) {\n\t\treturn access.Principal{UserID: userID, Role: access.RoleUser}, nil\n\t}\n",
	}
	return []attack{
		{
			name: "token without a signature", defence: "one algorithm, whatever the token names",
			pkg: attackTests, test: "TestTokenOfAnotherKind", says: `{"alg":"none","typ":"JWT"}`,
			edits: []edit{
				{accessToken, "jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),", ""},
				{
					accessToken, "func(*jwt.Token) (any, error) { return t.secret, nil }",
					"func(token *jwt.Token) (any, error) {\nif token.Method == jwt.SigningMethodNone {\nreturn jwt.UnsafeAllowNoneSignatureType, nil\n}\nreturn t.secret, nil\n}",
				},
			},
		},
		{
			name: "token of another algorithm", defence: "one algorithm, whatever the token names",
			pkg: attackTests, test: "TestTokenOfAnotherKind", says: "a token signed with HS512",
			edits: []edit{{accessToken, "jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),", ""}},
		},
		{
			name: "token signed with a secret of the attacker's", defence: "a look at the signature",
			pkg: authTests, test: "TestForgedTokens", says: "another secret",
			edits: []edit{{
				accessToken, "if _, err := t.parser.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return t.secret, nil }); err != nil {",
				"if _, _, err := t.parser.ParseUnverified(token, &c); err != nil {",
			}},
		},
		{
			name: "expired token", defence: "a look at exp", pkg: authTests, test: "TestTokenExpires", says: "not expired",
			edits: []edit{{accessToken, "jwt.WithExpirationRequired(),", "jwt.WithoutClaimsValidation(),"}},
		},
		{
			name: "token without an end", defence: "the need for exp", pkg: accessTests, test: "TestVerifyRefuses", says: "no expiry",
			edits: []edit{{accessToken, "jwt.WithExpirationRequired(),", ""}},
		},
		{
			name: "token before its time", defence: "a look at nbf", pkg: attackTests, test: "TestTokenNotYetValid", says: "(nbf)",
			edits: []edit{{accessToken, "jwt.WithExpirationRequired(),", "jwt.WithoutClaimsValidation(),"}},
		},
		{
			name: "token after sign-out", defence: "a look at the session", pkg: attackTests, test: "TestTokenAfterSignOut", says: "the attack succeeded",
			edits: []edit{trustTokens},
		},
		{
			name: "token from before a password change", defence: "the epoch of the session", pkg: attackTests, test: "TestTokenAfterPasswordChange", says: "the attack succeeded",
			edits: []edit{{authService, "session.Epoch == u.Epoch && ", ""}},
		},
		{
			name: "token of a deleted user", defence: "a look at the session", pkg: attackTests, test: "TestTokenOfADeletedUser", says: "the attack succeeded",
			edits: []edit{trustTokens},
		},
		{
			name: "token of a demoted admin", defence: "the role as it is now", pkg: attackTests, test: "TestTokenOfADemotedAdmin", says: "the attack succeeded",
			edits: []edit{
				{authService, "Epoch: u.Epoch, Role: u.Role}, nil\n}", "Epoch: u.Epoch, Role: remembered(sessionID, u.Role)}, nil\n}\n\nvar roles sync.Map\n\nfunc remembered(id store.ID, role access.Role) access.Role {\n\tfirst, _ := roles.LoadOrStore(id, role)\n\treturn first.(access.Role)\n}"},
				{authService, "\t\"strings\"\n", "\t\"strings\"\n\t\"sync\"\n"},
			},
		},
		{
			name: "token for the session of another", defence: "the session's own user", pkg: authTests, test: "TestForgedTokens", says: "another user's session",
			edits: []edit{{authService, "session.UserID != userID || !s.open(session, u)", "!s.open(session, u)"}},
		},
		{
			name: "user token as master key", defence: "the kinds of credentials", pkg: attackTests, test: "TestUserTokenAsMasterKey", says: "where the master key is asked for",
			edits: []edit{{guard, "rule == access.Master && !p.Master:", "rule == access.Master && !p.Master && !p.IsUser():"}},
		},
		{
			name: "master key as user token", defence: "the kinds of credentials", pkg: attackTests, test: "TestMasterKeyAsUserToken", says: "to list users",
			edits: []edit{
				{guard, "(rule == access.User || rule == access.Admin) && !p.IsUser():", "(rule == access.User || rule == access.Admin) && !p.IsUser() && !p.Master:"},
				{guard, "rule == access.Admin && !p.IsAdmin():", "rule == access.Admin && !p.IsAdmin() && !p.Master:"},
			},
		},
		{
			name: "two credentials", defence: "the refusal of two that differ", pkg: attackTests, test: "TestTwoCredentials", says: "body and header: the attack succeeded",
			edits: []edit{{guard, "if given && candidate != text {", "if given {\n\t\t\t\tcontinue\n\t\t\t}\n\t\t\tif given && candidate != text {"}},
		},
	}
}

func signingIn() []attack {
	return []attack{
		{
			name: "who has an account, by the answer", defence: "one answer to both", pkg: attackTests, test: "TestWhoHasAnAccount", says: "the attacker can tell",
			edits: []edit{{
				userService, "if err != nil && !apperr.Is(err, apperr.NotFound) {\n\t\treturn u, false, err\n\t}\n\tright, outdated",
				"if apperr.Is(err, apperr.NotFound) {\n\t\treturn u, false, apperr.New(apperr.Unauthorized, \"There is no such account.\")\n\t}\n\tif err != nil {\n\t\treturn u, false, err\n\t}\n\tright, outdated",
			}},
		},
		{
			name: "who has an account, by the limit", defence: "limits for accounts that are not there", pkg: attackTests, test: "TestWhoHasAnAccount", says: "the attacker can tell 429",
			edits: []edit{{
				userService, "return right, err\n\t})", "if u.ID.IsZero() && err == nil {\n\t\t\terr = wrongPassword()\n\t\t}\n\t\treturn right, err\n\t})",
			}},
		},
		{
			name: "who has an account, by the time", defence: "a hash for nobody", pkg: "modules/user", test: "TestUnknownAddressCostsTheSame", says: "after 0 hashes",
			edits: []edit{{
				userService, "if err != nil && !apperr.Is(err, apperr.NotFound) {\n\t\treturn u, false, err\n\t}\n\tright, outdated",
				"if err != nil {\n\t\tif apperr.Is(err, apperr.NotFound) {\n\t\t\terr = nil\n\t\t}\n\t\treturn u, false, err\n\t}\n\tright, outdated",
			}},
		},
		{
			name: "brute force", defence: "a count of guesses", pkg: attackTests, test: "TestBruteForce", says: "guess 11: the attack succeeded",
			edits: []edit{{guesses, "return false, g.limiter.Take(context.WithoutCancel(ctx), keys...)", "return false, nil"}},
		},
		{
			name: "brute force, with sign-ins of one's own between", defence: "a counter for each account", pkg: attackTests, test: "TestBruteForce", says: "guess 11: the attack succeeded",
			edits: []edit{{userService, "guessesOfClient.Of(email, network)", "guessesOfClient.Of(network)"}},
		},
		{
			name: "brute force at another door", defence: "one counter for all doors", pkg: attackTests, test: "TestBruteForce", says: "at the change of a password: the attack succeeded",
			edits: []edit{{
				userService, "func (s *Service) VerifyPassword(ctx context.Context, client access.Client, email, pass string) (access.Principal, error) {\n\tu, err := s.Authenticate(ctx, client, email, pass)",
				"func (s *Service) VerifyPassword(ctx context.Context, client access.Client, email, pass string) (access.Principal, error) {\n\tu, right, err := s.verify(ctx, NormalEmail(email), pass)\n\tif err == nil && !right {\n\t\terr = wrongPassword()\n\t}",
			}},
		},
		{
			name: "brute force, many guesses at once", defence: "one guess at a time", pkg: attackTests, test: "TestBruteForceAtOnce", says: "the attack succeeded",
			edits: []edit{
				{guesses, "release, err := g.wait(ctx, account)\n\tif err != nil {\n\t\treturn false, err\n\t}\n\tdefer release()\n\t", ""},
				{guesses, "return false, g.limiter.Take(context.WithoutCancel(ctx), keys...)", "_ = g.limiter.Take(context.WithoutCancel(ctx), keys...)\n\t\treturn false, nil"},
			},
		},
		{
			name: "brute force with a made-up X-Forwarded-For", defence: "trust in named proxies alone", pkg: attackTests, test: "TestSpoofedAddress", says: "guess 11",
			edits: []edit{{"middleware/stack.go", "engine.SetTrustedProxies(o.TrustedProxies)", `engine.SetTrustedProxies(append(o.TrustedProxies, "0.0.0.0/0", "::/0"))`}},
		},
		{
			name: "brute force with a made-up hop before the proxy", defence: "the last hop that no proxy of ours added", pkg: attackTests, test: "TestSpoofedHops", says: "guess 11",
			edits: []edit{
				{"middleware/handle.go", "Address: c.ClientIP()", `Address: strings.Split(c.GetHeader("X-Forwarded-For"), ",")[0]`},
				{"middleware/handle.go", "\t\"strconv\"\n", "\t\"strconv\"\n\t\"strings\"\n"},
			},
		},
		{
			name: "brute force from all addresses of one network", defence: "a counter for each IPv6 network", pkg: attackTests, test: "TestManyAddressesOfOne", says: "guess 11",
			edits: []edit{{limiter, "prefix, err := ip.WithZone(\"\").Prefix(64)", "prefix, err := ip.WithZone(\"\").Prefix(128)"}},
		},
		{
			name: "one password for many accounts", defence: "a counter for each address", pkg: attackTests, test: "TestSpray", says: "account 101",
			edits: []edit{{userService, "others = []ratelimit.Key{guessesOfAddress.Of(network)}", ""}},
		},
		{
			name: "many accounts for one", defence: "a count of sign-ups", pkg: attackTests, test: "TestManySignUps", says: "account 21",
			edits: []edit{{userService, "return s.limits.Take(ctx, signups.Of(ratelimit.Network(client.Address)))", "return nil"}},
		},
		{
			name: "a flood of sign-ins", defence: "a bound on waiting hashes", pkg: "kit/password", test: "TestFlood", says: "one too many",
			edits: []edit{{
				"kit/password/password.go", "return nil, apperr.New(apperr.Unavailable, \"Too many people",
				"return func() {}, nil\n\t\treturn nil, apperr.New(apperr.Unavailable, \"Too many people",
			}},
		},
	}
}

func sessions() []attack {
	return []attack{
		{
			name: "refresh token used again", defence: "the end of a session whose token is replayed", pkg: authTests, test: "TestRefreshGrace", says: "after a replay",
			edits: []edit{{authService, "ended, err := s.sessions.all.Delete(ctx, store.And(store.Eq(\"id\", session.ID), store.Eq(\"current\", session.Current)))\n\t\tif err == nil && ended == 0 {\n\t\t\terr = store.ErrNotFound\n\t\t}\n\t\treturn token, cmp.Or(err, badRefreshToken())", "return token, cmp.Or(badRefreshToken())"}},
		},
		{
			name: "refresh token used again for ever", defence: "the end of the grace", pkg: authTests, test: "TestRefreshGrace", says: "after the grace",
			edits: []edit{
				{"modules/auth/token.go", "now.Sub(s.Rotated[first].At.Time).Abs() > grace", "now.Sub(s.Rotated[first].At.Time).Abs() > 1000*grace"},
			},
		},
		{
			name: "refresh token traded many times at once", defence: "one successor, whoever asks", pkg: authTests, test: "TestRefreshAtOnce", says: "two live successors",
			edits: []edit{{"modules/auth/token.go", "mac.Write([]byte(salt))\n\tmac.Sum(t.secret[:0])", "mac.Write([]byte(salt))\n\trand.Read(t.secret[:])"}},
		},
		{
			name: "refresh token from a stolen database", defence: "digests in place of tokens", pkg: attackTests, test: "TestStolenDatabase", says: "of sessions as a refresh token",
			edits: []edit{{"modules/auth/token.go", "sum := sha256.Sum256(b)\n\treturn encoding.EncodeToString(sum[:])", "return encoding.EncodeToString(b)"}},
		},
		{
			name: "password from a stolen database", defence: "hashes in place of passwords", pkg: attackTests, test: "TestStolenDatabase", says: "the attacker read a third password in users",
			edits: []edit{
				{"kit/password/password.go", "return format(h.memory, h.passes, lanes, salt, argon2.IDKey([]byte(password), salt, h.passes, h.memory, lanes, hashBytes)), nil", "return format(h.memory, h.passes, lanes, salt, argon2.IDKey([]byte(password), salt, h.passes, h.memory, lanes, hashBytes)) + \"$\" + password, nil"},
				{"kit/password/password.go", "if len(parts) != 6 ||", "if len(parts) < 6 ||"},
			},
		},
		{
			name: "session of another user", defence: "the caller's own sessions alone", pkg: authTests, test: "TestSessions", says: "status 204, want 404",
			edits: []edit{{authService, "s.ofCaller(caller, store.Eq(\"id\", id))", "store.Eq(\"id\", id)"}},
		},
		{
			name: "refresh after a password change", defence: "the epoch of the session", pkg: authTests, test: "TestRefreshEnds/password change", says: "the refresh token with 201",
			edits: []edit{{authService, "session.Epoch == u.Epoch && ", ""}},
		},
	}
}

func bodies() []attack {
	return []attack{
		{
			name: "operator for text", defence: "the declared type of each value", pkg: attackTests, test: "TestOperators", says: `title {"$gt":""}`,
			edits: []edit{{
				decode, "case *string:\n\t\tvar text string\n\t\tif json.Unmarshal(raw, &text) != nil {\n\t\t\treturn typeFault(\"text\")",
				"case *string:\n\t\tvar text string\n\t\tif json.Unmarshal(raw, &text) != nil {\n\t\t\treturn f.setText(string(raw), p)",
			}},
		},
		{
			name: "operator in a query", defence: "the list of what a query may name", pkg: attackTests, test: "TestOperators", says: "the hash, bit by bit",
			edits: []edit{{"kit/listing/parse.go", "case !slices.Contains(p.params, name):\n\t\t\tp.unknownParam(name)", "case !slices.Contains(p.params, name):"}},
		},
		{
			name: "pattern for text", defence: "words that are no patterns", pkg: attackTests, test: "TestOperators", says: "pattern",
			edits: []edit{{"kit/listing/parse.go", "filters = append(filters, store.Search(q))", "if q != \".*\" {\n\t\t\tfilters = append(filters, store.Search(q))\n\t\t}"}},
		},
		{
			name: "NUL in text", defence: "a look for U+0000", pkg: attackTests, test: "TestUnprintableText", says: "NUL in JSON: the attack succeeded",
			edits: []edit{{decode, "strings.ContainsRune(text, 0) || ", ""}},
		},
		{
			name: "text that is no UTF-8", defence: "a look at the encoding", pkg: attackTests, test: "TestUnprintableText", says: "no UTF-8 in a form",
			edits: []edit{{decode, "strings.ContainsRune(text, 0) || !utf8.ValidString(text)", "strings.ContainsRune(text, 0) || text == string(utf8.RuneError)"}},
		},
		{
			name: "key twice", defence: "the refusal of keys given twice", pkg: attackTests, test: "TestKeyTwice", says: "in JSON",
			edits: []edit{{readBody, "if _, twice := object[key]; twice {", "if _, twice := object[key]; twice && key == \"\" {"}},
		},
		{
			name: "wide JSON", defence: "a bound on parameters", pkg: attackTests, test: "TestDeepAndWide", says: "wide",
			edits: []edit{{readBody, "const maxParams = 1000", "const maxParams = 1 << 30"}},
		},
		{
			name: "deep JSON", defence: "a bound on depth, the library's", pkg: attackTests, test: "TestDeepAndWide", says: "deep: the attack succeeded",
			edits: []edit{{
				readBody, "if err := dec.Decode(&raw); err != nil {",
				"err = dec.Decode(&raw)\n\t\tif err != nil && bytes.Contains([]byte(err.Error()), []byte(\"max depth\")) {\n\t\t\treturn object, nil\n\t\t}\n\t\tif err != nil {",
			}},
		},
		{
			name: "body of 10 MB", defence: "a bound on bodies", pkg: attackTests, test: "TestHugeBody", says: "10 MiB from nobody",
			edits: []edit{
				{readBody, "if r.ContentLength > limit {", "if r.ContentLength > 1000*limit {"},
				{readBody, "case n > limit:", "case n > 1000*limit:"},
				{readBody, "io.LimitReader(body, limit+1)", "io.LimitReader(body, 64*limit+1)"},
			},
		},
		{
			name: "body without end", defence: "a count while it is read", pkg: attackTests, test: "TestHugeBody", says: "had the service take",
			edits: []edit{{readBody, "io.LimitReader(body, limit+1)", "io.LimitReader(body, 64*limit+1)"}},
		},
		{
			name: "password of 1 MB", defence: "a bound on passwords", pkg: attackTests, test: "TestHugePassword", says: "at sign-up",
			edits: []edit{{"modules/user/model.go", "`json:\"password\" trim:\"no\" validate:\"required,min=8,max=128,uncommon\" example:\"correct horse battery\"", "`json:\"password\" trim:\"no\" validate:\"required,min=8,uncommon\" example:\"correct horse battery\""}},
		},
	}
}

func accounts() []attack {
	return []attack{
		{
			name: "mass assignment of what nobody may choose", defence: "inputs that are not the record", pkg: attackTests, test: "TestMassAssignment", says: "the attacker chose epoch",
			edits: []edit{
				{"modules/user/model.go", "Role     string `json:\"role\" validate:\"omitempty,oneof=user admin\" enums:\"user,admin\"`\n} //	@name	UserCreate", "Role     string `json:\"role\" validate:\"omitempty,oneof=user admin\" enums:\"user,admin\"`\n\tEpoch    int64  `json:\"epoch\"`\n} //	@name	UserCreate"},
				{userService, "u.Role, u.Password = access.Role(cmp.Or(in.Role, string(access.RoleUser))), hash", "u.Role, u.Password = access.Role(cmp.Or(in.Role, string(access.RoleUser))), hash\n\tu.Epoch = in.Epoch"},
			},
		},
		{
			name: "mass assignment of an author", defence: "inputs that are not the record", pkg: attackTests, test: "TestMassAssignment", says: "the attacker chose userId",
			edits: []edit{
				{"modules/article/model.go", "type CreateInput struct {\n", "type CreateInput struct {\n\tUserID *store.ID `json:\"userId\"`\n"},
				{
					"modules/article/service.go", "a := in.document(store.NewMeta(s.newID(), store.At(s.now())), caller.UserID)\n",
					"a := in.document(store.NewMeta(s.newID(), store.At(s.now())), caller.UserID)\n\tif in.UserID != nil {\n\t\ta.UserID = *in.UserID\n\t}\n",
				},
			},
		},
		{
			name: "role of one's own at sign-up", defence: "the master key for roles", pkg: attackTests, test: "TestChooseARole", says: "at public sign-up: the attack succeeded",
			edits: []edit{{userService, "if in.Role != \"\" && !client.Trusted {", "if in.Role == \"root\" && !client.Trusted {"}},
		},
		{
			name: "role of one's own later", defence: "an admin for roles", pkg: attackTests, test: "TestChooseARole", says: "of herself: the attack succeeded",
			edits: []edit{{userService, "if in.Role != nil && !caller.IsAdmin() {", "if in.Role != nil && !caller.IsUser() {"}},
		},
		{
			name: "another user's record", defence: "a look at the owner", pkg: attackTests, test: "TestAnotherUsersRecords", says: "change an article: the attack succeeded",
			edits: []edit{{"kit/access/access.go", "if p.Is(owner) || p.IsAdmin() {", "if p.IsUser() {"}},
		},
		{
			name: "another user's password", defence: "a look at whose password was proved", pkg: attackTests, test: "TestAnotherUsersRecords", says: "set a password, by password: the attack succeeded",
			edits: []edit{{userService, "if !caller.Is(id) {", "if !caller.IsUser() {"}},
		},
		{
			name: "another user's e-mail", defence: "a view for everyone", pkg: attackTests, test: "TestAnotherUsersRecords", says: "a stranger: the attack succeeded",
			edits: []edit{{"modules/user/controller.go", "return middleware.Record(g, u.Meta, u.Public())", "return middleware.Record(g, u.Meta, u.View())"}},
		},
		{
			name: "cursor that was altered", defence: "the cursor's tag", pkg: attackTests, test: "TestForgedCursor", says: "the attack succeeded",
			edits: []edit{{"kit/listing/cursor.go", "if !ours {", "if !ours && len(c.keys) == 0 {"}},
		},
		{
			name: "page of another origin", defence: "the list of origins", pkg: "middleware", test: "TestManners", says: "origin https://evil.example.com",
			edits: []edit{{"middleware/stack.go", "AllowedOrigins: origins,", "AllowOriginFunc: func(string) bool { return true },"}},
		},
		{
			name: "another user's answer", defence: "the caller in the key", pkg: attackTests, test: "TestAnothersAnswer", says: "the attack succeeded",
			edits: []edit{{"middleware/idempotency.go", "callerName(c)+\"\\n\"+", ""}, {"middleware/idempotency.go", "// callerName tells callers apart, who may choose the same key: nobody by the address.\nfunc", "func"}},
		},
	}
}

func resets() []attack {
	const (
		service    = "modules/password-reset/service.go"
		link       = "modules/password-reset/link.go"
		model      = "modules/password-reset/model.go"
		letter     = "modules/password-reset/letter.go"
		resetTests = "modules/password-reset"
	)
	// A reset ends in two ways: by the epoch, in the write that sets the password, and by being deleted.
	anyEpoch := edit{userService, "current := store.And(store.Eq(\"id\", id), store.Eq(\"epoch\", epoch))", "current := store.Eq(\"id\", id)"}
	return []attack{
		{
			name: "reset used again", defence: "single use", pkg: resetTests, test: "TestShowAndComplete", says: "--- FAIL: TestShowAndComplete/replay",
			edits: []edit{anyEpoch, {service, "_ = s.resets.DeleteOf(ctx, u.ID)", ""}},
		},
		{
			name: "reset used many times at once", defence: "single use in one write", pkg: resetTests, test: "TestConcurrentComplete", says: "statuses",
			edits: []edit{anyEpoch},
		},
		{
			name: "reset after its time", defence: "an end", pkg: attackTests, test: "TestResetFromBefore", says: "a reset, after its time: the attack succeeded",
			edits: []edit{{service, "if err == nil && !s.now().Before(r.ExpiresAt.Time) || apperr.Is(err, apperr.NotFound) {", "if apperr.Is(err, apperr.NotFound) {"}},
		},
		{
			name: "reset from before a password change", defence: "the epoch of the reset", pkg: attackTests, test: "TestResetFromBefore", says: "a reset, after a change of the password: the attack succeeded",
			edits: []edit{anyEpoch},
		},
		{
			name: "reset from a stolen database", defence: "digests in place of tokens", pkg: attackTests, test: "TestStolenDatabase", says: "of resets as a reset",
			edits: []edit{{model, "sum := sha256.Sum256([]byte(token))\n\treturn hex.EncodeToString(sum[:])", "_, _ = sha256.New(), hex.DecodeString\n\treturn token"}},
		},
		{
			name: "account hijacked before its owner came, by a link", defence: "the end of links from before the reset", pkg: attackTests, test: "TestHijackedBefore", says: "her GitHub: the attack succeeded",
			edits: []edit{{userService, "store.Set(\"linksFrom\", epoch+1), ", ""}},
		},
		{
			name: "link with a stolen token", defence: "the end of links from before the reset", pkg: attackTests, test: "TestLinkWithAStolenToken", says: "the attack succeeded",
			edits: []edit{{userService, "store.Set(\"linksFrom\", epoch+1), ", ""}},
		},
		{
			name: "link to a host that the token makes", defence: "an origin that is the same whatever the token is", pkg: resetTests, test: "TestCheckLink", says: "https://app.e{token}ample.com/",
			edits: []edit{{"modules/password-reset/link.go", "|| other == nil || origin(u) != origin(other)", "|| other == nil"}},
		},
		{
			name: "master key handed to a provider", defence: "a look at the body's access_token", pkg: "modules/social", test: "TestBadProof", says: "is one of this service",
			edits: []edit{{guard, "if rule == access.Foreign {\n\t\tif err", "if rule < 0 {\n\t\tif err"}},
		},
		{
			name: "flood at an account by who may not guess", defence: "a look at the counters before waiting", pkg: "kit/ratelimit", test: "TestFloodOfTheLimited", says: "the attack succeeded",
			edits: []edit{{guesses, "if g.busy(account) {", "if g.busy(Key{}) {"}},
		},
		{
			name: "account hijacked before its owner came, by a session", defence: "the end of sessions with the reset", pkg: attackTests, test: "TestHijackedBefore", says: "her session: the attack succeeded",
			edits: []edit{{authService, "session.Epoch == u.Epoch && ", ""}},
		},
		{
			name: "link to another site", defence: "a list of origins", pkg: resetTests, test: "TestCheckLink", says: "https://evil.example/",
			edits: []edit{{link, "if slices.Contains(l.origins, origin(u)) ||", "if u.Host != \"\" || slices.Contains(l.origins, origin(u)) ||"}},
		},
		{
			name: "link to a site whose name begins like ours", defence: "whole origins", pkg: resetTests, test: "TestCheckLink", says: "https://app.example.com.evil.example/",
			edits: []edit{{
				link, "if slices.Contains(l.origins, origin(u)) ||",
				"if slices.ContainsFunc(l.origins, func(o string) bool { return strings.HasPrefix(origin(u), o) }) ||",
			}},
		},
		{
			name: "link that is a script", defence: "http and https alone", pkg: resetTests, test: "TestCheckLink", says: "javascript:",
			edits: []edit{{link, "(u.Scheme == \"http\" || u.Scheme == \"https\") && u.Hostname() != \"\" && u.User == nil", "u.User == nil"}},
		},
		{
			name: "link with a user name that looks like a site", defence: "no user names", pkg: resetTests, test: "TestCheckLink", says: "@",
			edits: []edit{{link, " && u.User == nil", ""}},
		},
		{
			name: "link that browsers read in another way", defence: "the characters of a URI alone", pkg: resetTests, test: "TestCheckLink", says: "\\",
			edits: []edit{{link, "if err != nil || strings.Trim(link, uriCharacters) != \"\" {", "if err != nil {"}},
		},
		{
			name: "HTML in a mail", defence: "words that are escaped, and names that are names", pkg: resetTests, test: "TestLetter", says: "<script>alert(1)</script>",
			edits: []edit{{letter, "return \"\"\n", "return name\n"}},
		},
		{
			name: "header in a mail", defence: "a look at the address and the subject", pkg: "kit/email", test: "TestInjection", says: `Bcc: eve@example.com": <nil>`,
			edits: []edit{{"kit/email/email.go", "strings.ContainsAny(m.Subject, \"\\r\\n\")", "strings.Contains(m.Subject, \"<\")"}},
		},
		{
			name: "mail to another address", defence: "mail to the stored address", pkg: attackTests, test: "TestMailToAnother", says: "the attack succeeded",
			edits: []edit{{service, "return newLetter(u, withToken(in.Link, token), s.ttl), nil", "u.Email = in.Email\n\t\treturn newLetter(u, withToken(in.Link, token), s.ttl), nil"}},
		},
		{
			name: "who has an account to reset, by the answer", defence: "one answer to all", pkg: attackTests, test: "TestWhoHasAnAccountToReset", says: "the attacker can tell",
			edits: []edit{{service, "return s.mails.Enqueue(ctx, s.job(in))", "if _, err := s.users.ByEmail(ctx, in.Email); err != nil {\n\t\treturn err\n\t}\n\treturn s.mails.Enqueue(ctx, s.job(in))"}},
		},
		{
			name: "who has an account to reset, by the time", defence: "an answer before the look", pkg: attackTests, test: "TestTimeOfReset", says: "the attack succeeded",
			edits: []edit{{service, "return s.mails.Enqueue(ctx, s.job(in))", "_, _ = s.users.ByEmail(ctx, in.Email)\n\treturn s.mails.Enqueue(ctx, s.job(in))"}},
		},
		{
			name: "mail to somebody without an account", defence: "mail to users alone", pkg: attackTests, test: "TestWhoHasAnAccountToReset", says: "a mail that nobody asked for, to ada@example.com",
			edits: []edit{{
				service, "u, err := s.users.ByEmail(ctx, in.Email)\n",
				"u, err := s.users.ByEmail(ctx, in.Email)\n\t\tif apperr.Is(err, apperr.NotFound) {\n\t\t\treturn &email.Message{To: in.Email}, nil\n\t\t}\n",
			}},
		},
		{
			name: "a flood of mails", defence: "a count of mails for each account", pkg: attackTests, test: "TestWhoHasAnAccountToReset", says: "a mail that nobody asked for",
			edits: []edit{{service, "if err := s.limits.Take(ctx, resetsOfAccount.Of(user.NormalEmail(in.Email))); err != nil {", "if err := error(nil); err != nil || resetsOfAccount.Max == 0 {"}},
		},
		{
			name: "a flood of requests for mails", defence: "a count for each address", pkg: resetTests, test: "TestPublicSignup", says: "status 202",
			edits: []edit{{service, "if err := s.limits.Take(ctx, requestsOfAddress.Of(ratelimit.Network(client.Address))); err != nil {", "if err := error(nil); err != nil {"}},
		},
	}
}

func providers() []attack {
	const (
		service  = "modules/social/service.go"
		google   = "modules/social/google.go"
		github   = "modules/social/github.go"
		facebook = "modules/social/facebook.go"
	)
	return []attack{
		{
			name: "token for another app, GitHub", defence: "GitHub's check of the token", pkg: attackTests, test: "TestProofOfAnotherApp", says: "a token for another app, github: the attack succeeded",
			edits: []edit{{github, "if err := g.check(ctx, token); err != nil {", "if err := error(nil); err != nil {"}},
		},
		{
			name: "token for another app, Google", defence: "a look at the audience", pkg: attackTests, test: "TestProofOfAnotherApp", says: "a token for another app, google: the attack succeeded",
			edits: []edit{{google, "case !slices.Contains(g.ids, info.Audience):", "case len(g.ids) == 0:"}},
		},
		{
			name: "token for another app, Facebook", defence: "debug_token and appsecret_proof", pkg: attackTests, test: "TestProofOfAnotherApp", says: "a token for another app, facebook: the attack succeeded",
			edits: []edit{
				{facebook, "userID, err := f.inspect(ctx, token)\n\tif err != nil {\n\t\treturn Profile{}, err\n\t}\n", ""},
				{facebook, " || me.ID != userID", ""},
				{facebook, "}, &me)\n", "}, &me)\n\tif me.Error.Code == graphBadParameter {\n\t\tstatus, err = f.get(ctx, \"/me\", url.Values{\"fields\": {\"id,name,email\"}, \"access_token\": {token}}, &me)\n\t}\n"},
			},
		},
		{
			name: "ID token for another app", defence: "a look at the whole audience", pkg: attackTests, test: "TestProofOfAnotherApp", says: "an ID token for ours and another app: the attack succeeded",
			edits: []edit{{google, "slices.ContainsFunc(token.Audience, foreign)", "slices.IndexFunc(token.Audience, foreign) == 0"}},
		},
		{
			name: "forged ID token", defence: "a look at the signature", pkg: attackTests, test: "TestForgedIDToken", says: "an ID token of another key: the attack succeeded",
			edits: []edit{{google, "SkipClientIDCheck:    true,", "SkipClientIDCheck:    true, InsecureSkipSignatureCheck: true,"}},
		},
		{
			name: "ID token of another issuer", defence: "a look at the issuer", pkg: attackTests, test: "TestForgedIDToken", says: "an ID token of another issuer: the attack succeeded",
			edits: []edit{{google, "SkipClientIDCheck:    true,", "SkipClientIDCheck:    true, SkipIssuerCheck: true,"}},
		},
		{
			name: "expired ID token", defence: "a look at the expiry", pkg: attackTests, test: "TestForgedIDToken", says: "an ID token expired: the attack succeeded",
			edits: []edit{{google, "SkipClientIDCheck:    true,", "SkipClientIDCheck:    true, SkipExpiryCheck: true,"}},
		},
		{
			name: "address that nobody verified", defence: "the need for a verified one", pkg: attackTests, test: "TestUnverifiedAddress", says: "the attack succeeded",
			edits: []edit{{service, "case !p.EmailVerified:", "case !p.EmailVerified && p.Subject == \"\":"}},
		},
		{
			name: "account that was made before its owner came", defence: "no link to an unverified user", pkg: attackTests, test: "TestSignedUpBefore", says: "the attack succeeded",
			edits: []edit{{service, "case err == nil && !u.EmailVerified:", "case err == nil && u.Email == \"\":"}},
		},
		{
			name: "address that looks like hers", defence: "lower case for ASCII alone", pkg: attackTests, test: "TestAddressThatLooksLikeHers", says: "the attack succeeded",
			edits: []edit{{"modules/user/model.go", "if r >= 'A' && r <= 'Z' {", "if r := strings.ToLower(string(r)); len(r) == 1 {\n\t\t\treturn rune(r[0])\n\t\t}\n\t\tif r >= 'A' && r <= 'Z' {"}},
		},
		{
			name: "same id at another provider", defence: "the provider in the key", pkg: attackTests, test: "TestSameIDElsewhere", says: "the attack succeeded",
			edits: []edit{{"modules/social/model.go", "return store.And(store.Eq(\"provider\", provider), store.Eq(\"subject\", subject))", "return store.Eq(\"subject\", subject)"}},
		},
		{
			name: "account of a deleted user", defence: "no identity without its user", pkg: attackTests, test: "TestAccountOfTheDeleted", says: "the attack succeeded",
			edits: []edit{
				{service, "if err == nil && i.Epoch >= u.LinksFrom {", "if apperr.Is(err, apperr.NotFound) {\n\t\treturn i, user.User{Meta: store.Meta{ID: i.UserID}}, nil\n\t}\n\tif err == nil && i.Epoch >= u.LinksFrom {"},
				{"modules/social/model.go", "_, err := i.all.Delete(ctx, store.Eq(\"userId\", userID))\n\treturn err", "return nil"},
			},
		},
		{
			name: "stolen code", defence: "the provider's look at the verifier", pkg: attackTests, test: "TestStolenCode", says: "no verifier, github: the attack succeeded",
			edits: []edit{{"kit/testkit/providers/grants.go", "return *g, g.verify(verifier)", "return *g, nil"}},
		},
		{
			name: "account of another user, linked", defence: "one user for each account", pkg: attackTests, test: "TestAnothersIdentity", says: "link hers to oneself: the attack succeeded",
			edits: []edit{{service, "case linked && owner.ID != u.ID:", "case linked && owner.ID.IsZero():"}},
		},
		{
			name: "account of another user, unlinked", defence: "the caller's own alone", pkg: attackTests, test: "TestAnothersIdentity", says: "unlink hers: the attack succeeded",
			edits: []edit{{service, "store.And(good(u), store.Eq(\"provider\", name))", "store.Eq(\"provider\", name)"}},
		},
		{
			name: "profile of the attacker's", defence: "a look at what a provider says", pkg: attackTests, test: "TestOverwrittenProfile", says: "the attacker's profile is",
			edits: []edit{{service, "Name: fitName(p.Name), Picture: s.fitPicture(p.Picture)", "Name: p.Name, Picture: p.Picture"}},
		},
	}
}

func logs() []attack {
	return []attack{
		{
			name: "secret in the log, from a query", defence: "log lines without the query", pkg: attackTests, test: "TestSecretsInTheLog", says: "the attacker read sign-in token in the log",
			edits: []edit{{"middleware/stack.go", "slog.String(\"route\", c.FullPath())", "slog.String(\"route\", c.Request.URL.String())"}},
		},
		{
			name: "secret in the log, from a header", defence: "log lines without headers", pkg: attackTests, test: "TestSecretsInTheLog", says: "the attacker read Basic of",
			edits: []edit{{"middleware/stack.go", "slog.String(\"requestId\", id),", "slog.String(\"requestId\", id), slog.Any(\"header\", c.Request.Header),"}},
		},
		{
			name: "secret in the log, from a body", defence: "log lines without bodies", pkg: attackTests, test: "TestSecretsInTheLog", says: "the attacker read the master key in the log",
			edits: []edit{{"middleware/stack.go", "if caller := Caller(c); caller.IsUser() {", "attrs = append(attrs, slog.Any(\"token\", values(c).Texts(credential)))\n\t\tif caller := Caller(c); caller.IsUser() {"}},
		},
		{
			name: "secret in the log, from a provider that fails", defence: "causes without addresses", pkg: attackTests, test: "TestSecretsInTheLog", says: "the attacker read token of google in the log",
			edits: []edit{{"modules/social/client.go", "if errors.As(cause, &withAddress) {", "if errors.As(cause, &withAddress) && withAddress.URL == \"\" {"}},
		},
		{
			name: "address in the log", defence: "causes that name nobody", pkg: attackTests, test: "TestSecretsInTheLog", says: "the attacker read her address in the log",
			edits: []edit{{"middleware/stack.go", "if caller := Caller(c); caller.IsUser() {", "name, _, _ := c.Request.BasicAuth()\n\t\tattrs = append(attrs, slog.String(\"name\", name))\n\t\tif caller := Caller(c); caller.IsUser() {"}},
		},
		{
			name: "forged line in the log", defence: "request ids that fit a log", pkg: attackTests, test: "TestForgedLogLine", says: "the attack succeeded",
			edits: []edit{{"middleware/stack.go", "id := incomingID(c.GetHeader(\"X-Request-Id\"))", "id := c.GetHeader(\"X-Request-Id\")"}},
		},
		{
			name: "secret in a span, from a path", defence: "spans of patterns", pkg: attackTests, test: "TestSecretsInTelemetry", says: "the attacker read a reset in a span",
			edits: []edit{{"kit/telemetry/request.go", "semconv.HTTPRoute(route)", "semconv.HTTPRoute(r.URL.Path)"}},
		},
		{
			name: "secret in a span, from a call of a provider", defence: "spans without the address of a call", pkg: attackTests, test: "TestSecretsInTelemetry", says: "the attacker read token of facebook in a span",
			edits: []edit{{"kit/telemetry/transport.go", "r.URL.Hostname()", "r.URL.String()"}},
		},
		{
			name: "metrics without end", defence: "one name for all methods that there are not", pkg: "kit/telemetry", test: "TestCardinality", says: "1000 series",
			edits: []edit{{"kit/telemetry/request.go", "return otherMethod", "return method"}},
		},
	}
}
