//go:build definitions

// Package tools keeps the modules in go.mod whose CustomResourceDefinitions the tests apply. Nothing here is compiled.
package tools

import (
	_ "github.com/cert-manager/cert-manager/pkg/apis/certmanager"
	_ "github.com/prometheus-operator/prometheus-operator/pkg/versionutil"
)
