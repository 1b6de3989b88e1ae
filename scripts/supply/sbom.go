package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// document is the SBOM of a binary: the same bytes for the same binary, so that it has no number and no time.
func document(version, binary string, info *buildinfo.BuildInfo, all []part) ([]byte, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	service := cdx.Component{
		BOMRef: info.Main.Path, Type: cdx.ComponentTypeApplication, Name: path.Base(info.Main.Path), Version: version,
		Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(content))}},
	}
	var components []cdx.Component
	var refs []string
	for _, p := range all {
		components = append(components, cdx.Component{
			BOMRef: p.purl, Type: cdx.ComponentTypeLibrary, Name: p.name, Version: p.version, PackageURL: p.purl,
			Scope: cdx.ScopeRequired, Licenses: choice(p.licences),
		})
		refs = append(refs, p.purl)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &service}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: service.BOMRef, Dependencies: &refs}} // all of them are in it
	var b bytes.Buffer
	encoder := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true)
	if err := encoder.EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// choice is one licence by its identifier, or an expression of several that all hold.
func choice(licences []string) *cdx.Licenses {
	if len(licences) == 1 {
		return &cdx.Licenses{{License: &cdx.License{ID: licences[0]}}}
	}
	return &cdx.Licenses{{Expression: strings.Join(licences, " AND ")}}
}

// texts are all licences and notices, one after the other.
func texts(all []part) ([]byte, error) {
	var b bytes.Buffer
	for _, p := range all {
		for _, name := range p.texts {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "===== %s %s: %s\n\n%s\n\n", p.name, p.version, filepath.Base(name), bytes.TrimSpace(text))
		}
	}
	return b.Bytes(), nil
}
