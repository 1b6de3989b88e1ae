package policy

import (
	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
)

type controller struct {
	service *Service
	lister  *listing.Lister
}

// create creates a policy.
//
//	@Summary		Create a policy
//	@Description	A policy applies to the workloads of its namespace that have all labels of its selector with exactly these values. A policy without a selector applies to every workload of its namespace. In a JSON body, selector is an object: {"namespace": "shop", "name": "reviews-v2", "selector": {"matchLabels": {"app": "reviews", "version": "v2"}}}. In a form, selector is the JSON text of this object.
//	@Tags			policies
//	@Param			input	formData	Input	true	"the policy"
//	@Success		201		{object}	View
//	@Header			201		{string}	Location		"path of the policy"
//	@Failure		409		{object}	rest.Problem	"conflict: the namespace already has a policy with this name"
//	@x-tag			"Policies for workloads, which are selected by labels."
//	@Router			/policies [post]
func (c *controller) create(g *gin.Context) error {
	in, err := rest.Bind[Input](g, View{})
	if err != nil {
		return err
	}
	p, err := c.service.Create(g.Request.Context(), in)
	if err != nil {
		return err
	}
	return rest.Created(g, p.Meta, p.View())
}

// list lists policies.
//
//	@Summary	List policies
//	@Tags		policies
//	@Param		query	query		listing.Params	false	"the parameters of the list"
//	@Success	200		{object}	listing.Page[View]
//	@Router		/policies [get]
func (c *controller) list(g *gin.Context) error {
	q, err := c.lister.Parse(rest.Query(g))
	if err != nil {
		return err
	}
	page, err := c.service.List(g.Request.Context(), q)
	if err != nil {
		return err
	}
	return rest.Page(g, page)
}

// get returns a policy.
//
//	@Summary	Get a policy
//	@Tags		policies
//	@Success	200	{object}	View
//	@Router		/policies/{id} [get]
func (c *controller) get(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	p, err := c.service.Get(g.Request.Context(), id)
	if err != nil {
		return err
	}
	return rest.Record(g, p.Meta, p.View())
}

// update changes a policy.
//
//	@Summary		Change a policy
//	@Description	Changes only the given fields. PUT and PATCH are the same. A selector replaces the previous selector completely. If selector is null, the selector is removed, and the policy applies to every workload of its namespace. The namespace cannot be changed.
//	@Tags			policies
//	@Param			input	formData	Input	false	"the fields to change"
//	@Success		200		{object}	View
//	@Failure		409		{object}	rest.Problem	"conflict: the namespace has another policy with this name"
//	@Router			/policies/{id} [put]
//	@Router			/policies/{id} [patch]
func (c *controller) update(g *gin.Context) error {
	in, err := rest.BindPatch[Input](g, View{})
	if err != nil {
		return err
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	p, err := c.service.Update(g.Request.Context(), id, rest.IfMatch(g, id), in)
	if err != nil {
		return err
	}
	return rest.Record(g, p.Meta, p.View())
}

// delete deletes a policy.
//
//	@Summary	Delete a policy
//	@Tags		policies
//	@Success	204
//	@Router		/policies/{id} [delete]
func (c *controller) delete(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	if err := c.service.Delete(g.Request.Context(), id, rest.IfMatch(g, id)); err != nil {
		return err
	}
	return rest.NoContent(g)
}

// evaluate finds the policies that apply to a proxy.
//
//	@Summary		Find the policies that apply to a proxy
//	@Description	Considers only policies of the namespace. A policy applies if it has no selector, or if the proxy has all labels of the selector with exactly these values. The labels of the proxy come from three sources: instance (the registry's data about the pod or virtual machine), handshake and metadata (both sent by the proxy). If several sources have the same key, instance takes precedence over handshake, and handshake over metadata. A source has at most 4,096 labels. The values are strings.
//	@Description	In a JSON body, each source is an object: {"namespace": "shop", "metadata": {"labels": {"app": "reviews", "version": "v1"}}, "instance": {"labels": {"version": "v2"}}, "explain": true}. In a form, each source is the JSON text of its object. The proxy in this example has the labels app=reviews and version=v2.
//	@Description	The result includes every change that any instance of the service acknowledged before the request. The response is a page with at most 1 MiB of policies. To get the next page, repeat the request with the parameter after, set to the value of next.
//	@Tags			policies
//	@Param			input	formData	EvaluateInput	true	"the proxy"
//	@Success		200		{object}	Evaluation
//	@Router			/policies/evaluate [post]
func (c *controller) evaluate(g *gin.Context) error {
	in, err := rest.Bind[EvaluateInput](g)
	if err != nil {
		return err
	}
	e, err := c.service.Evaluate(g.Request.Context(), in)
	if err != nil {
		return err
	}
	return rest.OK(g, e)
}
