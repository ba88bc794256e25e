"""Write the manifests that follow from others: `make manifests`.

`webhook.settings` says what the configuration is, `manifests/base` what is installed. From these
come the configuration file, install.yaml, and those parts of the chart that would otherwise be
said twice.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import yaml

from localcluster.build import build
from manifests.configuration import commented, definitions, dumped, free_sections, sections
from webhook.rules import names
from webhook.settings import API_VERSION, KIND

ROOT: Final = Path(__file__).resolve().parent
BASE: Final = ROOT / "base"
CHART: Final = ROOT / "chart"
MONITORING: Final = ROOT / "components" / "monitoring"
IN_PROCESS_HOLD: Final = ROOT / "components" / "in-process-hold"

CONFIGURATION_HEADER: Final = f"""\
# Every key with its default; an unknown key stops the start and is named.
# Generated from webhook/sections.py by `make manifests`.
apiVersion: {API_VERSION}
kind: {KIND}
"""
INSTALL_HEADER: Final = """\
# kubectl apply --server-side -f install.yaml
# Generated from manifests/base by `make manifests`.
"""
WEBHOOKS_HEADER: Final = """\
{{- /* Generated from manifests/base/webhooks.yaml by `make manifests`. */ -}}
"""
POLICIES_HEADER: Final = """\
{{- /* Generated from manifests/components/in-process-hold by `make manifests`. */ -}}
{{- if .Values.inProcessHold.enabled }}
"""
METADATA: Final = """\
  name: a-kueue-steps
  labels: {{- include "kueue-steps.labels" . | nindent 4 }}
  {{- if eq .Values.certificates.source "certManager" }}
  annotations:
    cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/kueue-steps
  {{- end }}
"""
SELECTOR: Final = """\
      matchExpressions:
        - key: kubernetes.io/metadata.name
          operator: NotIn
          values: [kube-system, kueue-system, kueue-steps-system]
"""
HELD: Final = """\
      {{- if .Values.inProcessHold.enabled }}
      - name: held-in-process
        expression: "false"
      {{- end }}
"""
HELD_ALONE: Final = """\
    {{- if .Values.inProcessHold.enabled }}
    matchConditions:
      - name: held-in-process
        expression: "false"
    {{- end }}
"""
SECOND_ROUND: Final = "    # In a second round"
AFTER_CONDITIONS: Final = """\
 oldObject.metadata.?annotations.orValue({})
    matchPolicy"""
LISTED_JOBSETS: Final = (
    '["system:serviceaccount:jobset-system:jobset-controller-manager",'
    '"system:serviceaccount:kubeflow-system:jobset-controller-manager"]'
)
LABELLED: Final = """\
  name: {}
  labels: {{{{- include "kueue-steps.labels" . | nindent 4 }}}}
"""
TEMPLATED: Final = {
    "namespace: kueue-steps-system": "namespace: {{ .Release.Namespace }}",
    SELECTOR: '      {{- include "kueue-steps.namespaces" . | nindent 6 }}\n',
    f"request.userInfo.username != '{names.KUEUE_USER}'": (
        '{{ include "kueue-steps.not-kueue" . }}'
    ),
    "  name: a-kueue-steps\n": METADATA,
    SECOND_ROUND: HELD_ALONE + SECOND_ROUND,
    AFTER_CONDITIONS: AFTER_CONDITIONS.replace("    matchPolicy", HELD + "    matchPolicy"),
}
"""What of the registrations follows from the chart's values."""

POLICIES: Final = {
    SELECTOR: TEMPLATED[SELECTOR],
    json.dumps([names.KUEUE_USER]): "{{ .Values.configuration.controllers.kueue | toJson }}",
    LISTED_JOBSETS: "{{ .Values.configuration.controllers.jobSet | toJson }}",
    "  name: kueue-steps-hold\n": LABELLED.format("kueue-steps-hold"),
    "  name: kueue-steps-hold-created\n": LABELLED.format("kueue-steps-hold-created"),
}
"""What of the policies follows from the chart's values."""


def main() -> None:
    """Writes each file that is out of date."""
    for path, content in _files():
        if _old(path) != content:
            path.write_text(content)
            sys.stdout.write(f"wrote {path.relative_to(ROOT.parent)}\n")


def stale() -> list[Path]:
    """The files that `make manifests` would change."""
    return [path for path, content in _files() if _old(path) != content]


def _files() -> Iterator[tuple[Path, str]]:
    # In this order: install.yaml is rendered from a base that is up to date.
    yield BASE / "configuration.yaml", CONFIGURATION_HEADER + commented(sections())
    yield ROOT / "install.yaml", INSTALL_HEADER + _rendered(BASE)
    yield CHART / "values.yaml", _values((CHART / "values.yaml").read_text())
    yield CHART / "values.schema.json", _schema((CHART / "values.schema.json").read_text())
    yield CHART / "templates" / "webhooks.yaml", _webhooks((BASE / "webhooks.yaml").read_text())
    yield CHART / "templates" / "in_process_hold.yaml", _policies()
    rules = yaml.safe_load((MONITORING / "prometheus_rule.yaml").read_text())
    yield CHART / "files" / "alerts.yaml", dumped(rules["spec"])
    yield CHART / "files" / "dashboard.json", (MONITORING / "dashboard.json").read_text()


def _rendered(folder: Path) -> str:
    kubectl = build(say=_tell) / "kubectl"
    return subprocess.run(
        [kubectl, "kustomize", folder], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _values(old: str) -> str:
    """The chart's values, with the configuration renewed, which comes last."""
    head, marker, _ = old.partition("\nconfiguration:\n")
    lines = commented(free_sections()).splitlines()
    return head + marker + "".join(f"  {line}\n" for line in lines)


def _schema(old: str) -> str:
    """The schema of the chart's values, with the part for the configuration renewed."""
    return json.dumps(json.loads(old) | {"$defs": definitions()}, indent=2) + "\n"


def _webhooks(text: str) -> str:
    """The registrations as a template."""
    return WEBHOOKS_HEADER + _templated(text, TEMPLATED)


def _policies() -> str:
    """The policies of the component in-process-hold as a template."""
    files = sorted(IN_PROCESS_HOLD.glob("*_jobs.yaml"))
    text = "---\n".join(path.read_text() for path in files)
    return POLICIES_HEADER + _templated(text, POLICIES) + "{{- end }}\n"


def _templated(text: str, replaced: Mapping[str, str]) -> str:
    for written, templated in replaced.items():
        if written not in text:
            raise LookupError(f"no manifest holds {written!r} any longer")
        text = text.replace(written, templated)
    return text


def _old(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


if __name__ == "__main__":
    main()
