package passkey_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/modules/passkey"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/authenticator"
)

type request = testkit.Request

const mine = "/users/me/passkeys"

// device returns a platform authenticator behind a page of the service.
func device() *authenticator.Authenticator {
	return &authenticator.Authenticator{Origin: testkit.LinkOrigin}
}

// options requests options. params has the parameters of the next request, without the credential.
func options(t *testing.T, api *testkit.API, path, as string) (params map[string]any, publicKey any) {
	t.Helper()
	response := api.Do(request{Method: "POST", Path: path, As: as})
	body := response.JSON(200)
	if cache := response.Header.Get("Cache-Control"); cache != "no-store" {
		t.Errorf("options with Cache-Control %q", cache)
	}
	return map[string]any{"challenge": body["challenge"]}, body["publicKey"]
}

// register registers a passkey of a user, and returns the response.
func register(t *testing.T, api *testkit.API, a testkit.Account, d *authenticator.Authenticator) testkit.Response {
	t.Helper()
	params, publicKey := options(t, api, mine+"/options", a.Token)
	credential, err := d.Create(publicKey)
	if err != nil {
		t.Fatal(err)
	}
	params["credential"] = credential
	return api.Do(request{Method: "POST", Path: mine, As: a.Token, JSON: params})
}

// signIn signs in with the newest passkey of an authenticator.
func signIn(t *testing.T, api *testkit.API, d *authenticator.Authenticator) testkit.Response {
	t.Helper()
	return api.Do(request{Method: "POST", Path: "/auth/passkey", JSON: assertion(t, api, d)})
}

// assertion returns the parameters of a sign-in.
func assertion(t *testing.T, api *testkit.API, d *authenticator.Authenticator) map[string]any {
	t.Helper()
	params, publicKey := options(t, api, "/auth/passkey/options", testkit.MasterKey)
	credential, err := d.Get(publicKey)
	if err != nil {
		t.Fatal(err)
	}
	params["credential"] = credential
	return params
}

func TestSequence(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, d := api.SignUp("user"), device()
	_, publicKey := options(t, api, mine+"/options", ada.Token)
	raw, _ := json.Marshal(publicKey)
	for _, part := range []string{`"residentKey":"required"`, `"userVerification":"required"`, `"rp":{"id":"example.com","name":"test"}`, `"credProps":true`, `"attestation":"none"`, `"timeout":300000`} {
		if !strings.Contains(string(raw), part) {
			t.Errorf("the options do not have %s: %s", part, raw)
		}
	}
	api.Do(request{Method: "GET", Path: mine, As: ada.Token}).Want(200, `{"rows":[],"count":0}`)
	created := register(t, api, ada, d)
	path := created.Header.Get("Location")
	if id, _ := created.JSON(201)["id"].(string); path != mine+"/"+id {
		t.Errorf("the Location is %q", path)
	}
	created.Want(201, `"name":"Passkey"`)
	created.Want(201, `"lastUsedAt":null`)
	created.Want(201, `"transports":["internal"]`)
	api.Do(request{Method: "PATCH", Path: path, As: ada.Token, Form: url.Values{"name": {"Ada's phone"}}}).Want(200, `"name":"Ada's phone"`)
	api.Do(request{Method: "PATCH", Path: path, As: ada.Token, Form: url.Values{"name": {""}}}).Want(400, `"required"`)

	api.Clock.Advance(time.Minute)
	in := signIn(t, api, d)
	in.Want(201, ada.Email)
	token := in.JSON(201)["token"].(string)
	api.Do(request{Method: "GET", Path: "/auth/sessions?fields=amr&limit=1", As: token}).Want(200, `"amr":["hwk","mfa"]`)
	one := api.Do(request{Method: "GET", Path: path, As: token})
	if one.JSON(200)["lastUsedAt"] == nil {
		t.Errorf("lastUsedAt is not set: %s", one.Body)
	}
	api.Do(request{Method: "GET", Path: mine, As: ada.Token}).Want(200, `"count":1`)
	api.Do(request{Method: "DELETE", Path: path, As: token}).Want(204)
	api.Do(request{Method: "GET", Path: mine, As: token}).Want(200, `"count":0`)
	api.Do(request{Method: "GET", Path: mine, As: ada.Token}).Want(401) // the other session has ended
	signIn(t, api, d).Want(401, "was not accepted")
}

