package main

import "strings"

// resource is one call of generate.
type resource struct {
	args string // with blanks between
	path string // of its list; "" if it has none
	as   caller // who may ask for it
}

type caller int

const (
	anybody caller = iota
	admin
	master
)

func (r resource) name() string { return strings.Fields(r.args)[0] }

// resources are what is generated, side by side, in one copy of the project.
var resources = []resource{
	// as it is without any flag or modifier
	{args: "goal title", path: "/goals"},
	{args: "story title:string:required:search:sort content:text:search", path: "/stories"},
	// another plural, one that no rule gives, one that is the name itself, and two words
	{args: "cactus name:string:required --plural cacti", path: "/cacti"},
	{args: "person name:string:required:search:sort born:time:sort", path: "/people"},
	{args: "news title:string:required", path: "/news"},
	{args: "blog-post title:string:required:search:sort body:text:search imageUrl:url", path: "/blog-posts"},
	// some methods alone
	{args: "hit agent:string:filter --methods list", path: "/hits"},
	{args: "signal level:int:required --methods create"},
	{args: "leaflet pages:int --methods show"},
	{args: "badge label:string:unique --methods update"},
	{args: "token-stub label --methods delete"},
	{args: "caller agent --methods create,show --no-owner"},
	// every rule, and some of each
	{args: "vault secret:string:required --master create,list,show,update,delete", path: "/vaults", as: master},
	{args: "budget amount:float:required:sort --admin create,list,show,update,delete", path: "/budgets", as: admin},
	{args: "diary entry:text:required:search --user create,list,show,update,delete", path: "/diaries", as: admin},
	{args: "wall-poster words:text:required --public create,list,show,update,delete", path: "/wall-posters"},
	{args: "wiki title:string:required --no-owner", path: "/wikis"},
	{args: "review stars:int:required:min=1:max=5:filter:sort text:text --user list,show --admin delete", path: "/reviews", as: admin},
	{args: "rate value:float:required:min=0.5 code:string:unique:required:min=3:max=3 --admin create,update --master delete", path: "/rates"},
	// every type with every modifier, once required and once not
	{
		args: "everything-given a:string:required:unique:search:sort:filter:min=2:max=40 b:text:required:search:min=3:max=5000 " +
			"c:int:required:unique:sort:filter:min=-5000:max=5000 d:float:required:sort:filter:min=-0.5:max=99.5 e:bool:required:sort:filter " +
			"f:time:required:unique:sort:filter g:email:required:unique:search:sort:filter h:url:required:unique:search:sort:filter " +
			"i:enum(low,middle,high):required:sort:filter j:ref(user):required:unique:sort:filter k:[]string:required:min=2:max=5",
		path: "/everything-givens",
	},
	{
		args: "everything-open a:string:unique:search:sort:filter:min=2:max=40 b:text:search:min=3:max=5000 " +
			"c:int:unique:sort:filter:min=-5000:max=5000 d:float:sort:filter:min=-0.5:max=99.5 e:bool:sort:filter " +
			"f:time:unique:sort:filter g:email:unique:search:sort:filter h:url:unique:search:sort:filter " +
			"i:enum(low,middle,high):sort:filter j:ref(article):unique:sort:filter k:[]string:min=2:max=5",
		path: "/everything-opens",
	},
	{
		args: "everything-preset a:string:default=ginseng b:text:default=root c:int:min=1:max=9:default=5 d:float:default=0.5 e:bool:default=true " +
			"f:time:default=2026-01-02T15:04:05Z g:email:default=a@example.com h:url:default=https://example.com/a i:enum(low,high):default=high",
		path: "/everything-presets",
	},
	// names that look reserved and are not, or stand near names that the code uses
	{args: "record type func range map error len package select var nil key new string id2 query:text", path: "/records"},
	{args: "category name:string:required:unique parent:ref(category):filter", path: "/categories"},
	// unique, enum and ref together; a text search over many fields
	{args: "ticket code:string:required:unique:max=12:sort state:enum(open,closed):required:filter:sort post:ref(blog-post):required:filter", path: "/tickets"},
	{args: "quote title:string:search:sort subtitle:string:search body:text:search mail:email:search link:url:search", path: "/quotes"},
}
