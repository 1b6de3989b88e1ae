module example.com/ginseng/scripts/kubecheck

go 1.26.0

require (
	example.com/ginseng v0.0.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	k8s.io/apimachinery v0.37.2
)

require (
	github.com/go-logr/logr v1.4.4 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	k8s.io/klog/v2 v2.140.0 // indirect
	k8s.io/utils v0.0.0-20260626114624-be93311217bd // indirect
)

replace example.com/ginseng => ../..
