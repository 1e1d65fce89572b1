#!/usr/bin/node
// Tests of clients/web/text.mjs: positions of errors in the text, and documents received in pieces.
import assert from "node:assert/strict";
import { analysisRequest, EventLines, faultsOf, lineAndColumn, Lines, offsetOf, places, rangeOf, tokens, withScene } from "../../clients/web/text.mjs";
import { finish, test } from "./tap.mjs";

const whole = (text) => ({ text, at: 0, added: 0 });
const marked = (text, fault) => text.slice(...rangeOf(text, fault));

test("tokens cover the text without gaps, even if it is invalid JSON", () => {
  for (const text of ['{"a": [1, -2.5e3, true], "b": "x\\"y"}', '{"open: \n nonsense ~ 1', "", '"\\', "\u{1F600}{"]) {
    let at = 0;
    for (const { from, to } of tokens(text)) {
      assert.equal(from, at);
      assert.ok(to > from);
      at = to;
    }
    assert.equal(at, text.length);
  }
});

test("every pointer of a document refers to the text of its value", () => {
  const document = { a: [1, { "b/c~d": "x", e: [] }, [[2], "y"]], "": null, f: { g: false } };
  for (const indent of [0, 2]) {
    const text = JSON.stringify(document, null, indent);
    const found = places(text);
    const walk = (item, pointer) => {
      assert.deepEqual(JSON.parse(text.slice(...found.get(pointer).value)), item);
      if (item === null || typeof item !== "object") return 1;
      return Object.entries(item).reduce((sum, [key, part]) => sum + walk(part, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`), 1);
    };
    assert.equal(walk(document, ""), found.size);
  }
});

test("a column in an expression marks the word at this column", () => {
  assert.equal(marked('{"kinetic_energy": "x\'^2/2 + zeta"}', { pointer: "/kinetic_energy", column: 10 }), "zeta");
});

test("columns count code points, and an escape sequence counts as its character", () => {
  assert.equal(marked('{"e": "\u{1F600}θ + z"}', { pointer: "/e", column: 6 }), "z");
  assert.equal(marked('{"e": "\\ud83d\\ude00\\u03b8\\t+ z"}', { pointer: "/e", column: 6 }), "z");
});

test("a column beyond the end of an expression marks the end", () => {
  const text = '{"e": "1 +"}';
  assert.deepEqual(rangeOf(text, { pointer: "/e", column: 4 }), [10, 11]);
  assert.deepEqual(rangeOf(text, { pointer: "/e", column: 99 }), [11, 11]);
});

test("an error without a column marks key and value, but only the key of an object", () => {
  const text = '{"a": {"b": 1}, "c": [5, [6]]}';
  assert.equal(marked(text, { pointer: "/a/b" }), '"b": 1');
  assert.equal(marked(text, { pointer: "/a" }), '"a"');
  assert.equal(marked(text, { pointer: "/c/0" }), "5");
  assert.equal(marked(text, { pointer: "/c/1" }), "[");
});

test("an error at a missing value marks the enclosing value", () => {
  const text = '{"a": {"b": 1}}';
  assert.equal(marked(text, { pointer: "/a/x/y", column: 3 }), '"a"');
  assert.equal(marked(text, { pointer: "" }), "{");
  assert.deepEqual(rangeOf("", { pointer: "/a" }), [0, 0]);
});

test("lineAndColumn and offsetOf are inverse functions, with columns in code points", () => {
  const text = "ab\n\u{1F600}c\n\nθ";
  for (const [offset, line, column] of [[0, 1, 1], [2, 1, 3], [3, 2, 1], [5, 2, 2], [7, 3, 1], [8, 4, 1], [9, 4, 2]]) {
    assert.deepEqual(lineAndColumn(text, offset), { line, column });
    assert.equal(offsetOf(text, line, column), offset);
  }
  assert.equal(offsetOf(text, 9, 1), text.length);
});

test("withScene requests the scene unless the description already contains simulation.scene, and changes nothing else", () => {
  for (const text of ['{"simulation": {"stop": 1}}', '{"simulation": { }, "a": 1.10}']) {
    const sent = withScene(text);
    assert.equal(JSON.parse(sent.text).simulation.scene, true);
    assert.equal(sent.text.slice(0, sent.at) + sent.text.slice(sent.at + sent.added), text);
  }
  for (const text of ['{"simulation": {"scene": false}}', "{}", '{"simulation": 3}', "no JSON {"]) assert.equal(withScene(text).text, text);
});

test("syntax errors have positions in the user's text, not in the request", () => {
  const text = '{"simulation": {"stop": 1}, x}';
  for (const sent of [whole(text), withScene(text), analysisRequest(text, ["structure"], {})]) {
    const [fault] = faultsOf({ line: 1, column: sent.text.indexOf("x}") + 1, detail: "line 1, column 1: a key" }, text, sent);
    assert.equal(text.slice(fault.from, fault.to), "x");
    assert.equal(fault.message, "a key");
  }
  const [end] = faultsOf({ line: 1, column: 500, detail: "found the end" }, "{", analysisRequest("{", [], {}));
  assert.deepEqual([end.from, end.to], [1, 1]);
});

test("errors of a description lose the prefix of their pointers and are in the order of the text", () => {
  const text = '{"a": "p + q", "b": 2}';
  const errors = [{ pointer: "/system/b", message: "two" }, { pointer: "/system/a", message: "one", column: 5, suggestion: "s" }];
  const faults = faultsOf({ errors }, text, whole(text), "/system");
  assert.deepEqual(faults.map(({ from, to }) => text.slice(from, to)), ["q", '"b": 2']);
  assert.deepEqual([faults[0].message, faults[0].suggestion], ["one", "s"]);
  assert.deepEqual(faultsOf({ detail: "busy" }, text, whole(text)), []);
});

test("lines are complete even if the text arrives in pieces", () => {
  const text = '{"header":{}}\n{"row":[1]}\r\n\nrest';
  for (let size = 1; size <= text.length; size++) {
    const lines = new Lines();
    const got = [];
    for (let at = 0; at < text.length; at += size) got.push(...lines.push(text.slice(at, at + size)));
    assert.deepEqual(got, ['{"header":{}}', '{"row":[1]}', ""]);
    assert.equal(lines.rest, "rest");
  }
});

test("server-sent events are parsed according to the standard", () => {
  const parser = new EventLines();
  const lines = [": beat", "", "event: status", "id: 4", 'data: {"a":', "data:1}", "", "data: x", ""];
  const got = lines.map((line) => parser.push(line)).filter(Boolean);
  assert.deepEqual(got, [{ event: "status", data: '{"a":\n1}', id: "4" }, { event: "message", data: "x", id: "4" }]);
});

finish();
