// Command protogen writes the Go code of every .proto file under modules, beside its source. It needs neither protoc
// nor buf: a compiler written in Go reads the files, and protoc-gen-go, at the version in go.mod, writes the code.
//
//	go -C scripts/protogen run .          # write
//	go -C scripts/protogen run . -check   # write nothing; exit 1 if a committed file differs
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"
)

// root is where imports of .proto files start, seen from this folder.
const root = "../../modules"

func main() {
	check := flag.Bool("check", false, "write nothing; exit 1 if a committed file differs")
	flag.Parse()
	if err := run(context.Background(), *check); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// run generates every file and writes it or, with check, compares it with the committed one.
func run(ctx context.Context, check bool) error {
	request, err := compile(ctx)
	if err != nil {
		return err
	}
	response, err := generate(ctx, request)
	if err != nil {
		return err
	}
	var stale []error
	for _, file := range response.File {
		name, want := filepath.Join(root, file.GetName()), []byte(file.GetContent())
		if !check {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				return err
			}
			continue
		}
		if have, err := os.ReadFile(name); err != nil {
			stale = append(stale, err)
		} else if !bytes.Equal(have, want) {
			stale = append(stale, fmt.Errorf("%s is not what its .proto file gives: run protogen", name))
		}
	}
	return errors.Join(stale...)
}

// compile reads every .proto file under root into the request that protoc would make for its plugins.
func compile(ctx context.Context) (*pluginpb.CodeGeneratorRequest, error) {
	var names []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".proto" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard, // the comments
	}
	files, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, err
	}
	module, err := modulePath(ctx)
	if err != nil {
		return nil, err
	}
	parameter := "paths=source_relative"
	for _, name := range names { // not by go_package, which would make the descriptor depend on the module's name
		parameter += ",M" + name + "=" + module + "/modules/" + path.Dir(name)
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: names, Parameter: &parameter}
	for _, file := range files {
		request.ProtoFile = append(request.ProtoFile, protoutil.ProtoFromFileDescriptor(file))
	}
	return request, nil
}

// modulePath is the path of the module around this one.
func modulePath(ctx context.Context) (string, error) {
	list := exec.CommandContext(ctx, "go", "list", "-m")
	list.Dir, list.Stderr = root, os.Stderr
	output, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w", err)
	}
	return string(bytes.TrimSpace(output)), nil
}

// generate lets protoc-gen-go answer the request.
func generate(ctx context.Context, request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	input, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	plugin := exec.CommandContext(ctx, "go", "tool", "protoc-gen-go")
	plugin.Stdin, plugin.Stderr = bytes.NewReader(input), os.Stderr
	output, err := plugin.Output()
	if err != nil {
		return nil, fmt.Errorf("protoc-gen-go: %w", err)
	}
	response := new(pluginpb.CodeGeneratorResponse)
	if err := proto.Unmarshal(output, response); err != nil {
		return nil, fmt.Errorf("protoc-gen-go: %w", err)
	}
	if response.Error != nil {
		return nil, fmt.Errorf("protoc-gen-go: %s", response.GetError())
	}
	return response, nil
}
