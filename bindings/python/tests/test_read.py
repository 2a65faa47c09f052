"""Reading texts and fitting values."""

import decimal
import enum
from dataclasses import dataclass

import pytest

import reknit

ORDER = {
    "type": "object",
    "required": ["symbol", "shares"],
    "properties": {"symbol": {"type": "string"}, "shares": {"type": "integer"}, "limitPrice": {"type": "number"}},
}


def test_valid_json_comes_back_as_json_reads_it():
    reading = reknit.read('{"a": [1, 2.5, "x", true, null], "b": {}}')
    assert reading.value == {"a": [1, 2.5, "x", True, None], "b": {}}
    assert reading.fixes == []
    assert reading.is_complete


def test_broken_text_is_repaired_and_every_repair_is_recorded():
    reading = reknit.read("Sure!\n```json\n{symbol: 'TSLA', \"shares\": \"1,000\", limit_price: 468.285,}\n```", ORDER)
    assert reading.value == {"symbol": "TSLA", "shares": 1000, "limitPrice": 468.285}
    kinds = {fix.kind for fix in reading.fixes}
    assert {"fence", "bare_key", "quotes", "extra_comma", "number_in_string", "key_spelling"} <= kinds
    spelling = next(fix for fix in reading.fixes if fix.kind == "key_spelling")
    assert (spelling.path, spelling.before, spelling.after) == ("$.limitPrice", "limit_price", "limitPrice")
    assert "key_spelling" in repr(spelling)


def test_a_truncated_text_says_so():
    reading = reknit.read('{"items": [1, 2')
    assert (reading.value, reading.completeness, reading.is_complete) == ({"items": [1, 2]}, "truncated", False)


def test_no_digit_is_lost():
    assert reknit.read("12345678901234567890123").value == 12345678901234567890123
    assert reknit.read('{"price": 19.990}', decimals=True).value == {"price": decimal.Decimal("19.990")}
    assert str(reknit.read("19.990", decimals=True).value) == "19.990"


def test_an_error_has_a_code_and_its_place():
    with pytest.raises(reknit.ReadError) as caught:
        reknit.read('{"n": @}')
    assert (caught.value.code, caught.value.details["line"], caught.value.details["column"]) == ("unreadable", 1, 7)
    with pytest.raises(reknit.ReadError) as caught:
        reknit.read('{"symbol": "TSLA"}', ORDER)
    assert caught.value.code == "misfit"
    assert caught.value.details["problems"]
    with pytest.raises(ValueError, match="there is no JSON in the text"):
        reknit.read("I cannot help with that.")


def test_a_schema_can_be_compiled_once_and_given_as_text():
    schema = reknit.Schema('{"type": "integer"}')
    assert reknit.read('"5"', schema).value == 5
    assert schema.fits(5)
    assert not schema.fits("5")
    with pytest.raises(reknit.ReadError) as caught:
        reknit.Schema({"type": "intger"})
    assert caught.value.code == "bad_schema"


def test_a_value_is_fitted_to_a_schema():
    fitted = reknit.fit({"symbol": "TSLA", "Shares": "5"}, ORDER)
    assert fitted.value == {"symbol": "TSLA", "shares": 5}
    assert len(fitted.fixes) == 2


def test_python_values_that_json_does_not_know_are_taken():
    class Colour(enum.Enum):
        RED = "red"

    @dataclass
    class Point:
        x: int
        colour: Colour

    value = [Point(1, Colour.RED), {1, 1}, (decimal.Decimal("1.10"),)]
    fitted = reknit.fit(value, {}, decimals=True).value
    assert fitted == [{"x": 1, "colour": "red"}, [1], [decimal.Decimal("1.10")]]
    with pytest.raises(TypeError):
        reknit.fit(object(), {})
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError):
        reknit.fit(endless, {})
    with pytest.raises(ValueError):
        reknit.fit(float("nan"), {})


def test_a_text_in_chunks_shows_what_is_complete_so_far():
    reader = reknit.Reader()
    assert reader.partial() is None
    reader.push('{"tool": "weather", "city": "Par')
    partial = reader.partial()
    assert (partial.value, partial.open, partial.state) == ({"tool": "weather", "city": "Par"}, "$.city", "open")
    reader.push("é".encode()[:1])
    reader.push("é".encode()[1:] + b'"}')
    assert reader.finish().value == {"tool": "weather", "city": "Paré"}
    with pytest.raises(ValueError):
        reader.push("more")


def test_a_reader_fits_to_its_schema_at_the_end():
    reader = reknit.Reader({"properties": {"n": {"type": "integer"}}})
    reader.push('{"n": "5"}')
    assert reader.finish().value == {"n": 5}
