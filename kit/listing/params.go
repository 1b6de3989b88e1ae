package listing

// Params documents the parameters that every list takes, beside its own sort, q and filters.
type Params struct {
	Page   int    `form:"page" minimum:"1"`                             // 1 if not given; passes over (page-1)*limit rows, at most 10,000; then go on with after
	Limit  int    `form:"limit" minimum:"1" maximum:"100" default:"30"` // rows of a page
	Fields string `form:"fields"`                                       // fields to include, or, each with - before it, to leave out; id is always there, and the rows hold nothing else
	After  string `form:"after"`                                        // the next of the page before; not together with page
	Count  bool   `form:"count" default:"true"`                         // false leaves count out and saves its cost
}