// TestAuthenticators registers a passkey and signs in with it, for each property of an authenticator.
func TestAuthenticators(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("PASSKEY_ORIGINS", testkit.LinkOrigin+","+android))
	type edit func(*authenticator.Authenticator)
	for _, test := range []struct {
		name       string
		register   edit
		registered int
		signIn     edit
		signedIn   int
	}{
		{"platform", nil, 201, nil, 201},
		{"roaming, with a counter", func(d *authenticator.Authenticator) { d.Roaming, d.Counter = true, 7 }, 201, func(d *authenticator.Authenticator) { d.Counter++ }, 201},
		{"registered without user verification", func(d *authenticator.Authenticator) { d.NotVerified = true }, 400, nil, 0},
		{"signs in without user verification", nil, 201, func(d *authenticator.Authenticator) { d.NotVerified = true }, 401},
		{"not resident", func(d *authenticator.Authenticator) { d.NotResident = true }, 400, nil, 0},
		{"backed up", func(d *authenticator.Authenticator) { d.BackupEligible, d.BackupState = true, true }, 201, nil, 201},
		{"becomes eligible", nil, 201, func(d *authenticator.Authenticator) { d.BackupEligible = true }, 201},
		{"becomes eligible and backed up", nil, 201, func(d *authenticator.Authenticator) { d.BackupEligible, d.BackupState = true, true }, 201},
		{"becomes ineligible", func(d *authenticator.Authenticator) { d.BackupEligible, d.BackupState = true, true }, 201, func(d *authenticator.Authenticator) { d.BackupEligible, d.BackupState = false, false }, 201},
		{"backed up later", func(d *authenticator.Authenticator) { d.BackupEligible = true }, 201, func(d *authenticator.Authenticator) { d.BackupState = true }, 201},
		{"backed up although ineligible, at registration", func(d *authenticator.Authenticator) { d.BackupState = true }, 400, nil, 0},
		{"backed up although ineligible, at sign-in", nil, 201, func(d *authenticator.Authenticator) { d.BackupState = true }, 401},
		{"a counter that goes back", func(d *authenticator.Authenticator) { d.Counter = 7 }, 201, func(d *authenticator.Authenticator) { d.Counter = 6 }, 401},
		{"a counter that stays", func(d *authenticator.Authenticator) { d.Counter = 7 }, 201, nil, 401},
		{"a counter that is lost", func(d *authenticator.Authenticator) { d.Counter = 7 }, 201, func(d *authenticator.Authenticator) { d.Counter = 0 }, 401},
		{"a null user handle", nil, 201, func(d *authenticator.Authenticator) { d.NoUserHandle = true }, 401},
		{"an empty user handle", nil, 201, func(d *authenticator.Authenticator) { d.UserHandle = []byte{} }, 401},
		{"another user handle", nil, 201, func(d *authenticator.Authenticator) { d.UserHandle = []byte("another user") }, 401},
		{"registered from another origin", func(d *authenticator.Authenticator) { d.Origin = "https://app.example.com.attacker.example" }, 400, nil, 0},
		{"registered from a page below it", func(d *authenticator.Authenticator) { d.Origin = "https://attacker.app.example.com" }, 400, nil, 0},
		{"registered from http", func(d *authenticator.Authenticator) { d.Origin = "http://app.example.com" }, 400, nil, 0},
		{"signs in from another origin", nil, 201, func(d *authenticator.Authenticator) { d.Origin = "https://example.com" }, 401},
		{"the origin in another spelling", func(d *authenticator.Authenticator) { d.Origin = "https://APP.example.com:443" }, 201, nil, 201},
		{"registered for another domain", func(d *authenticator.Authenticator) { d.RPID = "app.example.com" }, 400, nil, 0},
		{"signs in for another domain", nil, 201, func(d *authenticator.Authenticator) { d.RPID = "com" }, 401},
		{"an Android app", func(d *authenticator.Authenticator) { d.Origin = android }, 201, nil, 201},
		{"another Android app", nil, 201, func(d *authenticator.Authenticator) { d.Origin = android + "x" }, 401},
		{"an Android app in another case", nil, 201, func(d *authenticator.Authenticator) { d.Origin = strings.ToLower(android) }, 401},
	} {
		t.Run(test.name, func(t *testing.T) {
			ada, d := api.SignUp("user"), device()
			if test.register != nil {
				test.register(d)
			}
			response := register(t, api, ada, d)
			response.Want(test.registered)
			if test.registered != 201 {
				response.Want(400, `"param":"credential","code":"wrong"`)
				api.Do(request{Method: "GET", Path: mine, As: ada.Token}).Want(200, `"count":0`)
				return
			}
			if test.signIn != nil {
				test.signIn(d)
			}
			signIn(t, api, d).Want(test.signedIn)
		})
	}
}

