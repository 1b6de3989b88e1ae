package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestDeclaration reads declarations, writes them in their one form, and reads that again from a go:generate line.
func TestDeclaration(t *testing.T) {
	t.Parallel()
	for _, test := range [][2]string{
		{"note text", "note text:string"},
		{"note a:int:max=5:min=1:sort:required", "note a:int:required:sort:min=1:max=5"},
		{"--plural cacti cactus name", "cactus name:string --plural cacti"},
		{"cactus --plural=cactuses name", "cactus name:string"},
		{"note a --methods list,create --no-owner --admin list", "note a:string --methods create,list --admin list --no-owner"},
		{"note a --public create --user list", "note a:string --user list --public create"},
		{"note a --owner", "note a:string"},
		{"note a:time:default=2026-01-02T16:04:05+01:00:sort b:url:default=https://a.example:80/x", "note a:time:sort:default=2026-01-02T15:04:05.000Z b:url:default=https://a.example:80/x"},
		{"note a:float:default=1e2:min=-.5", "note a:float:min=-0.5:default=100"},
		{"note a:enum(x,y):default=y b:ref(user) c:[]string:max=3", "note a:enum(x,y):default=y b:ref(user) c:[]string:max=3"},
	} {
		r := declareAll(t, strings.Fields(test[0])...)
		if got := strings.Join(r.Declaration(), " "); got != test[1] {
			t.Errorf("%s: %s, want %s", test[0], got, test[1])
		}
		if got := strings.Join(declareAll(t, r.Declaration()...).Declaration(), " "); got != test[1] {
			t.Errorf("%s is read as %s", test[1], got)
		}
	}
	r := declareAll(t, "note", "a:string:default=two words, and more")
	if got := declared("package note\n\n"+r.directive()+"\n", r.Module); !slices.Equal(got, r.Declaration()) {
		t.Errorf("%s is read as %q", r.directive(), got)
	}
}

