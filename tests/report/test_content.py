import dataclasses

import pytest


def test_content_cannot_be_changed(content_of, findings):
    content = content_of(findings)
    assert content.lines is None
    with pytest.raises(dataclasses.FrozenInstanceError):
        content.title = "another"
