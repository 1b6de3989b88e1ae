package main

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	_ "gonum.org/v1/plot/vg/vgsvg" // writes .svg
)

// draw writes a chart with a point per row and server, on a logarithmic scale.
func (r *report) draw(file string) error {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("Requests per second, %d connections", connections)
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	lines := slices.Clone(r.Rows)
	slices.Reverse(lines) // the first row on top
	names := make([]string, len(lines))
	for i, l := range lines {
		names[i] = l.Name
	}
	p.NominalY(names...)
	p.Add(plotter.NewGrid())
	p.Legend.Top, p.Legend.Left = true, true
	green, brown := color.RGBA{R: 27, G: 120, B: 55, A: 255}, color.RGBA{R: 190, G: 80, B: 20, A: 255}
	for _, series := range []struct {
		name  string
		shape draw.GlyphDrawer
		color color.Color
		of    func(line) *figures
	}{
		{"bare net/http handler", draw.RingGlyph{}, color.Gray{128}, func(l line) *figures { return l.Bare }},
		{thousands(r.Articles) + " articles", draw.CircleGlyph{}, green, func(l line) *figures { return l.Main }},
		{thousands(small) + " articles", draw.PlusGlyph{}, green, func(l line) *figures { return l.Small }},
		{thousands(r.Peer) + " articles", draw.SquareGlyph{}, green, func(l line) *figures { return l.Equal }},
		{"PocketBase, as many", draw.TriangleGlyph{}, brown, func(l line) *figures { return l.Peer }},
	} {
		var points plotter.XYs
		for i, l := range lines {
			if f := series.of(l); f != nil {
				points = append(points, plotter.XY{X: f.PerSecond, Y: float64(i)})
			}
		}
		if points == nil {
			continue
		}
		scatter, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		scatter.Shape, scatter.Color, scatter.Radius = series.shape, series.color, vg.Points(4)
		p.Add(scatter)
		p.Legend.Add(series.name, scatter)
	}
	p.X.Min, p.X.Max = p.X.Min/2, p.X.Max*2
	p.Y.Max += 4 // room for the legend
	const width, rowHeight, frame = 26 * vg.Centimeter, 0.6 * vg.Centimeter, 2 * vg.Centimeter
	return p.Save(width, frame+rowHeight*vg.Length(len(lines)+4), file)
}
