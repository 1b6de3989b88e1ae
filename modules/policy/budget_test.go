package policy

import (
	"fmt"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// TestEvaluateReserves makes a small and a large evaluation while another request uses the budget. Only the large one fails.
func TestEvaluateReserves(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.service()
	for i := range 100 {
		p := Policy{Meta: store.NewMeta(store.NewID(), store.At(w.clock)), Namespace: "n", Name: fmt.Sprint("p", i), Selector: &Selector{map[string]string{}}}
		for label := range 100 {
			p.Selector.MatchLabels[fmt.Sprint("label-", label)] = "x"
		}
		w.must(s.policies.Insert(w.Context(), p))
	}
	budget := rest.NewBudget(4<<20, 1, time.Millisecond)
	other, release := budget.Context(t.Context(), func() string { return "" })
	w.must(rest.ReservePage(other, 1<<20))
	evaluate := func(explain bool) error {
		ctx, release := budget.Context(t.Context(), func() string { return "" })
		defer release()
		_, err := s.Evaluate(ctx, EvaluateInput{Namespace: "n", Limit: 100, Explain: explain})
		return err
	}
	w.must(evaluate(false))
	if err := evaluate(true); !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("a large response without a share: %v", err)
	}
	release()
	w.must(evaluate(true))
}
