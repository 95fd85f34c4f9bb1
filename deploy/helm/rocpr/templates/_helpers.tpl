{{- define "rocpr.name" -}}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{- end -}}

{{- define "rocpr.selector" -}}
app.kubernetes.io/name: rocpr
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "rocpr.labels" -}}
{{ include "rocpr.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "rocpr.metadata" -}}
name: {{ include "rocpr.name" . }}
labels:
  {{- include "rocpr.labels" . | nindent 2 }}
{{- end -}}

{{- define "rocpr.image" -}}
{{ .Values.image.repository }}{{ with .Values.image.digest }}@{{ . }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end -}}

{{- /* What a container with this user may do: nothing but run. */ -}}
{{- define "rocpr.security" -}}
runAsUser: {{ . }}
runAsGroup: {{ . }}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}
