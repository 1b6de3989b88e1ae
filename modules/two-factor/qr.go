package twofactor

import (
	"encoding/base64"
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"
)

const quietZone = 4 // width of the margin around a QR code, in modules, which are its squares (ISO/IEC 18004 section 6.3.8)

// qrURL returns a data URL with an SVG image of a QR code. Each module is one unit wide.
func qrURL(text string) (string, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", err
	}
	size := code.Bounds().Dx()
	var path strings.Builder
	for y := range size {
		for x, run := 0, 0; x < size; x += run + 1 {
			for run = 0; x+run < size && code.At(x+run, y) == color.Black; run++ {
			}
			if run > 0 {
				_, _ = fmt.Fprintf(&path, "M%d %dh%dv1h-%[3]dz", x+quietZone, y+quietZone, run)
			}
		}
	}
	svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[1]d" shape-rendering="crispEdges">`+
		`<path fill="#fff" d="M0 0h%[1]dv%[1]dH0z"/><path d="%[2]s"/></svg>`, size+2*quietZone, path.String())
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(svg)), nil
}
