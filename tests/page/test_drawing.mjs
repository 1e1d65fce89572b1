#!/usr/bin/node
// Tests of clients/web/rows.mjs and of the geometry in clients/web/scene.mjs.
import assert from "node:assert/strict";
import { digits, MOST_VALUES, outline, padded, Rows, ticks } from "../../clients/web/rows.mjs";
import { bounds, coil, edges, projection, resolved, rim } from "../../clients/web/scene.mjs";
import { finish, test } from "./tap.mjs";

function table(columns, ...rows) {
  const made = new Rows(columns);
  rows.forEach((row) => assert.ok(made.add(row)));
  return made;
}

function close(a, b) {
  assert.equal(a.length, b.length);
  a.forEach((value, k) => assert.ok(Math.abs(value - b[k]) < 1e-12, `${a} is not ${b}`));
}

test("a growing table keeps its rows and the range of each column", () => {
  const rows = new Rows(["t", "x"]);
  for (let k = 0; k < 5000; k++) rows.add([k, -2 * k]);
  assert.equal(rows.count, 5000);
  for (const k of [0, 1023, 1024, 4999]) assert.deepEqual([rows.at(k, 0), rows.at(k, 1)], [k, -2 * k]);
  assert.deepEqual(rows.ranges.map(([low, high]) => [low + 0, high + 0]), [[0, 4999], [-9998, 0]]);
});

test("a full table accepts no more rows", () => {
  const rows = new Rows(Array.from({ length: 2 ** 13 }, (_, k) => `c${k}`));
  const row = new Float64Array(rows.width);
  let kept = 0;
  while (kept <= MOST_VALUES / rows.width && rows.add(row)) kept++;
  assert.equal(kept, MOST_VALUES / rows.width);
  assert.equal(rows.count, kept);
});

test("values between rows are interpolated, values outside the table are those of its ends, and at an event the later row is used", () => {
  const rows = table(["t", "x"], [0, 0], [1, 10], [1, 20], [2, 40]);
  for (const [t, x] of [[-1, 0], [0, 0], [0.25, 2.5], [1, 20], [1.5, 30], [2, 40], [9, 40]]) assert.equal(rows.valueAt(t, 1), x);
});

test("CSV quotes column names and preserves every digit and sign", () => {
  const rows = table(["t", 'a,"b"', "c"], [0, 0.1 + 0.2, 7], [1e-300, -0, 8]);
  assert.equal(rows.csv([0, 1]), 't,"a,""b"""\n0,0.30000000000000004\n1e-300,-0\n');
  for (const value of [Math.PI, 1e21, -5e-324, 123456789]) assert.equal(Number(digits(value)), value);
});

test("ticks are inside the range, and their number is about that requested", () => {
  for (const [low, high] of [[0, 1], [-3.7, 12.2], [1e-9, 3e-9], [1e8, 1e8 + 7], [-0.3, 0.1]]) {
    const marks = ticks(low, high, 6);
    const slack = 1e-6 * (high - low);
    assert.ok(marks.length >= 3 && marks.length <= 13, `${marks}`);
    assert.ok(marks[0] >= low - slack && marks.at(-1) <= high + slack, `${marks}`);
  }
  assert.deepEqual(ticks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(2, 2, 5), [2]);
});

test("a range of one value is enlarged on both sides", () => {
  for (const value of [0, 5, -1e9, 1e-20]) {
    const [low, high] = padded([value, value]);
    assert.ok(low < value && value < high);
  }
  assert.deepEqual(padded([0, 100]), [-5, 105]);
});

test("an outline of many rows is short and contains every peak", () => {
  const rows = new Rows(["t", "x"]);
  for (let k = 0; k < 100000; k++) rows.add([k, k === 54321 ? 9 : k === 77777 ? -9 : Math.sin(k)]);
  const points = outline(rows, 0, 1, 500);
  assert.ok(points.length <= 2000);
  assert.deepEqual([points[0][0], points.at(-1)[0]], [0, 99999]);
  assert.deepEqual(points.find(([, x]) => x === 9), [54321, 9]);
  assert.deepEqual(points.find(([, x]) => x === -9), [77777, -9]);
  assert.ok(points.every(([t], k) => k === 0 || points[k - 1][0] < t));
  assert.ok(outline(rows, 1, 0, 500).length <= 20000);
  assert.equal(outline(table(["t", "x"], [0, 1], [1, 2]), 0, 1, 500).length, 2);
});

test("shapes refer to columns by index, and bounds enclose the shapes in all rows", () => {
  const scene = { dimension: 2, shapes: [
    { shape: "point", name: "a", points: [["ax", "ay"]], axes: [], sizes: [] },
    { shape: "circle", name: "", points: [["ax", "ay"]], axes: [], sizes: ["r"] }] };
  const shapes = resolved(scene, ["t", "ay", "ax", "r"]);
  assert.deepEqual(shapes.map(({ kind }) => kind), ["circle", "point"]);
  assert.deepEqual(shapes[1].points, [[2, 1]]);
  const rows = table(["t", "ay", "ax", "r"], [0, 1, 10, 2], [1, 3, 20, 2]);
  assert.deepEqual(bounds(shapes, 2, rows.ranges), [[8, 22], [-1, 5]]);
});

test("a projection preserves lengths orthogonal to the view direction and removes lengths along it", () => {
  const [azimuth, elevation] = [0.7, 0.3];
  const project = projection(3, azimuth, elevation);
  const sight = [Math.cos(azimuth) * Math.cos(elevation), Math.sin(azimuth) * Math.cos(elevation), Math.sin(elevation)];
  close(project(sight), [0, 0]);
  close(project([-Math.sin(azimuth), Math.cos(azimuth), 0]), [1, 0]);
  close(projection(3, 0, 0)([5, 2, 3]), [2, 3]);
  close(projection(2, 1, 1)([5, 2]), [5, 2]);
});

test("a spring is drawn between its ends, a rim has its radius, and a box has all its edges", () => {
  const points = coil([1, 2], [11, 2], 3);
  close(points[0], [1, 2]);
  close(points.at(-1), [11, 2]);
  assert.equal(Math.max(...points.map(([, y]) => y)), 5);
  assert.ok(coil([1, 1], [1, 1], 3).flat().every(Number.isFinite));
  for (const place of rim([1, 2, 3], [[0, 1, 0], [0, 0, 1], [1, 0, 0]], 4)) {
    assert.equal(place[0], 1);
    assert.ok(Math.abs(Math.hypot(place[1] - 2, place[2] - 3) - 4) < 1e-12);
  }
  const box = edges([0, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [2, 4, 6]);
  assert.equal(box.length, 12);
  const lengths = box.map(([a, b]) => Math.hypot(...a.map((value, k) => value - b[k]))).sort();
  assert.deepEqual(lengths, [2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6]);
  assert.equal(edges([0, 0], [[1, 0], [0, 1]], [1, 1]).length, 4);
});

finish();
