"""Every reason that a new parent can get is explained."""

from webhook.preview.explanations import EXPLANATIONS, Outcome
from webhook.rules.reasons import Reason

NOT_OF_NEW_PARENTS = {
    Reason.OTHER_RESOURCE,
    Reason.OTHER_OPERATION,
    # An update of a parent, or the validating webhook.
    Reason.NOT_STEPPED,
    Reason.UNCHANGED,
    Reason.KEPT,
    Reason.PAUSED,
    Reason.RESUMED,
    Reason.QUEUE_CHANGED,
    Reason.UNDONE,
    # A Job.
    Reason.FINISHED,
    Reason.HELD,
    Reason.HELD_FROM_USER,
    Reason.HELD_WHILE_PAUSED,
    Reason.STARTED,
    Reason.STOPPED,
    Reason.RESTORED,
}


def test_every_reason_of_a_new_parent_has_its_sentence() -> None:
    """A reason that is added has to be put into the table, or into the list above."""
    assert set(EXPLANATIONS) == set(Reason) - NOT_OF_NEW_PARENTS


def test_the_sentences_are_sentences() -> None:
    """One each, and no two the same."""
    sentences = [sentence for _, sentence in EXPLANATIONS.values()]
    assert all(sentence.endswith(".") and sentence[:-1] for sentence in sentences)
    assert len(set(sentences)) == len(sentences)


def test_the_outcome_is_that_of_the_reasons_name() -> None:
    """What is called Stepped or Whole is told as that."""
    for reason, (outcome, _) in EXPLANATIONS.items():
        assert (outcome is Outcome.STEP) == reason.startswith("Stepped"), reason
        assert (outcome is Outcome.WHOLE) == reason.startswith("Whole"), reason
