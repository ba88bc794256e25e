"""Label selectors, as far as Kueue's configuration and ours use them."""

from collections.abc import Mapping
from functools import cached_property

from webhook.rules.objects import View


class Requirement(View, frozen=True):
    """One expression of a label selector."""

    key: str
    operator: str
    values: list[str] | None = None

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels meet it (apimachinery, pkg/labels)."""
        value, values = labels.get(self.key), self.values or []
        return {
            "In": value in values,
            "NotIn": value not in values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }.get(self.operator, False)


class Selector(View, frozen=True, dict=True):
    """metav1.LabelSelector."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[Requirement] | None = None

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels meet all of it."""
        return all(labels.get(k) == v for k, v in (self.match_labels or {}).items()) and all(
            requirement.matches(labels) for requirement in self.match_expressions or ()
        )

    @cached_property
    def keys(self) -> set[str]:
        """The labels that it asks for."""
        return {*(self.match_labels or {}), *(one.key for one in self.match_expressions or ())}
