package listing

// Params documents the parameters of every list, besides its sort, q and filters.
type Params struct {
	Page   int    `form:"page" minimum:"1"`                             // default 1; skips (page-1)*limit rows, at most 10,000; beyond that use after
	Limit  int    `form:"limit" minimum:"1" maximum:"100" default:"30"` // rows per page
	Fields string `form:"fields"`                                       // fields to include or, each with - before it, to exclude; id is always included
	After  string `form:"after"`                                        // the next of the previous page; not together with page
	Count  bool   `form:"count" default:"true"`                         // false omits count, which is faster
}
