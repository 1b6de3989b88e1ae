package absence

import "example.com/ginseng/kit/apperr"

// check fails with ValidationFailed unless the absence ends after it starts.
func (f Fields) check() error {
	if f.EndsAt.After(f.StartsAt.Time) {
		return nil
	}
	return apperr.Invalid(apperr.Field{In: "body", Param: "endsAt", Code: apperr.FieldConflict, Message: "Must be after startsAt."})
}
