// Draws the scene of a result (header.scene): shapes whose coordinates and sizes are columns of the result.
import { colour, fresh, stroke } from "./canvas.mjs";
import { ticks } from "./rows.mjs";

const ROUND = 48, COILS = 12, TRAIL = 1500;
const ORDER = ["path", "disk", "box", "circle", "line", "spring", "point"];

// Returns the shapes, sorted from back to front. Replaces the names of columns by their indices.
export function resolved(scene, columns) {
  const number = new Map(columns.map((name, k) => [name, k]));
  const numbers = (groups) => groups.map((names) => names.map((name) => number.get(name)));
  return scene.shapes
    .map((s) => ({ kind: s.shape, name: s.name, points: numbers(s.points), axes: numbers(s.axes), sizes: s.sizes.map((name) => number.get(name)) }))
    .sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

// Returns the range of each component, [[low, high], ...], over all points in all rows. The sizes of shapes enlarge the
// ranges.
export function bounds(shapes, dimension, ranges) {
  const box = Array.from({ length: dimension }, () => [Infinity, -Infinity]);
  for (const { kind, points, sizes } of shapes) {
    const greatest = Math.max(0, ...sizes.map((k) => Math.abs(ranges[k][1])));
    const room = kind === "box" ? greatest / 2 : greatest;
    for (const point of points) {
      point.forEach((column, k) => {
        box[k][0] = Math.min(box[k][0], ranges[column][0] - room);
        box[k][1] = Math.max(box[k][1], ranges[column][1] + room);
      });
    }
  }
  return box;
}

// Returns a function that projects a point to the plane of the picture, with x to the right and y up. In space the
// function is a parallel projection. The view direction has the angle `azimuth` about the third axis and `elevation`
// above the plane of the first two axes.
export function projection(dimension, azimuth, elevation) {
  if (dimension === 2) return ([x, y]) => [x, y];
  const [ca, sa, ce, se] = [Math.cos(azimuth), Math.sin(azimuth), Math.cos(elevation), Math.sin(elevation)];
  return ([x, y, z]) => [-sa * x + ca * y, -se * (ca * x + sa * y) + ce * z];
}

// Returns the corners of a zigzag line, which draws a spring between two points of the picture.
export function coil([x0, y0], [x1, y1], width) {
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  const [nx, ny] = [(-(y1 - y0) / length) * width, ((x1 - x0) / length) * width];
  const along = (part, side) => [x0 + (x1 - x0) * part + nx * side, y0 + (y1 - y0) * part + ny * side];
  const points = [along(0, 0), along(0.12, 0)];
  for (let k = 0; k < 2 * COILS; k++) points.push(along(0.12 + (0.76 * (k + 0.5)) / (2 * COILS), k % 2 ? -1 : 1));
  return [...points, along(0.88, 0), along(1, 0)];
}

const add = (a, b, factor) => a.map((value, k) => value + factor * b[k]);

// Returns the axes of a shape. In the plane the second axis is perpendicular to the first. A shape without axes has the
// inertial axes.
function frame(axes, dimension) {
  if (axes.length === 0) return dimension === 2 ? [[1, 0], [0, 1]] : [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  return dimension === 2 ? [axes[0], [-axes[0][1], axes[0][0]]] : axes;
}

export function rim(center, axes, radius) {
  return Array.from({ length: ROUND }, (_, k) => {
    const angle = (2 * Math.PI * k) / ROUND;
    return add(add(center, axes[0], radius * Math.cos(angle)), axes[1], radius * Math.sin(angle));
  });
}

// Returns the edges of a box as pairs of corners.
export function edges(center, axes, sizes) {
  const corner = (bits) => axes.reduce((at, axis, k) => add(at, axis, (bits & (1 << k) ? 0.5 : -0.5) * sizes[k]), center);
  const pairs = [];
  for (let bits = 0; bits < 1 << axes.length; bits++) {
    for (let k = 0; k < axes.length; k++) if (!(bits & (1 << k))) pairs.push([corner(bits), corner(bits | (1 << k))]);
  }
  return pairs;
}

export class Scene {
  azimuth = -1.05;
  elevation = 0.42;

  constructor(canvas, changed) {
    this.canvas = canvas;
    this.changed = changed;
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons) this.#turn(event.movementX / 120, event.movementY / 120);
    });
    canvas.addEventListener("keydown", (event) => {
      const turn = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
      if (!turn || this.dimension !== 3) return;
      event.preventDefault();
      this.#turn(...turn);
    });
  }

  #turn(x, y) {
    if (this.dimension !== 3) return;
    this.azimuth -= x;
    this.elevation = Math.min(Math.max(this.elevation + y, -1.5), 1.5);
    this.changed();
  }

  // Sets up the drawing for a header. Returns false if the header has no shapes.
  begin(header) {
    const scene = header.scene || { dimension: 0, shapes: [] };
    this.dimension = scene.shapes.length ? scene.dimension : 0;
    this.shapes = this.dimension ? resolved(scene, header.columns) : [];
    return this.dimension > 0;
  }

  draw(rows, t) {
    const drawing = this.dimension && rows && rows.count ? fresh(this.canvas) : null;
    if (!drawing) return;
    this.context = drawing.context;
    this.#aim(drawing, bounds(this.shapes, this.dimension, rows.ranges));
    this.#ground(drawing);
    const now = (column) => rows.valueAt(t, column);
    for (const shape of this.shapes) {
      if (shape.kind === "path") this.#path(rows, t, shape.points[0]);
      else this.#shape(shape, shape.points.map((p) => p.map(now)), shape.axes.map((a) => a.map(now)), shape.sizes.map(now));
    }
  }

  #aim({ width, height }, box) {
    const project = projection(this.dimension, this.azimuth, this.elevation);
    const center = project(box.map(([low, high]) => (low + high) / 2));
    const spans = box.map(([low, high]) => high - low);
    const round = Math.hypot(...spans) || 1; // in space the picture must contain the scene in every view direction
    const [w, h] = this.dimension === 2 ? spans : [round, round];
    this.scale = 0.86 * Math.min(width / Math.max(w, 0.02 * round), height / Math.max(h, 0.02 * round));
    this.to = (place) => {
      const [x, y] = project(place);
      return [width / 2 + (x - center[0]) * this.scale, height / 2 - (y - center[1]) * this.scale];
    };
    this.corner = [center[0] - width / 2 / this.scale, center[1] - height / 2 / this.scale];
  }

  // Draws a grid with numbers for a planar scene, or the axes at the origin for a scene in space.
  #ground({ context, width, height }) {
    context.strokeStyle = colour("grid");
    context.fillStyle = colour("quiet");
    context.lineWidth = 1;
    if (this.dimension === 3) {
      const unit = 45 / this.scale;
      [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((axis, k) => {
        const end = this.to(axis.map((value) => value * unit));
        context.strokeStyle = colour("quiet");
        stroke(context, [this.to([0, 0, 0]), end]);
        context.fillText("123"[k], end[0] + 3, end[1] - 3);
      });
      return;
    }
    const [left, bottom] = this.corner;
    for (const x of ticks(left, left + width / this.scale, width / 90)) {
      const [at] = this.to([x, 0]);
      stroke(context, [[at, 0], [at, height]]);
      context.fillText(x, at + 3, height - 5);
    }
    for (const y of ticks(bottom, bottom + height / this.scale, height / 70)) {
      const [, at] = this.to([0, y]);
      stroke(context, [[0, at], [width, at]]);
      if (at < height - 20) context.fillText(y, 4, at - 4);
    }
  }

  #path(rows, t, point) {
    const last = rows.rowAt(t);
    const stride = Math.ceil((last + 1) / TRAIL);
    const places = [];
    for (let k = 0; k <= last; k += stride) places.push(this.to(point.map((column) => rows.at(k, column))));
    places.push(this.to(point.map((column) => rows.valueAt(t, column))));
    this.context.strokeStyle = colour("series-3");
    this.context.lineWidth = 1.2;
    stroke(this.context, places);
  }

  #shape({ kind, name }, points, axes, sizes) {
    const { context } = this;
    const places = points.map(this.to);
    context.lineWidth = 2;
    context.strokeStyle = colour("ink");
    if (kind === "line") stroke(context, places);
    if (kind === "spring") {
      context.lineWidth = 1.4;
      context.strokeStyle = colour("series-5");
      stroke(context, coil(places[0], places[1], 7));
    }
    if (kind === "circle" || kind === "disk") this.#round(kind, points[0], frame(axes, this.dimension), sizes[0]);
    if (kind === "box") {
      context.strokeStyle = colour("series-7");
      for (const pair of edges(points[0], frame(axes, this.dimension), sizes)) stroke(context, pair.map(this.to));
    }
    if (kind === "point") this.#dot(places[0], name);
  }

  #round(kind, center, axes, radius) {
    const { context } = this;
    context.strokeStyle = colour("series-7");
    stroke(context, rim(center, axes, radius).map(this.to), true);
    if (kind === "disk") stroke(context, [this.to(center), this.to(add(center, axes[0], radius))]);
  }

  #dot([x, y], name) {
    const { context } = this;
    context.fillStyle = colour("series-2");
    context.beginPath();
    context.arc(x, y, this.shapes.length > 12 ? 4 : 6, 0, 7);
    context.fill();
    if (!name || this.shapes.length > 12) return;
    context.fillStyle = colour("quiet");
    context.fillText(name, x + 9, y - 6);
  }
}
