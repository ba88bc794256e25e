"""The configuration file: strict, overridden by the environment, as the manifests ship it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from webhook import settings
from webhook.rules.policy import Kueue, Mode, Policy
from webhook.rules.selectors import Requirement, Selector

ROOT = Path(__file__).resolve().parents[2]
HEAD = "apiVersion: config.kueue-steps.io/v1alpha1\nkind: Configuration\n"


def _file(folder: Path, text: str) -> Path:
    path = folder / "configuration.yaml"
    path.write_text(HEAD + text)
    return path


def test_no_file_means_the_defaults() -> None:
    """Without a file, the policy is the rules' own default."""
    assert settings.load(None).policy == Policy()


def test_the_file_in_the_manifests_states_the_defaults() -> None:
    """manifests/base/configuration.yaml lists real keys, and their values are the defaults."""
    shipped = settings.load(ROOT / "manifests/base/configuration.yaml")
    defaults = settings.load(None)
    assert shipped.policy == defaults.policy
    assert shipped.lookups == defaults.lookups


def test_keys_of_the_file_reach_the_policy(tmp_path: Path) -> None:
    """A mode and a list of user names are taken from the file."""
    policy = settings.load(
        _file(tmp_path, "mode: {default: whole}\ncontrollers: {jobSet: [system:me]}\n")
    ).policy
    assert policy.default_mode is Mode.WHOLE
    assert policy.jobset_users == {"system:me"}


def test_a_variable_of_no_section_stops_the_start(tmp_path: Path) -> None:
    """A misspelt section in the environment is named, as in the file."""
    command = [sys.executable, "-m", "webhook", "serve", f"--config={_file(tmp_path, '')}"]
    environment = {**os.environ, "KUEUE_STEPS_SEVER__PORT": "1"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "KUEUE_STEPS_SEVER__PORT: there is no section sever" in run.stderr


def test_a_variable_with_one_underscore_too_few_stops_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would be passed over without a word, and the default would count."""
    monkeypatch.setenv("KUEUE_STEPS_MODE_DEFAULT", "whole")
    with pytest.raises(settings.BadConfiguration, match="KUEUE_STEPS_MODE__DEFAULT"):
        settings.load(None)


def test_variables_of_a_service_are_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kubernetes sets them in every Pod of the namespace."""
    for name in ("KUEUE_STEPS_SERVICE_HOST", "KUEUE_STEPS_PORT_443_TCP", "KUEUE_STEPS_LOG_PORT"):
        monkeypatch.setenv(name, "tcp://10.0.0.1:443")
    assert settings.load(None).policy == Policy()


def test_what_kueue_is_can_be_said_here(tmp_path: Path) -> None:
    """Integrations, unlabelled jobs and the selector of namespaces, spelt as Kueue spells them."""
    policy = settings.load(
        _file(
            tmp_path,
            "kueue:\n"
            "  frameworks: [batch/job]\n"
            "  manageJobsWithoutQueueName: true\n"
            "  managedJobsNamespaceSelector:\n"
            "    matchLabels: {a: b}\n"
            "    matchExpressions: [{key: c, operator: In, values: [d]}]\n",
        )
    ).policy
    assert policy.kueue == Kueue(frozenset({"batch/job"}), manages_without_queue_name=True)
    assert policy.managed_namespaces == Selector({"a": "b"}, [Requirement("c", "In", ["d"])])


UNUSABLE = {
    "an unknown section": ("foo: 1\n", "foo: unknown key"),
    "an unknown key in a section": ("log: {levl: info}\n", "log.levl: unknown key"),
    "a value that is none of the known": ("mode: {default: maybe}\n", "mode.default: "),
    "a port that is no port": ("server: {port: 70000}\n", "server.port: "),
    "half of what is said about Kueue": (
        "kueue: {frameworks: [batch/job]}\n",
        "frameworks and manageJobsWithoutQueueName are set together",
    ),
    "an integration that Kueue does not have": (
        "kueue: {frameworks: [batch/jobs], manageJobsWithoutQueueName: false}\n",
        "Kueue has no integration batch/jobs",
    ),
    "a selector of namespaces alone": (
        "kueue: {managedJobsNamespaceSelector: {matchLabels: {a: b}}}\n",
        "managedJobsNamespaceSelector is set together with frameworks",
    ),
    "an operator that there is not": (
        (
            "kueue: {frameworks: [batch/job], manageJobsWithoutQueueName: false,\n"
            " managedJobsNamespaceSelector: {matchExpressions: [{key: a, operator: Is}]}}\n"
        ),
        "kueue.managedJobsNamespaceSelector.matchExpressions.0.operator",
    ),
    "a bound that API servers would not wait for": ("lookups: {timeoutSeconds: 4}\n", "lookups."),
    "a list": ("- a\n", "can't be read as YAML"),
    "no YAML": ("a: [\n", "can't be read as YAML"),
}


@pytest.mark.parametrize(("text", "words"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_a_configuration_that_cannot_be_used_names_the_key(
    tmp_path: Path, text: str, words: str
) -> None:
    """Every key that is wrong is named."""
    with pytest.raises(settings.BadConfiguration, match=words.replace(".", r"\.")):
        settings.load(_file(tmp_path, text))


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    """The kind and version must be ours."""
    path = tmp_path / "kueue.yaml"
    path.write_text("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n")
    with pytest.raises(settings.BadConfiguration, match=r"config\.kueue-steps\.io/v1alpha1"):
        settings.load(path)


def _serve(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "webhook", "serve", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )


def test_a_bad_key_stops_the_start_with_its_name(tmp_path: Path) -> None:
    """`kueue-steps serve` ends with 2 and names the key that it does not know."""
    run = _serve("--config", str(_file(tmp_path, "loookups: {}\n")))
    assert run.returncode == 2
    assert "loookups: unknown key" in run.stderr


def test_the_environment_overrides_the_file(tmp_path: Path) -> None:
    """KUEUE_STEPS_<SECTION>__<KEY> wins over the file, and is checked like it."""
    path = _file(tmp_path, "log: {level: info}\n")
    run = _serve("--config", str(path), KUEUE_STEPS_LOG__LEVEL="loud")
    assert run.returncode == 2
    assert "log.level" in run.stderr


def test_a_missing_certificate_stops_the_start_in_plain_words(tmp_path: Path) -> None:
    """Without its certificate the server ends with 1 and says which file it misses."""
    missing = str(tmp_path / "none.crt")
    run = _serve(
        KUEUE_STEPS_CERTIFICATES__SOURCE="files",
        KUEUE_STEPS_CERTIFICATES__CERTIFICATE_FILE=missing,
    )
    assert run.returncode == 1
    assert "Traceback" not in run.stderr
    assert "none.crt" in run.stderr
