package user

import (
	"context"
	"io"
	"slices"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// pictureField declares the pictures that users upload.
var pictureField = files.Field{Name: "picture", Image: true, MaxBytes: 5_000_000}

// storedPicture is the field of the document with the uploaded picture.
const storedPicture = "pictureFile"

// self gives users access to their own account, and admins and the master key access to all accounts.
func self(caller access.Principal) store.Filter {
	if !caller.IsUser() || caller.ActsForAll() {
		return resource.Admins(caller)
	}
	return store.Eq("id", caller.UserID)
}

// picture returns the URL of the user's picture. The URL of an uploaded picture depends on PUBLIC_URL, so it is not stored.
func (s *Service) picture(u User) string {
	if u.PictureFile == nil || s.publicURL == "" {
		return u.Picture
	}
	return s.publicURL + s.routes.Root() + "/users/" + u.ID.Hex() + "/picture?v=" + u.PictureFile.SHA256[:8]
}

// setsPicture reports whether a change sets the field picture to a URL that differs from the current one.
func (s *Service) setsPicture(u User, in store.Patch[UpdateInput]) bool {
	return in.Has("picture") && in.Fields.Picture != s.picture(u)
}

// errNoPublicURL is returned for an upload if the URL of the picture would be unknown.
var errNoPublicURL = apperr.New(apperr.NotSupported, "This service stores no pictures, because the setting PUBLIC_URL is not set.")

// SetPicture stores a file as the picture of a user, in place of the URL; nil deletes the stored picture. NotFound: the user does not
// exist or, with nil, has no stored picture. Forbidden: the caller is neither the user nor an admin. PreconditionFailed: expected
// rejects the user.
func (s *Service) SetPicture(ctx context.Context, caller access.Principal, id store.ID, expected Expected, file *files.File) (User, error) {
	u, err := s.Get(ctx, id)
	if err == nil {
		err = s.mayChange(u, caller, expected)
	}
	if err == nil && file == nil && u.PictureFile == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return User{}, err
	}
	var versions store.Versions
	if expected != nil {
		versions = store.Versions{u.Version}
	}
	return s.referred.Update(ctx, caller, id, versions, store.Set(storedPicture, file), store.Set("picture", s.defaultPicture(id)))
}

// pictureOf returns the ID of the user in the path. NotSupported: the service has no storage for files.
func (c *controller) pictureOf(g *gin.Context) (store.ID, error) {
	if err := c.service.files.RequireStorage(); err != nil {
		return store.ID{}, err
	}
	return IDOrMe(g)
}

// putPicture stores the picture of a user.
//
//	@Summary		Store a picture
//	@Description	The body is the image, with any Content-Type, or a form with the image in one part: PNG, JPEG, GIF or WebP of at most 50 megapixels. The field picture of the user is then its URL.
//	@Tags			users
//	@Accept			mpfd
//	@Param			id			path		string	true	"id of the user, or me"
//	@Param			filename	query		string	false	"the name of the file, if Content-Disposition does not have it"
//	@Param			If-Match	header		string	false	"the ETag of the version to change"
//	@Param			picture		formData	file	true	"the image: at most 5000000 bytes"
//	@Success		200			{object}	View
//	@Failure		403			{object}	rest.Problem	"forbidden: the caller is neither the user nor an admin"
//	@Failure		413			{object}	rest.Problem	"payload_too_large: the file is larger than 5000000 bytes; quota_exceeded: the files of the user would be larger than FILES_QUOTA"
//	@Failure		501			{object}	rest.Problem	"not_supported: the service has no storage for files, or PUBLIC_URL is not set"
//	@Router			/users/{id}/picture [put]
func (c *controller) putPicture(g *gin.Context) error {
	id, err := c.pictureOf(g)
	if err != nil {
		return err
	}
	s, ctx, expected := c.service, g.Request.Context(), Expected(rest.IfMatchView(g))
	u, err := s.Get(ctx, id)
	if err == nil {
		err = s.mayChange(u, rest.Caller(g), expected)
	}
	if err == nil && s.publicURL == "" {
		err = errNoPublicURL
	}
	if err != nil {
		return err
	}
	file, err := rest.ReceiveFile(g, s.files, pictureField)
	if err != nil {
		return err
	}
	if u, err = s.SetPicture(ctx, rest.Caller(g), id, expected, file); err != nil {
		return err
	}
	return rest.View(g, s.View(u))
}

// deletePicture deletes the stored picture of a user.
//
//	@Summary		Delete a picture
//	@Description	The user then has the default picture.
//	@Tags			users
//	@Param			id			path	string	true	"id of the user, or me"
//	@Param			If-Match	header	string	false	"the ETag of the version to change"
//	@Success		204
//	@Failure		403	{object}	rest.Problem	"forbidden: the caller is neither the user nor an admin"
//	@Failure		501	{object}	rest.Problem	"not_supported: the service has no storage for files"
//	@Router			/users/{id}/picture [delete]
func (c *controller) deletePicture(g *gin.Context) error {
	id, err := c.pictureOf(g)
	if err != nil {
		return err
	}
	if _, err := c.service.SetPicture(g.Request.Context(), rest.Caller(g), id, rest.IfMatchView(g), nil); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// getPicture sends the stored picture of a user.
//
//	@Summary				Read a picture
//	@Tags					users
//	@Produce				*/*
//	@Param					v				query		string			false	"ignored; the URL of another picture has another value"
//	@Param					If-None-Match	header		string			false	"the ETag of an earlier response"
//	@Param					Range			header		string			false	"one range of bytes, such as bytes=0-1023"
//	@Param					If-Range		header		string			false	"the ETag of the file that the range is of"
//	@Success				200				{file}		file			"the image"
//	@Success				206				{file}		file			"the range of the image"
//	@Header					200,206			{string}	ETag			"identifies the bytes of the file"
//	@Failure				416				{object}	rest.Problem	"range_not_satisfiable: the range begins after the end of the file"
//	@Failure				501				{object}	rest.Problem	"not_supported: the service has no storage for files"
//	@Security				UserToken
//	@x-optional-security	true
//	@Router					/users/{id}/picture [get]
func (c *controller) getPicture(g *gin.Context) error {
	id, err := c.pictureOf(g)
	if err != nil {
		return err
	}
	ctx := g.Request.Context()
	u, err := c.service.Get(ctx, id)
	if err != nil {
		return err
	}
	if u.PictureFile == nil {
		return store.ErrNotFound
	}
	cache := "public, no-cache"
	if caller := rest.Caller(g); caller.IsUser() || caller.Master {
		cache = "private, no-cache"
	}
	return rest.ServeFile(g, *u.PictureFile, func() (io.ReadSeekCloser, error) { return c.service.files.Open(ctx, *u.PictureFile) }, cache)
}

// withPicture returns the fields that a list must read: if they include picture, also storedPicture, from which Service.picture
// builds the URL.
func withPicture(fields []string) []string {
	if slices.Contains(fields, "picture") {
		return append(fields, storedPicture)
	}
	return fields
}
