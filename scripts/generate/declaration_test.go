package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"example.com/ginseng/scripts/internal/registry"
)

// declareAll declares a resource, and fails on a mistake.
func declareAll(t testing.TB, args ...string) Resource {
	t.Helper()
	r, err := tryDeclare(runtime, true, args...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tryDeclare(module string, hasUser bool, args ...string) (Resource, error) {
	c, err := parseArguments(args)
	if err != nil {
		return Resource{}, err
	}
	var wrong mistakes
	r := declare(c, module, hasUser, &wrong)
	return r, wrong.Err()
}

// TestDeclaration checks the canonical form of declarations, also as a go:generate line.
func TestDeclaration(t *testing.T) {
	t.Parallel()
	for _, test := range [][2]string{
		{"note text", "note text:string"},
		{"note a:int:max=5:min=1:sort:required", "note a:int:required:sort:min=1:max=5"},
		{"--plural cacti octopus name", "octopus name:string --plural cacti"},
		{"cactus --plural=cacti name", "cactus name:string"},
		{"words a", "words a:string"},
		{"note a --methods list,create --no-owner --admin list", "note a:string --methods create,list --admin list --no-owner"},
		{"note a --public create --user list", "note a:string --user list --public create"},
		{"note a --owner", "note a:string"},
		{"note a:time:default=2026-01-02T16:04:05+01:00:sort b:url:default=https://a.example:80/x", "note a:time:sort:default=2026-01-02T15:04:05.000Z b:url:default=https://a.example:80/x"},
		{"note a:float:default=1e2:min=-.5", "note a:float:min=-0.5:default=100"},
		{"note a --own list,show --on-user-delete cascade", "note a:string --own list,show"},
		{"note a --on-user-delete clear", "note a:string --on-user-delete clear"},
		{"note a --under article", "note a:string --under article"},
		{"note a --changes --under article", "note a:string --changes --under article"},
		{"note a --under article --user delete,create,update", "note a:string --under article --user create,update,delete"},
		{"note a --under article --admin delete,create --methods list,delete,create", "note a:string --methods create,list,delete --under article --admin create,delete"},
		{"note a:decimal:default=12.5:max=20 b:json c:[]int:filter --own show,list", "note a:decimal:max=20:default=12.5 b:json c:[]int:filter --own list,show"},
		{"note a:enum(x,y):default=y b:ref(order) c:[]string:max=3", "note a:enum(x,y):default=y b:ref(order) c:[]string:max=3"},
		{"note a:ref(user) b:[]ref(user) c:ref(user):onDelete=restrict", "note a:ref(user):onDelete=clear b:[]ref(user):onDelete=clear c:ref(user):onDelete=restrict"},
		{"note a:ref(user):required:onDelete=restrict b:ref(user):required:onDelete=cascade", "note a:ref(user):required:onDelete=restrict b:ref(user):required:onDelete=cascade"},
		{"note a:ref(order):onDelete=restrict", "note a:ref(order)"},
		{"note a --own show,list --create server", "note a:string --create server --own list,show"},
		{"note a --owner --create server --admin delete --methods list,show,delete", "note a:string --methods list,show,delete --create server --admin delete --owner"},
		{"note a --create server --on-user-delete clear --owner", "note a:string --create server --owner --on-user-delete clear"},
		{"note a --create server --no-owner --admin update --public delete", "note a:string --create server --public delete"},
		{"note a --create server --user update,delete", "note a:string --create server --user update,delete"},
		{"note a:time:required:readonly b --create server --under order --admin update,delete", "note a:time:required:readonly b:string --create server --under order --admin update,delete"},
		{"note a:int:default=2:readonly b:string:readonly:filter c", "note a:int:readonly:default=2 b:string:filter:readonly c:string"},
		{"note a:time:readonly:required b --methods list,update", "note a:time:required:readonly b:string --methods list,update"},
		{"note a:file:doc=x:max=5GB b:image:types=image/png c:[]file:types=application/pdf,text/plain", "note a:file:max=5GB:doc=x b:image:types=image/png c:[]file:types=application/pdf,text/plain"},
		{"note a:int:sort:unique=global b:string:unique --own list,show", "note a:int:unique=global:sort b:string:unique --own list,show"},
	} {
		r := declareAll(t, strings.Fields(test[0])...)
		if got := strings.Join(r.Declaration(), " "); got != test[1] {
			t.Errorf("%s: %s, want %s", test[0], got, test[1])
		}
		if got := strings.Join(declareAll(t, r.Declaration()...).Declaration(), " "); got != test[1] {
			t.Errorf("%s is parsed as %s", test[1], got)
		}
	}
	r := declareAll(t, "note", "a:string:default=two words, and more:doc=The room: 2.14, or 2.15:filter", "--no-owner", "--doc", "Notes of a day.")
	if want := "a:string:filter:default=two words, and more:doc=The room: 2.14, or 2.15"; r.Fields[0].String() != want {
		t.Errorf("%s, want %s", r.Fields[0], want)
	}
	if got := registry.ReadDirective("package note\n\n" + r.Directive() + "\n"); !slices.Equal(got, r.Declaration()) {
		t.Errorf("%s is parsed as %q", r.Directive(), got)
	}
}

// TestMistakes checks the message of each mistake.
func TestMistakes(t *testing.T) {
	t.Parallel()
	many := "note"
	for i := range maxFields + 1 {
		many += fmt.Sprint(" f", i)
	}
	kebab := "is not in kebab-case; write "
	windows := "is a device name on Windows; choose another name"
	for _, test := range []struct {
		args string
		want []string
	}{
		{"../x a", []string{`name "../x": ` + kebab + "x"}},
		{"/etc a", []string{`name "/etc": ` + kebab + "etc"}},
		{"a/b a", []string{`name "a/b": ` + kebab + "a-b"}},
		{"BlogPost a", []string{`name "BlogPost": ` + kebab + "blog-post"}},
		{"blog_post a", []string{`name "blog_post": ` + kebab + "blog-post"}},
		{"nоte a", []string{`name "n\u043ete": ` + kebab + "n-te"}}, // the second letter is Cyrillic
		{"größe a", []string{`name "größe": ` + kebab + "groesse"}},
		{"API-key a", []string{`name "API-key": ` + kebab + "api-key"}},
		{"CON a", []string{`name "CON": ` + windows}},
		{"lpt1 a", []string{"name lpt1: " + windows}},
		{"func a", []string{"name func: is a Go keyword; choose another name"}},
		{"string a", []string{"name string: is predeclared in Go; choose another name"}},
		{"any a", []string{"name any: is predeclared in Go; choose another name"}},
		{"listing a", []string{"name listing: is a package that every module imports; choose another name"}},
		{"test-kit a", []string{`name test-kit: is a package that every module imports; choose another name`}},
		{"internal a", []string{"name internal: is a special directory in Go; choose another name"}},
		{"docs a", []string{"name docs: is a directory that swag ignores; choose another name"}},
		{"main a", []string{"name main: is reserved in Go; choose another name"}},
		{"view a", []string{"name view: is a type of every module; choose another name"}},
		{strings.Repeat("x", 51) + " a", []string{"name " + strings.Repeat("x", 51) + ": has more than 50 characters; choose a shorter name"}},

		{"note", []string{"fields: none is given; write at least one after the name, such as title:string:required"}},
		{many, []string{"fields: 101 are given, at most 100 are possible"}},
		{"note a a", []string{"field a: is given twice"}},
		{"note ab aB", []string{"field aB: differs from ab only in upper and lower case"}},
		{"note a_b", []string{`field "a_b": is not in camelCase; write aB`}},
		{"note Title", []string{`field "Title": is not in camelCase; write title`}},
		{"note tіtle", []string{`field "t\u0456tle": is not in camelCase; write tTle`}},
		{"note :int", []string{`field "": the name is missing; write name:type`}},
		{"note a:", []string{"field a: the type is missing; write name:type"}},
		{"note id", []string{"field id: is a field of every resource; choose another name"}},
		{"note userId", []string{"field userId: is the owner's id; choose another name"}},
		{"note version", []string{"field version: is the record's version; choose another name"}},
		{"note access_token", []string{`field "access_token": is a credential; choose another name`}},
		{"note limit bom:bool", []string{"field bom: is a list parameter; choose another name", "field limit: is a list parameter; choose another name"}},
		{"note etag etags:bool", []string{"field etag: is the ETag of a record in lists and feeds; choose another name", "field etags: is a list parameter; choose another name"}},
		{"note view", []string{"field view: is a method of every resource; choose another name"}},
		{"note meta", []string{"field meta: is an embedded struct of every resource; choose another name"}},

		{"note a:flaot", []string{"field a: unknown type flaot; did you mean float?"}},
		{"note a:money", []string{"field a: unknown type money; use one of []file, []int, []ref, []string, bool, date, decimal, email, enum, file, float, image, int, json, ref, string, text, time, url, uuid"}},
		{"note a:decimal:min=1.50", []string{"field a: min=1.50 is not exact; write at most 12 digits and 6 decimals, without zeros at the end"}},
		{"note a:decimal:default=0.1234567", []string{"field a: default=0.1234567 is not exact; write at most 12 digits and 6 decimals, without zeros at the end"}},
		{"note a:date:default=2026-02-30", []string{"field a: default=2026-02-30 is not a date such as 2026-01-02"}},
		{"note a:uuid:default=X", []string{"field a: default=X is not a UUID in lower case"}},
		{"note a:json:sort b:json:filter", []string{"field a: sort is not possible for json", "field b: filter is not possible for json"}},
		{"note a:required", []string{"field a: the type comes first; write a:string:required"}},
		{"note a:[]inr", []string{`field a: unknown type "[]inr"; did you mean []int?`}},
		{"note a:int(5)", []string{"field a: int has no parameters; only enum(…) and ref(…) have"}},
		{"note a:enum", []string{"field a: values of an enum are letters, digits, - and _; write enum(draft,published)"}},
		{"note a:enum(x,x)", []string{"field a: the enum has x twice"}},
		{"note a:ref", []string{"field a: the resource is missing; write ref(article)"}},
		{"note a:int:requird", []string{"field a: unknown modifier requird; did you mean required?"}},
		{"note a:string:required:backfill=x", []string{"field a: backfill is for --add and --change, because a new resource has no records"}},
		{"note a:int:required:max=5:backfill=6", []string{"field a: backfill is for --add and --change, because a new resource has no records", "field a: backfill=6 is outside of min and max"}},
		{"note a:string:required:backfill", []string{"field a: backfill needs a value; write backfill=…"}},
		{`note a:int:doc="`, []string{"field a: doc must not have quotes, backslashes, dollar signs or control characters"}},
		{"note a:int:doc=" + strings.Repeat("x", 201), []string{"field a: doc has more than 200 characters"}},
		{"note a --doc `x", []string{"flag --doc must not have quotes, backslashes, dollar signs or control characters"}},
		{"note a:int:pattern=x", []string{"field a: unknown modifier pattern; use one of required, unique, search, sort, filter, readonly, title, min, max, default, types, onDelete, doc, backfill"}},
		{"note a:int:sort:sort", []string{"field a: sort is given twice"}},
		{"note a:int:sort=1", []string{"field a: sort has no value; write sort"}},
		{"note a:int:min", []string{"field a: min needs a value; write min=…"}},

		{"note a:int:search", []string{"field a: search is for strings, not for int"}},
		{"note a:text:sort", []string{"field a: sort is not possible for text"}},
		{"note a:[]string:sort", []string{"field a: sort is not possible for []string"}},
		{"note a:required:default=x", []string{"field a: the type comes first; write a:string:required"}},
		{"note a:string:required:default=x", []string{"field a: required excludes default; to give stored records a value, write required:backfill=VALUE with --add or --change"}},
		{"note a:string:title=true", []string{"field a: title=true needs search, and has no other value"}},
		{"note a:string:search:title=yes", []string{"field a: title=true needs search, and has no other value"}},
		{"note a:string:search:title=true b:string:search:title=true", []string{"fields a and b: only one field can have title=true"}},
		{"note a:float:unique", []string{"field a: unique is not possible for float"}},
		{"note a:int:readonly=yes b", []string{"field a: readonly has no value; write readonly"}},
		{"note a:int:readonly", []string{"fields: all are readonly; declare one that clients set, or omit create and update with --methods list,show,delete"}},
		{"note a:int:readonly:required readOnly", []string{
			"field a: readonly excludes required while a route creates records, because clients cannot send it; write default=VALUE, or omit required: the field is empty or null until your code sets it",
			"field readOnly: is an embedded struct of resources with readonly fields; choose another name",
		}},
		{"read-only a:int:readonly b", []string{"name read-only: is a type of modules with readonly fields; choose another name"}},
		{"note a:image:required b:file:unique c:[]file:search d:file:sort e:image:filter f:file:default=x g:file:readonly h:file:min=1kB", []string{
			"field a: required is not possible for image: batches and imports carry no files",
			"field b: unique is not possible for file: the database has only the name, the type and the size of a file",
			"field c: search is not possible for []file: the database has only the name, the type and the size of a file",
			"field d: sort is not possible for file: the database has only the name, the type and the size of a file",
			"field e: filter is not possible for image: the database has only the name, the type and the size of a file",
			"field f: default is not possible for file: a declaration contains no file",
			"field g: readonly is not possible for file: its routes are for callers who may update the record",
			"field h: min is not possible for file: max limits the size, and empty files are rejected",
		}},
		{"note a:file:max=5 b:file:max=1.5MB c:file:max=6GB d:file:types=pdf e:image:types=image/png,image/tiff f:file:types=text/csv,text/csv g:string:types=text/csv", []string{
			"field a: max=5 is not a size; write a whole number and kB, MB or GB, such as max=5MB",
			"field b: max=1.5MB is not a size; write a whole number and kB, MB or GB, such as max=5MB",
			"field c: max=6GB is larger than 5GB",
			"field d: types: pdf is not a media type in lower case, such as application/pdf",
			"field e: types: an image is one of image/png, image/jpeg, image/gif, image/webp; write file for image/tiff",
			"field f: types: text/csv is given twice",
			"field g: types is for file, image and []file",
		}},
		{"note a:int:unique=all", []string{"field a: unique has only the value global; write unique, or unique=global"}},
		{"note a:int:unique=", []string{"field a: unique needs a value; write unique=…"}},
		{"note a:bool:unique", []string{"field a: unique is not possible for bool"}},
		{"note a:int:unique:default=1", []string{"field a: unique excludes default"}},
		{"note a:int:unique:min=1:max=9", []string{"field a: unique needs bounds that allow at least 1000 values"}},
		{"note a:int:min=5:max=3", []string{"field a: min=5 is greater than max=3"}},
		{"note a:int:min=1.5", []string{"field a: min=1.5 is not a number; write min=10"}},
		{"note a:string:min=-1", []string{"field a: min and max of string are between 0 and 10000"}},
		{"note a:string:max=10001", []string{"field a: min and max of string are between 0 and 10000"}},
		{"note a:string:max=0", []string{"field a: max=0 allows only empty values"}},
		{"note a:[]string:max=101", []string{"field a: min and max of []string are between 0 and 100"}},
		{"note a:int:max=9007199254740992", []string{"field a: min and max of int are between -9007199254740991 and 9007199254740991"}},
		{"note a:time:min=1", []string{"field a: min and max are not possible for time"}},
		{"note a:int:default=x", []string{"field a: default=x is not a number"}},
		{"note a:int:default=9:max=5", []string{"field a: default=9 is outside of min and max"}},
		{"note a:string:default=abc:max=2", []string{"field a: default=abc has 3 characters, which min and max do not allow"}},
		{"note a:string:default=", []string{"field a: default needs a value; write default=…"}},
		{"note a:string:default=$HOME", []string{"field a: default must not have quotes, backslashes, dollar signs or control characters; edit the generated code instead"}},
		{"note a:enum(low,high):default=hihg", []string{"field a: default=hihg is not in the enum; did you mean high?"}},
		{"note a:bool:default=yes", []string{"field a: default=yes is not true or false"}},
		{"note a:time:default=2026-01-02T1:00:00Z", []string{"field a: default=2026-01-02T1:00:00Z is not a time such as 2026-01-02T15:04:05Z"}},
		{"note a:time:default=2026-01-02T01:00:00+24:00", []string{"field a: default=2026-01-02T01:00:00+24:00 is not a time such as 2026-01-02T15:04:05Z"}},
		{"note a:time:default=today", []string{"field a: default=today is not a time such as 2026-01-02T15:04:05Z"}},
		{"note a:email:default=x", []string{"field a: default=x is not an email address"}},
		{"note a:url:default=x", []string{"field a: default=x is not an http:// or https:// URL"}},
		{"note a:float:default=NaN", []string{"field a: default=NaN is not a number"}},
		{"note a:float:default=0x10p0", []string{"field a: default=0x10p0 is not a number"}},
		{"note a:float:max=1_000", []string{"field a: max=1_000 is not a number; write max=10"}},
		{"note a:ref(user):default=x", []string{"field a: default is not possible for ref"}},
		{"note a:ref(user):required", []string{"field a: a required reference to user must have a rule; write onDelete=cascade to delete the record with the user, or onDelete=restrict to reject the deletion of the user"}},
		{"note a:[]ref(user):required", []string{"field a: a required list of users must have a rule; write onDelete=restrict, which rejects the deletion of the user, or leave out required"}},

		{"note a --pubic list", []string{"flags: unknown flag: --pubic (did you mean \"--public\"?)"}},
		{"note a --plural", []string{"flags: flag needs an argument: --plural"}},
		{"note a --undo=yes", []string{"flags: invalid argument \"yes\" for \"--undo\" flag: strconv.ParseBool: parsing \"yes\": invalid syntax"}},
		{"note a --plural ../x", []string{`flag --plural: "../x" is not in kebab-case; write x`}},
		{"note a --plural func", []string{"flag --plural: func is a Go keyword; choose another word"}},
		{"note a --methods lst,show", []string{"flag --methods: unknown method lst; did you mean list?"}},
		{"note a --methods ,", []string{"flag --methods: name at least one of create, list, show, update, delete"}},
		{"note a --admin create --user create", []string{"flag --user: create is also given to --admin"}},
		{"note a --admin create,create", []string{"flag --admin: create is given twice"}},
		{"note a --methods show --admin list", []string{"flag --admin: --methods does not have list"}},
		{"note a --own list,show --no-owner", []string{"flag --own: records have no owner; omit --no-owner"}},
		{"note a --own list,show --no-owner --create server", []string{"flag --own: records have no owner; omit --no-owner, and add --owner or --own"}},
		{"note a --create user", []string{"flag --create: user is unknown; write --create server, or say who may create with --user create"}},
		{"note a --create server --methods create,list", []string{"flag --create: server excludes create in --methods"}},
		{"note a --create server --admin create", []string{"flag --admin: create has no route with --create server"}},
		{"note a --owner --no-owner", []string{"flag --owner: excludes --no-owner"}},
		{"note a --admin create --on-user-delete clear", []string{"flag --on-user-delete: records have no owner; let users create them with --user create or, if only your code creates them, add --create server"}},
		{"note a --on-user-delete casade", []string{"flag --on-user-delete: casade is unknown; did you mean cascade?"}},
		{"change a", []string{"name change: /changes is the path of the log of changes; choose another name, or another word with --plural"}},
		{"note a --changes --methods create,show", []string{"flag --changes: needs the method list, whose callers may read the changes"}},
		{"note a --under article --user create,update", []string{"flag --under: say who may delete too: add it to --user, --admin, --master or --public"}},
		{"note a --under article --user list", []string{
			"flag --under: say who may create too: add it to --user, --admin, --master or --public",
			"flag --under: say who may delete too: add it to --user, --admin, --master or --public",
			"flag --under: say who may update too: add it to --user, --admin, --master or --public",
			"flag --user: excludes --under; callers that may read article may list: for records of users, refer to it with article:ref(article) instead"}},
		{"note a --under article --no-owner", []string{"flag --no-owner: excludes --under without --user create; the rules are those of article"}},
		{"note a --own list", []string{"flag --own: show is for callers who may not see the record; add it to --own"}},
		{"note a --own list,show,update --public delete", []string{
			"flag --own: delete is for callers who may not see the record; add it to --user",
			"flag --own: is for list and show; others may not update a record that they cannot see",
		}},
		{"note a --own list,show --admin create", []string{"flag --own: records have no owner; let users create them with --user create or, if only your code creates them, add --create server"}},
		{"note a --owner --admin create", []string{"flag --owner: the owner is the user who creates the record; add --user create or, if only your code creates records, --create server"}},
		{"note a:int:sort --methods create", []string{"field a: search, sort and filter need the method list"}},

		{"note a:flaot b:int:requird:min=9:max=5 --methods lst", []string{
			"field a: unknown type flaot; did you mean float?", "field b: min=9 is greater than max=5",
			"field b: unknown modifier requird; did you mean required?", "flag --methods: unknown method lst; did you mean list?",
		}},
	} {
		_, err := tryDeclare(runtime, true, strings.Fields(test.args)...)
		var got mistakes
		errors.As(err, &got)
		if slices.Sort(got); !slices.Equal(got, test.want) {
			t.Errorf("%.60s:\n%v\nwant\n%s", test.args, err, strings.Join(test.want, "\n"))
		}
	}
	for _, arg := range []string{"-h", "--help"} {
		if _, err := parseArguments([]string{"note", arg}); !errors.Is(err, pflag.ErrHelp) {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// TestWithoutUsers declares resources in a project without users.
func TestWithoutUsers(t *testing.T) {
	t.Parallel()
	r, err := tryDeclare("example.com/bare", false, "note", "a")
	if got := strings.Join(r.Declaration(), " "); got != "note a:string --master create,update,delete" || r.Owner || err != nil {
		t.Errorf("%s, owner %v, %v", got, r.Owner, err)
	}
	files, err := r.render()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if strings.Contains(string(content), `"admin":`) || strings.Contains(string(content), "MayChange") {
			t.Errorf("%s has users", name)
		}
		if strings.Contains(string(content), "example.com/ginseng/modules") {
			t.Errorf("%s imports a module of the runtime's own service", name)
		}
	}
	_, err = tryDeclare("example.com/bare", false, "note", "a", "--user", "list")
	if want := "flag --user: the project has no users; use --master or --public"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestTypesOfTests checks that package testkit knows each type. The matrix of CI tests a resource with each.
func TestTypesOfTests(t *testing.T) {
	t.Parallel()
	source := read(t, "../../testkit/field_kinds.go")
	for _, name := range typeNames() {
		if !strings.Contains(source, "\n\t\""+name+"\": {") {
			t.Errorf("testkit/field_kinds.go has no %s", name)
		}
	}
}

// TestHasLargeBody checks which fields count: also readonly ones, which clients may send back.
func TestHasLargeBody(t *testing.T) {
	t.Parallel()
	for declaration, want := range map[string]bool{
		"note a --no-owner":                              false,
		"note a b:text --no-owner":                       true,
		"note a b:text:readonly --no-owner":              true,
		"note a b:text --methods list,delete --no-owner": false,
	} {
		if r := declareAll(t, strings.Fields(declaration)...); r.HasLargeBody() != want {
			t.Errorf("%s: %v", declaration, !want)
		}
	}
}
