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
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PlusGlyph{}, draw.SquareGlyph{}}
	for n, server := range append(slices.Clone(r.Servers), server{Name: bareName}) {
		points := make(plotter.XYs, len(lines))
		for i, l := range lines {
			points[i] = plotter.XY{X: max(1, l.Figures[n].PerSecond), Y: float64(i)}
		}
		scatter, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		scatter.Shape, scatter.Color, scatter.Radius = shapes[n%len(shapes)], green, vg.Points(4)
		switch server.Name {
		case peerName:
			scatter.Shape, scatter.Color = draw.TriangleGlyph{}, brown
		case bareName:
			scatter.Shape, scatter.Color = draw.RingGlyph{}, color.Gray{128}
		}
		p.Add(scatter)
		p.Legend.Add(server.Name, scatter)
	}
	p.X.Min, p.X.Max = p.X.Min/2, p.X.Max*2
	p.Y.Max += 4 // room for the legend
	const width, rowHeight, frame = 26 * vg.Centimeter, 0.6 * vg.Centimeter, 2 * vg.Centimeter
	return p.Save(width, frame+rowHeight*vg.Length(len(lines)+4), file)
}
