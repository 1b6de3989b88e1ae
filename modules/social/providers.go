package social

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// Providers returns the configured providers. It omits providers that are unavailable.
func (s *Service) Providers(ctx context.Context) ProviderList {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	names := slices.Sorted(maps.Keys(s.providers))
	views := make([]*ProviderView, len(names))
	var all sync.WaitGroup
	for i, id := range names {
		all.Go(func() { views[i] = s.view(ctx, id) })
	}
	all.Wait()
	list := ProviderList{Rows: []ProviderView{}}
	for _, v := range views {
		if v != nil {
			list.Rows = append(list.Rows, *v)
		}
	}
	list.Count = len(list.Rows)
	return list
}

// view returns the representation of a provider, or nil if the provider is unavailable.
func (s *Service) view(ctx context.Context, id string) *ProviderView {
	p := s.providers[id]
	address, pkce, err := p.authorization(ctx)
	if err != nil || p.isOpenID && !hasSchemeOf(address, p.address) {
		return nil
	}
	kind := typeOAuth
	if p.isOpenID {
		kind = typeOpenID
	}
	return &ProviderView{ID: id, Name: p.name, Type: kind, ClientID: p.clientID, AuthorizationURL: address, Scopes: p.scopes, PKCE: pkce}
}