// android is the origin of an app.
const android = "android:apk-key-hash:fRBDRz1Vv6kOhTDTWAHU44G8afChsuMtTfYHGClLXGw"

// TestBackupFlags checks that changes of the backup flags are stored, and that a change of the eligibility is logged.
func TestBackupFlags(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, d := api.SignUp("user"), device()
	register(t, api, ada, d).Want(201, `"backupEligible":false,"backupState":false`)
	d.BackupEligible, d.BackupState = true, true
	signIn(t, api, d).Want(201)
	api.Do(request{Method: "GET", Path: mine, As: ada.Token}).Want(200, `"backupEligible":true,"backupState":true`)
	if n := strings.Count(api.Log.String(), "the backup eligibility of a passkey has changed"); n != 1 {
		t.Errorf("the log has %d lines about it", n)
	}
	d.BackupState = false
	signIn(t, api, d).Want(201)
	if n := strings.Count(api.Log.String(), "the backup eligibility of a passkey has changed"); n != 1 {
		t.Errorf("after another sign-in, the log has %d lines about it", n)
	}
}

// TestChallenges uses challenges twice, too late, for another purpose and for another user.
func TestChallenges(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	second := api.Instance()
	ada, eve, d := api.SignUp("user"), api.SignUp("user"), device()
	create := func(api *testkit.API, as string, params map[string]any, publicKey any) testkit.Response {
		d = device()
		credential, err := d.Create(publicKey)
		if err != nil {
			t.Fatal(err)
		}
		params["credential"] = credential
		return api.Do(request{Method: "POST", Path: mine, As: as, JSON: params})
	}
	const wrong = `"param":"challenge","code":"wrong"`
	params, publicKey := options(t, api, mine+"/options", ada.Token)
	create(second, eve.Token, params, publicKey).Want(400, wrong)
	create(second, ada.Token, params, publicKey).Want(201) // on another instance
	create(api, ada.Token, params, publicKey).Want(400, wrong)
	params, publicKey = options(t, api, mine+"/options", ada.Token)
	api.Clock.Advance(5 * time.Minute)
	create(api, ada.Token, params, publicKey).Want(400, wrong)
	ada.Session = api.SignIn(ada.Email, testkit.Password) // for the step-up
	_, publicKey = options(t, api, mine+"/options", ada.Token)
	params, _ = options(t, api, mine+"/options", ada.Token)
	create(api, ada.Token, params, publicKey).Want(400, `"param":"credential","code":"wrong"`)

	register(t, api, ada, device()).Want(201)
	d = device()
	register(t, api, ada, d).Want(201)
	in := assertion(t, api, d)
	second.Do(request{Method: "POST", Path: "/auth/passkey", JSON: in}).Want(201)
	api.Do(request{Method: "POST", Path: "/auth/passkey", JSON: in}).Want(401, "unauthorized")
	in = assertion(t, api, d)
	api.Clock.Advance(5 * time.Minute)
	api.Do(request{Method: "POST", Path: "/auth/passkey", JSON: in}).Want(401, "unauthorized")
	ada.Session = api.SignIn(ada.Email, testkit.Password)
	registration, _ := options(t, api, mine+"/options", ada.Token)
	in["challenge"] = registration["challenge"]
	api.Do(request{Method: "POST", Path: "/auth/passkey", JSON: in}).Want(401, "unauthorized")

	api.Clock.Advance(24 * time.Hour)
	api.RunJobs()
	if n := api.Count("passkey-challenges"); n != 0 {
		t.Errorf("%d challenges are left", n)
	}
}

