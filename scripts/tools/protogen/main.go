// Command protogen generates the Go code of every .proto file in kit, without protoc:
//
//	go -C scripts/tools run ./protogen
//
// CI runs it and checks that no file changes.
package main

import (
	"context"
	"errors"
	"io/fs"
	"log"
	"os"
	"path"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/cmd/protoc-gen-go/internal_gengo"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/types/pluginpb"
)

const root = "../../kit" // imports of .proto files are relative to root

func main() {
	if err := generate(); err != nil {
		log.Fatal("protogen: ", err)
	}
}

func generate() error {
	request := new(pluginpb.CodeGeneratorRequest)
	parameter := "paths=source_relative"
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".proto" {
			request.FileToGenerate = append(request.FileToGenerate, name)
			parameter += ",M" + name + "=" + path.Dir(name) // the directory is enough, so that the generated code does not contain the module's path
		}
		return err
	})
	if err != nil {
		return err
	}
	request.Parameter = &parameter
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard, // comments
	}
	files, err := compiler.Compile(context.Background(), request.FileToGenerate...)
	if err != nil {
		return err
	}
	for _, file := range files {
		request.ProtoFile = append(request.ProtoFile, protoutil.ProtoFromFileDescriptor(file))
	}
	plugin, err := protogen.Options{}.New(request)
	if err != nil {
		return err
	}
	for _, file := range plugin.Files {
		if file.Generate {
			internal_gengo.GenerateFile(plugin, file)
		}
	}
	response := plugin.Response()
	if response.Error != nil {
		return errors.New(response.GetError())
	}
	for _, file := range response.File {
		if err := os.WriteFile(filepath.Join(root, file.GetName()), []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
