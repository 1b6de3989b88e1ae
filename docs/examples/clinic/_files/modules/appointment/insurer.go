package appointment

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/apperr"
)

// insurer is the client of the insurer's API.
type insurer struct {
	url  string
	http *http.Client
}

func newInsurer(d kit.Deps, s Settings) insurer {
	return insurer{s.InsurerURL, &http.Client{
		Transport:     d.HTTP, // traced
		Timeout:       s.InsurerTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// check asks the insurer for a number. ValidationFailed: the insurer does not know it. Unavailable: the insurer failed.
func (i insurer) check(ctx context.Context, number string) error {
	if i.url == "" || number == "" {
		return nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.url+"/policies/"+url.PathEscape(number), nil)
	if err != nil {
		return err
	}
	response, err := i.http.Do(request)
	if err != nil {
		return errInsurer.WithCause(err)
	}
	defer func() { _ = response.Body.Close() }()
	switch response.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusNotFound:
		return apperr.Invalid(apperr.Field{In: "body", Param: "insurance", Code: apperr.UnknownReference, Message: "The insurer does not know this number."})
	}
	return errInsurer.WithCause(fmt.Errorf("status %d", response.StatusCode))
}

var errInsurer = apperr.New(apperr.Unavailable, "The insurer is unavailable. Try again later.")
