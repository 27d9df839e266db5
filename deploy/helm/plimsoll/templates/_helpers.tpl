{{/* Name of the objects: the release's, with the chart's name unless it has it already. */}}
{{- define "plimsoll.name" -}}
{{- if contains "plimsoll" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-plimsoll" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that never change: Deployments and StatefulSets select by them. Takes the context and a component. */}}
{{- define "plimsoll.selector" -}}
app.kubernetes.io/name: plimsoll
app.kubernetes.io/instance: {{ .context.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "plimsoll.labels" -}}
{{ include "plimsoll.selector" . }}
app.kubernetes.io/version: {{ .context.Chart.AppVersion | quote }}
{{- end -}}

{{- define "plimsoll.postgresql.secret" -}}
{{- .Values.postgresql.existingSecret | default (printf "%s-postgresql" (include "plimsoll.name" .)) -}}
{{- end -}}

{{- define "plimsoll.weaviate.secret" -}}
{{- .Values.weaviate.existingSecret | default (printf "%s-weaviate" (include "plimsoll.name" .)) -}}
{{- end -}}

{{/* HOST:PORT of each node, separated by commas. */}}
{{- define "plimsoll.weaviate.hosts" -}}
{{- $name := printf "%s-weaviate" (include "plimsoll.name" .) -}}
{{- range $i := until (int .Values.weaviate.replicas) }}{{ if $i }},{{ end }}{{ printf "%s-%d.%s:8080" $name $i $name }}{{ end -}}
{{- end -}}

{{/* A value in TOML. Helm reads whole numbers as floating point, and TOML tells the two apart. */}}
{{- define "plimsoll.toml" -}}
{{- if kindIs "string" . -}}
{{- toRawJson . -}}
{{- else if kindIs "slice" . -}}
[{{- range $i, $one := . }}{{ if $i }}, {{ end }}{{ toRawJson $one }}{{- end -}}]
{{- else if and (kindIs "float64" .) (eq (floor .) .) -}}
{{- int64 . -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}

{{/* The settings file. */}}
{{- define "plimsoll.settings" -}}
listen = "0.0.0.0:8000"
{{- if .Values.open }}
open_to_all = true
{{- end }}
{{- if .Values.upstreams }}
upstreams = [{{ range $i, $one := .Values.upstreams }}{{ if $i }}, {{ end }}{{ printf "%s=%s" $one.name $one.url | toRawJson }}{{ end }}]
{{- else if not .Values.settings.embedded_model }}
{{- fail "name a model server in `upstreams`, such as --set upstreams[0].name=gpu,upstreams[0].url=http://vllm:8000/v1, or set settings.embedded_model=true" }}
{{- end }}
{{- if eq .Values.store.mode "file" }}
store_file = "/data/store.db"
{{- end }}
{{- if .Values.tls.existingSecret }}
tls_certificate_file = "/etc/plimsoll-tls/tls.crt"
tls_key_file = "/etc/plimsoll-tls/tls.key"
{{- end }}
{{- range $key, $value := .Values.settings }}
{{ $key }} = {{ include "plimsoll.toml" $value }}
{{- end }}
{{- end -}}

{{/* What every container of the gateway's image gets. */}}
{{- define "plimsoll.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  - name: PLIMSOLL_CONFIG
    value: /etc/plimsoll/plimsoll.toml
  {{- if eq .Values.store.mode "external" }}
  - name: PLIMSOLL_STORE
    valueFrom:
      secretKeyRef:
        name: {{ .Values.store.external.existingSecret }}
        key: {{ .Values.store.external.key }}
  {{- else if eq .Values.store.mode "bundled" }}
  - name: PLIMSOLL_STORE
    value: postgres://plimsoll@{{ include "plimsoll.name" . }}-postgresql/plimsoll
  # Read by libpq, so the password needs no encoding for a URL.
  - name: PGPASSWORD
    valueFrom:
      secretKeyRef:
        name: {{ include "plimsoll.postgresql.secret" . }}
        key: password
  {{- end }}
  {{- if eq .Values.indexStore.mode "external" }}
  - name: PLIMSOLL_INDEX_STORE
    valueFrom:
      secretKeyRef:
        name: {{ .Values.indexStore.external.existingSecret }}
        key: {{ .Values.indexStore.external.key }}
  {{- else if eq .Values.indexStore.mode "bundled" }}
  - name: WEAVIATE_KEY
    valueFrom:
      secretKeyRef:
        name: {{ include "plimsoll.weaviate.secret" . }}
        key: key
  # Kubernetes puts the key in its place.
  - name: PLIMSOLL_INDEX_STORE
    value: weaviate://$(WEAVIATE_KEY)@{{ include "plimsoll.weaviate.hosts" . }}?replication={{ .Values.weaviate.copies }}
  {{- end }}
  {{- range .Values.upstreams }}
  {{- if .keySecret }}
  - name: {{ .name | upper | replace "-" "_" }}_API_KEY
    valueFrom:
      secretKeyRef:
        name: {{ .keySecret }}
        key: key
  {{- end }}
  {{- end }}
  {{- range .Values.secretEnv }}
  - name: {{ .name }}
    valueFrom:
      secretKeyRef:
        name: {{ .secret }}
        key: {{ .key }}
  {{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: settings
    mountPath: /etc/plimsoll
    readOnly: true
  - name: data
    mountPath: /data
  - name: tmp
    mountPath: /tmp
  {{- if .Values.tls.existingSecret }}
  - name: tls
    mountPath: /etc/plimsoll-tls
    readOnly: true
  {{- end }}
{{- end -}}