// TestConcurrentUse signs in with one challenge many times concurrently, on two instances.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	instances := []*testkit.API{api, api.Instance()}
	d := device()
	register(t, api, api.SignUp("user"), d).Want(201)
	in := assertion(t, api, d)
	var wg sync.WaitGroup
	statuses := make([]int, 8)
	for i := range statuses {
		wg.Go(func() {
			statuses[i] = instances[i%2].Do(request{Method: "POST", Path: "/auth/passkey", JSON: in}).Status
		})
	}
	wg.Wait()
	accepted := 0
	for _, status := range statuses {
		if status == 201 {
			accepted++
		} else if status != 401 {
			t.Errorf("status %d", status)
		}
	}
	if accepted != 1 {
		t.Errorf("%d sign-ins with one challenge", accepted)
	}
}

// TestAnotherUser signs in with the credential of another user, and registers the credential of another user.
func TestAnotherUser(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve, d := api.SignUp("user"), api.SignUp("user"), device()
	registered := register(t, api, ada, d)
	registered.Want(201)
	in := assertion(t, api, d)
	credential := in["credential"].(authenticator.Credential)

	attacker := device()
	register(t, api, eve, attacker).Want(201)
	forged := assertion(t, api, attacker)
	own := forged["credential"].(authenticator.Credential)
	own.ID, own.RawID, own.Response["userHandle"] = credential.ID, credential.RawID, credential.Response["userHandle"]
	forged["credential"] = own
	api.Do(request{Method: "POST", Path: "/auth/passkey", JSON: forged}).Want(401, "unauthorized")

	unknown := device()
	_, publicKey := options(t, api, mine+"/options", ada.Token)
	if _, err := unknown.Create(publicKey); err != nil { // not registered
		t.Fatal(err)
	}
	signIn(t, api, unknown).Want(401, "unauthorized")

	if _, publicKey := options(t, api, mine+"/options", ada.Token); publicKey.(map[string]any)["excludeCredentials"] == nil {
		t.Error("the options do not exclude the passkey")
	} else if _, err := d.Create(publicKey); err == nil {
		t.Error("the authenticator registers twice")
	}
}

// TestSuspended signs in a suspended user.
func TestSuspended(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, admin, d := api.SignUp("user"), api.SignUp("admin"), device()
	register(t, api, ada, d).Want(201)
	suspend := request{Method: "PATCH", Path: "/users/" + ada.ID, As: admin.Token, Form: url.Values{"suspended": {"true"}}}
	api.Do(suspend).Want(200)
	signIn(t, api, d).Want(403, "suspended")
}

// TestMaximum registers passkeys until an account has too many, the last passkeys concurrently.
func TestMaximum(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	id, _ := store.ParseID(ada.ID)
	for i := range 18 {
		testkit.Insert(api, "passkeys", passkey.Passkey{Meta: store.NewMeta(store.NewID(), store.At(api.Clock.Now())), UserID: id, CredentialID: fmt.Sprint(i)})
	}
	var pending []request
	for range 5 {
		params, publicKey := options(t, api, mine+"/options", ada.Token)
		params["credential"], _ = device().Create(publicKey)
		pending = append(pending, request{Method: "POST", Path: mine, As: ada.Token, JSON: params})
	}
	var wg sync.WaitGroup
	for _, r := range pending {
		wg.Go(func() { api.Do(r) })
	}
	wg.Wait()
	if n := api.Count("passkeys"); n > 20 {
		t.Errorf("%d passkeys", n)
	}
	for api.Count("passkeys") < 20 { // concurrent requests can all be rejected
		register(t, api, ada, device()).Want(201)
	}
	api.Do(request{Method: "POST", Path: mine + "/options", As: ada.Token}).Want(409, "20 passkeys")
}

