{{- define "kueue-steps.labels" -}}
app.kubernetes.io/name: kueue-steps
app.kubernetes.io/part-of: kueue-steps
app.kubernetes.io/version: {{ .Chart.AppVersion }}
{{- end }}

{{- define "kueue-steps.namespaces" -}}
{{- $own := list "kube-system" .Values.configuration.kueue.namespace .Release.Namespace -}}
{{- with .Values.namespaceSelector.matchLabels }}
matchLabels:
  {{- toYaml . | nindent 2 }}
{{- end }}
matchExpressions:
  - key: kubernetes.io/metadata.name
    operator: NotIn
    values: {{ concat $own .Values.excludedNamespaces | uniq | toJson }}
  {{- with .Values.namespaceSelector.matchExpressions }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "kueue-steps.not-kueue" -}}
{{- $terms := list -}}
{{- range .Values.configuration.controllers.kueue -}}
{{- $terms = append $terms (printf "request.userInfo.username != '%s'" .) -}}
{{- end -}}
{{- join " && " $terms -}}
{{- end }}

{{- define "kueue-steps.configuration" -}}
{{- $kueue := .Values.configuration.kueue.namespace -}}
{{- if not (contains (printf "system:serviceaccount:%s:" $kueue) (join " " .Values.configuration.controllers.kueue)) -}}
{{- fail (printf "configuration.kueue.namespace is %s, but configuration.controllers.kueue names no service account there: Kueue's starts would be held for ever. Set both." $kueue) -}}
{{- end -}}
{{- $fixed := dict "apiVersion" "config.kueue-steps.io/v1alpha1" "kind" "Configuration" -}}
{{- $certificates := dict "certificates" (dict "namespace" .Release.Namespace) -}}
{{- merge $fixed $certificates .Values.configuration | toYaml -}}
{{- end }}