// TestRefusals holds every refusal to its message: what is at fault, why, and what to do.
func TestRefusals(t *testing.T) {
	t.Parallel()
	many := "note"
	for i := range maxFields + 1 {
		many += fmt.Sprint(" f", i)
	}
	kebab := "is not kebab-case: small letters and digits of ASCII, with single hyphens between words, such as "
	windows := "is a device of Windows, where no folder can bear its name; choose another name"
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
		{"CON a", []string{`name "CON": ` + windows}},
		{"lpt1 a", []string{"name lpt1: " + windows}},
		{"func a", []string{"name func: is a keyword of Go; choose another name"}},
		{"string a", []string{"name string: is a predeclared name of Go; choose another name"}},
		{"any a", []string{"name any: is a predeclared name of Go; choose another name"}},
		{"listing a", []string{"name listing: is the name of a package that every module imports; choose another name"}},
		{"test-kit a", []string{`name "test-kit": is the name of a package that every module imports; choose another name`}},
		{"internal a", []string{"name internal: is a folder that Go treats in its own way; choose another name"}},
		{"docs a", []string{"name docs: is a folder that swag does not read; choose another name"}},
		{"main a", []string{"name main: is a name that Go keeps for itself; choose another name"}},
		{"view a", []string{"name view: is a name that every module declares itself; choose another name"}},
		{strings.Repeat("x", 51) + " a", []string{"name " + strings.Repeat("x", 51) + ": is longer than 50 characters; choose a shorter one"}},

		{"note", []string{"fields: a resource has at least one; write them after the name, such as title:string:required"}},
		{many, []string{"fields: 101 are more than 100, the most that a form of this service is meant for; make several resources of them"}},
		{"note a a", []string{"field a: stands twice; leave one out"}},
		{"note ab aB", []string{"field aB: differs from ab in its capitals alone; choose another name"}},
		{"note a_b", []string{`field "a_b": is not camelCase: a small letter, then letters and digits of ASCII, such as aB`}},
		{"note Title", []string{`field "Title": is not camelCase: a small letter, then letters and digits of ASCII, such as title`}},
		{"note tіtle", []string{`field "t\u0456tle": is not camelCase: a small letter, then letters and digits of ASCII, such as tTle`}},
		{"note :int", []string{`field "": the name is missing; write name:type`}},
		{"note a:", []string{"field a: nothing stands after the colon; write name:type, or the name alone for a string"}},
		{"note id", []string{"field id: is built in; choose another name"}},
		{"note userId", []string{"field userId: is built in where there is an owner; choose another name"}},
		{"note version", []string{"field version: is the record's version, which makes its ETag; choose another name"}},
		{"note access_token", []string{`field "access_token": carries the caller's credential; choose another name`}},
		{"note limit", []string{"field limit: is a parameter of every list; choose another name"}},
		{"note view", []string{"field view: would be View, the method that makes the answer; choose another name"}},
		{"note meta", []string{"field meta: would be Meta, which holds id and version; choose another name"}},

		{"note a:flaot", []string{"field a: flaot is no type; did you mean float?"}},
		{"note a:decimal", []string{"field a: decimal is no type; use one of string, text, int, float, bool, time, email, url, enum, ref, []string"}},
		{"note a:required", []string{"field a: required is no type; the type comes first, as in a:string:required"}},
		{"note a:[]int", []string{`field a: "[]int" is no type; did you mean int?`}},
		{"note a:int(5)", []string{"field a: int takes no brackets; only enum(…) and ref(…) do"}},
		{"note a:enum", []string{"field a: an enum's values are letters, digits, - and _, in brackets: enum(draft,published)"}},
		{"note a:enum(x,x)", []string{"field a: the enum names x twice; leave one out"}},
		{"note a:ref", []string{"field a: a ref names the resource that it refers to, in brackets: ref(article)"}},
		{"note a:int:requird", []string{"field a: requird is no modifier; did you mean required?"}},
		{"note a:int:pattern=x", []string{"field a: pattern is no modifier; use some of required, unique, search, sort, filter, min, max, default"}},
		{"note a:int:sort:sort", []string{"field a: sort stands twice; leave one out"}},
		{"note a:int:sort=1", []string{"field a: sort takes no value; write sort alone"}},
		{"note a:int:min", []string{"field a: min needs a value; write min=…"}},

		{"note a:int:search", []string{"field a: search looks for words, and int has none; leave search out"}},
		{"note a:text:sort", []string{"field a: sort is not for text: no index could hold it; leave sort out, or make it a string"}},
		{"note a:[]string:filter", []string{"field a: filter is not for []string: no index could hold it; leave filter out, or make it a string"}},
		{"note a:required:default=x", []string{"field a: required is no type; the type comes first, as in a:string:required"}},
		{"note a:string:required:default=x", []string{"field a: required and default contradict each other: a default is for a field that may be absent; leave one out"}},
		{"note a:float:unique", []string{"field a: unique is not for float: it has no value that one could look up; leave unique out"}},
		{"note a:bool:unique", []string{"field a: unique is not for bool: there could be no more records than it has values; leave unique out"}},
		{"note a:int:unique:default=1", []string{"field a: unique and default contradict each other: the second record would have the first one's value; leave one out"}},
		{"note a:int:unique:min=1:max=9", []string{"field a: unique and these bounds contradict each other: they leave fewer than 1000 values; leave one out"}},
		{"note a:int:min=5:max=3", []string{"field a: min=5 is above max=3; swap them"}},
		{"note a:int:min=1.5", []string{"field a: min=1.5 is no number; write min=10"}},
		{"note a:string:min=-1", []string{"field a: min=-1 is no length; write min=10"}},
		{"note a:string:max=300", []string{"field a: max=300 is above 200, the most that string holds; make it smaller, or the type text"}},
		{"note a:string:max=0", []string{"field a: max=0 leaves nothing to write; make it larger"}},
		{"note a:[]string:max=101", []string{"field a: max=101 is above 100, the most that []string holds; make it smaller"}},
		{"note a:int:max=9007199254740992", []string{"field a: an int is within ±9007199254740991, as JSON keeps it exact; choose nearer bounds"}},
		{"note a:time:min=1", []string{"field a: min and max are for string, text, []string, int and float; leave them out of time"}},
		{"note a:int:default=x", []string{"field a: default=x is no whole number within ±9007199254740991"}},
		{"note a:int:default=9:max=5", []string{"field a: default=9 is not within min and max"}},
		{"note a:string:default=abc:max=2", []string{"field a: default=abc has 3 characters, which is not within min and max"}},
		{"note a:string:default=", []string{`field a: a default of text has no blank at its ends, and is not empty: an absent text is "" anyway`}},
		{"note a:string:default=$HOME", []string{"field a: a default of text has no quotes, backslashes, dollars or line breaks; write it into the code afterwards"}},
		{"note a:enum(low,high):default=hihg", []string{"field a: default=hihg is none of the enum's values; did you mean high?"}},
		{"note a:bool:default=yes", []string{"field a: default=yes is neither true nor false"}},
		{"note a:time:default=today", []string{"field a: default=today is no time such as 2026-01-02T15:04:05Z"}},
		{"note a:email:default=x", []string{"field a: default=x is no e-mail address"}},
		{"note a:url:default=x", []string{"field a: default=x is no address that begins with http:// or https://"}},
		{"note a:float:default=NaN", []string{"field a: default=NaN is no number"}},
		{"note a:ref(user):default=x", []string{"field a: a default is not for ref; leave it out"}},

		{"note a --pubic list", []string{`flag "--pubic": there is none of this name; did you mean --public?`}},
		{"note a --plural", []string{"flag --plural: its value is missing; write --plural=…"}},
		{"note a --undo=yes", []string{"flag --undo: takes no value; write --undo alone"}},
		{"note a --plural a --plural b", []string{"flag --plural: stands twice; leave one out"}},
		{"note a --plural ../x", []string{`flag --plural: "../x" is not kebab-case: small letters, digits and single hyphens, such as notes`}},
		{"note a --plural func", []string{"flag --plural: func is a keyword of Go; choose another word"}},
		{"note a --methods lst,show", []string{"flag --methods: lst is no method; did you mean list?"}},
		{"note a --methods ,", []string{"flag --methods: names none; use some of create, list, show, update, delete"}},
		{"note a --admin create --user create", []string{"flag --user: --admin names create too; leave one out"}},
		{"note a --admin create,create", []string{"flag --admin: names create twice; leave one out"}},
		{"note a --methods show --admin list", []string{"flag --admin: names list, which --methods leaves out; add it there, or leave it out here"}},
		{"note a --owner --no-owner", []string{"flag --owner: contradicts --no-owner; leave one out"}},
		{"note a --owner --admin create", []string{"flag --owner: the owner is the user who creates the record, and create is not for users; add --user create, or leave --owner out"}},
		{"note a:int:sort --methods create", []string{"field a: search, sort and filter are for lists, and --methods leaves list out; add it, or leave them out"}},
		{"note a:int:default=5 --methods list", []string{"field a: a default is given at creation, and --methods leaves create out; add it, or leave the default out"}},

		{"note a:flaot b:int:requird:min=9:max=5 --methods lst", []string{
			"field a: flaot is no type; did you mean float?", "field b: min=9 is above max=5; swap them",
			"field b: requird is no modifier; did you mean required?", "flag --methods: lst is no method; did you mean list?",
		}},
	} {
		problems := newProblems()
		declare(parseCommand(strings.Fields(test.args), problems), "example.com/ginseng", true, problems)
		slices.Sort(problems.lines)
		if !slices.Equal(problems.lines, test.want) {
			t.Errorf("%.60s:\n%s\nwant\n%s", test.args, strings.Join(problems.lines, "\n"), strings.Join(test.want, "\n"))
		}
	}
}

// TestWithoutUsers declares in a project that has none.
func TestWithoutUsers(t *testing.T) {
	t.Parallel()
	problems := newProblems()
	r := declare(parseCommand([]string{"note", "a"}, problems), "example.com/bare", false, problems)
	if got := strings.Join(r.Declaration(), " "); got != "note a:string --master create,update,delete" || r.Owner || problems.lines != nil {
		t.Errorf("%s, owner %v, %q", got, r.Owner, problems.lines)
	}
	files, err := r.render()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if strings.Contains(string(content), "SignUp") || strings.Contains(string(content), "MayChange") {
			t.Errorf("%s knows users", name)
		}
	}
	declare(parseCommand([]string{"note", "a", "--user", "list"}, problems), "example.com/bare", false, problems)
	if want := "flag --user: this project has no users; use --master or --public"; !slices.Equal(problems.lines, []string{want}) {
		t.Errorf("%q", problems.lines)
	}
}