// TestAdmin removes a passkey of a user as an admin.
func TestAdmin(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, admin, d := api.SignUp("user"), api.SignUp("admin"), device()
	id := register(t, api, ada, d).JSON(201)["id"].(string)
	path := "/users/" + ada.ID + "/passkeys"
	api.Do(request{Method: "GET", Path: path, As: admin.Token}).Want(200, `"count":1`)
	api.Do(request{Method: "DELETE", Path: "/users/" + admin.ID + "/passkeys/" + id, As: admin.Token}).Want(404, "not_found")
	api.Do(request{Method: "DELETE", Path: path + "/" + id, As: admin.Token}).Want(204)
	api.Do(request{Method: "DELETE", Path: path + "/" + id, As: admin.Token}).Want(404, "not_found")
	signIn(t, api, d).Want(401, "unauthorized")
}

// TestNotices checks the emails to a user whose passkeys change, or may have been copied.
func TestNotices(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("SECURITY_NOTICES", "true"))
	ada, admin, d := api.SignUp("user"), api.SignUp("admin"), device()
	next := func(event string) {
		t.Helper()
		if message := api.Email.Next(t); !strings.Contains(message.Text, event) || message.To != ada.Email {
			t.Errorf("the notice to %s is %s, want %q", message.To, message.Text, event)
		}
	}
	d.Counter = 7
	path := register(t, api, ada, d).Header.Get("Location")
	next("passkey was added")
	d.Counter = 6
	signIn(t, api, d).Want(401, "unauthorized")
	next("may have copied the passkey")
	api.Do(request{Method: "DELETE", Path: path, As: ada.Token}).Want(204)
	next("passkey was removed")
	id := register(t, api, ada, device()).JSON(201)["id"].(string)
	next("passkey was added")
	api.Do(request{Method: "DELETE", Path: "/users/" + ada.ID + "/passkeys/" + id, As: admin.Token}).Want(204)
	next("An administrator removed")
	api.Finish()
	api.Email.None(t)
}

// TestDeletedWithUser deletes a user with a passkey and a pending registration.
func TestDeletedWithUser(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, d := api.SignUp("user"), device()
	register(t, api, ada, d).Want(201)
	options(t, api, mine+"/options", ada.Token)
	api.Do(request{Method: "DELETE", Path: "/users/me", As: ada.Token}).Want(204)
	signIn(t, api, d).Want(401, "unauthorized")
	if n := api.Count("passkeys"); n != 0 {
		t.Errorf("%d passkeys are left", n)
	}
}

// TestOff calls a service without the settings of passkeys.
func TestOff(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, d := api.SignUp("user"), device()
	register(t, api, ada, d).Want(201)
	off := api.Instance(testkit.Env("PASSKEY_RP_ID", ""), testkit.Env("PASSKEY_ORIGINS", ""))
	off.Do(request{Method: "POST", Path: mine + "/options", As: ada.Token}).Want(501, "PASSKEY_RP_ID")
	off.Do(request{Method: "POST", Path: "/auth/passkey/options", As: testkit.MasterKey}).Want(501, "PASSKEY_RP_ID")
	off.Do(request{Method: "POST", Path: "/auth/passkey", JSON: assertion(t, api, d)}).Want(501, "PASSKEY_RP_ID")
	list := off.Do(request{Method: "GET", Path: mine, As: ada.Token}).JSON(200)
	id := list["rows"].([]any)[0].(map[string]any)["id"].(string)
	off.Do(request{Method: "DELETE", Path: mine + "/" + id, As: ada.Token}).Want(204)
}
