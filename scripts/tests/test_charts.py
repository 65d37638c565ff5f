from __future__ import annotations

import json

from restbench.show import page_data


def test_data_are_the_same_text_in_any_order_and_cannot_end_their_element() -> None:
    one = page_data.as_json({"b": "</script><!-- <script>", "a": 1})
    assert one == page_data.as_json({"a": 1, "b": "</script><!-- <script>"})
    assert "</" not in one
    assert "<!--" not in one
    assert json.loads(one)["b"] == "</script><!-- <script>"
