"""Checks the body of a call against the schema of its tool, as strictly as a service in a typed language, and words errors like FastAPI."""

TYPES = {"string": str, "boolean": bool, "array": list, "object": dict}
WORDS = {"string": "a valid string", "integer": "a valid integer", "number": "a valid number", "boolean": "a valid boolean",
         "array": "a valid list", "object": "a valid dictionary"}  # fmt: skip


def fits_type(kind: str, value) -> bool:
    if kind in TYPES:
        return isinstance(value, TYPES[kind])
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and (kind == "number" or isinstance(value, int))


def misfits(schema: dict, value, place: tuple = ("body",)) -> list[dict]:
    """Every problem of a value, in the form of FastAPI's `detail`."""
    problem = lambda message, kind, at=place: {"loc": list(at), "msg": message, "type": kind}
    kind = schema["type"]
    if not fits_type(kind, value):
        return [problem(f"Input should be {WORDS[kind]}", f"{kind}_type")]
    if value not in schema.get("enum", [value]):
        allowed = " or ".join(f"'{name}'" for name in schema["enum"])
        return [problem(f"Input should be {allowed}", "enum")]
    if "exclusiveMinimum" in schema and not value > schema["exclusiveMinimum"]:
        return [problem(f"Input should be greater than {schema['exclusiveMinimum']}", "greater_than")]
    if kind == "array":
        return [found for index, item in enumerate(value) for found in misfits(schema["items"], item, (*place, index))]
    if kind != "object":
        return []
    found = [problem("Field required", "missing", (*place, name)) for name in schema["required"] if name not in value]
    for name, item in value.items():
        if name in schema["properties"]:
            found += misfits(schema["properties"][name], item, (*place, name))
        else:
            found.append(problem("Extra inputs are not permitted", "extra_forbidden", (*place, name)))
    return found
