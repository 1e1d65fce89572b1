#!/usr/bin/python3
"""Compares api/openapi.json with the requests and responses of the HTTP tests.

    HAMEL_TEST_EXCHANGES=FILE tests/http/check_openapi.py

The status, media type and body of each response must be described for the operation. Each operation must occur with
each of its successful statuses. The output is TAP.
"""
import json
import os
import re
import sys
import warnings
from pathlib import Path

warnings.filterwarnings("ignore", category=DeprecationWarning)
import jsonschema  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
DESCRIPTION = json.loads((ROOT / "api/openapi.json").read_text())
SYSTEM = json.loads((ROOT / "api/system.schema.json").read_text())
METHODS = ("get", "post", "delete")
# The daemon rejects requests with no matching route, or with invalid framing or host, before it determines the
# operation.
BEFORE_ROUTING = {400, 404, 405, 421, 431}
SHOWN = 20

results = []


def verdict(name, findings):
    results.append((name, findings))


def resolved(item):
    while isinstance(item, dict) and item.get("$ref", "").startswith("#/"):
        at = DESCRIPTION
        for key in item["$ref"][2:].split("/"):
            at = at[key.replace("~1", "/").replace("~0", "~")]
        item = at
    return item


RESOLVER = jsonschema.RefResolver("", DESCRIPTION, store={"/schemas/system.schema.json": SYSTEM, SYSTEM["$id"]: SYSTEM})


def faults(instance, schema):
    validator = jsonschema.Draft202012Validator(schema, resolver=RESOLVER)
    return [f"/{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(instance)]


def operations():
    for path, item in DESCRIPTION["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


PATTERNS = [
    (re.compile("^" + re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path)) + "$"), path)
    for path in sorted(DESCRIPTION["paths"], key=lambda p: "{" in p)
]


def operation_of(exchange):
    plain = exchange["path"].split("?")[0]
    method = "get" if exchange["method"] == "HEAD" else exchange["method"].lower()
    for pattern, path in PATTERNS:
        if pattern.match(plain) and method in DESCRIPTION["paths"][path]:
            return path, method
    return None


def check_document():
    found = []
    for name, schema in DESCRIPTION["components"]["schemas"].items():
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            found.append(f"{name}: {error.message}")
    names = [operation["operationId"] for _, _, operation in operations()]
    found += [f"operationId {n} is used twice" for n in set(names) if names.count(n) > 1]
    for path, method, operation in operations():
        taken = [resolved(p) for p in DESCRIPTION["paths"][path].get("parameters", []) + operation.get("parameters", [])]
        in_path = {p["name"] for p in taken if p["in"] == "path"}
        if in_path != set(re.findall(r"\{([^}]*)\}", path)):
            found.append(f"{method} {path}: the parameters {sorted(in_path)} do not match the path")
        found += [f"{method} {path}: unknown tag {t}" for t in operation["tags"] if t not in tags()]
    verdict("schemas, operations, path parameters and tags of the description are consistent", found)


def tags():
    return {tag["name"] for tag in DESCRIPTION["tags"]}


def check_body(exchange, media, schema):
    if "body" not in exchange or exchange["method"] == "HEAD":
        return []
    body = exchange["body"]
    if media.endswith("json") and not media.endswith("ndjson"):
        return faults(json.loads(body), schema)
    if media == "application/x-ndjson":
        return [f for line in body.splitlines()[:200] for f in faults(json.loads(line), schema)]
    return []


def check_answer(exchange, response):
    response = resolved(response)
    content = response.get("content", {})
    media = exchange["type"].split(";")[0]
    if exchange["status"] in (204, 304):
        return [] if not exchange.get("body") else ["this status must have no body"]
    if media not in content:
        return [f"media type {media or 'none'} is not described"]
    found = check_body(exchange, media, content[media].get("schema", {}))
    if "\nx-request-id:" not in exchange["headers"].lower():
        found.append("X-Request-Id is missing")
    return found


def check_exchanges(exchanges):
    wrong, bad_requests, seen = [], [], set()
    for exchange in exchanges:
        place = f"{exchange['method']} {exchange['path'][:80]} {exchange['status']}"
        at = operation_of(exchange)
        if at is None:
            if exchange["method"] == "OPTIONS" or exchange["status"] in BEFORE_ROUTING:
                continue
            wrong.append(f"{place}: this operation is not described")
            continue
        path, method = at
        operation = DESCRIPTION["paths"][path][method]
        response = operation["responses"].get(str(exchange["status"]))
        seen.add((path, method, str(exchange["status"])))
        if response is None:
            if exchange["status"] not in BEFORE_ROUTING:
                wrong.append(f"{place}: this status is not described")
            continue
        wrong += [f"{place}: {fault}" for fault in check_answer(exchange, response)]
        if 200 <= exchange["status"] < 300 and "sent" in exchange and "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            bad_requests += [
                f"{place}: the accepted body violates the schema: {f}" for f in faults(json.loads(exchange["sent"]), schema)]
    verdict(f"{len(exchanges)} responses match the description", wrong)
    verdict("every accepted request body matches its schema", bad_requests)
    unseen = [
        f"{method.upper()} {path}: {status} does not occur in the tests"
        for path, method, operation in operations()
        for status in operation["responses"]
        if status.startswith("2") and (path, method, status) not in seen
    ]
    verdict("every operation occurs with each of its successful statuses", unseen)


def main():
    file = os.environ.get("HAMEL_TEST_EXCHANGES", "")
    check_document()
    lines = Path(file).read_text().splitlines() if file and Path(file).exists() else []
    if lines:
        check_exchanges([json.loads(line) for line in lines])
    else:
        verdict("the HTTP tests have recorded responses", ["set HAMEL_TEST_EXCHANGES and run the HTTP tests"])
    print(f"1..{len(results)}")
    for number, (name, found) in enumerate(results, 1):
        print(f"{'not ok' if found else 'ok'} {number} - {name}")
        for line in sorted(set(found))[:SHOWN]:
            print(f"# {line}")
    return any(found for _, found in results)


if __name__ == "__main__":
    sys.exit(main())
