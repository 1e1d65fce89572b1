// Chart that draws columns of a result over another column. A second canvas on top marks the current time.
import { colour, fresh, stroke } from "./canvas.mjs";
import { outline, padded, ticks } from "./rows.mjs";

const LEFT = 58, RIGHT = 12, TOP = 10, BOTTOM = 26;

function label(value, step) {
  const places = step > 0 && step < 1e4 ? Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) : 0;
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e6 || places > 6) ? value.toExponential(2) : value.toFixed(Math.min(places, 7));
}

export class Chart {
  constructor(canvas, above) {
    this.canvas = canvas;
    this.above = above;
  }

  // Draws the columns in `series`, a list [{column, colour}], over the column `across`.
  draw(rows, across, series) {
    const drawing = fresh(this.canvas);
    this.shown = null;
    if (!drawing || !rows || rows.count === 0) return;
    const xs = across === 0 ? rows.ranges[0] : padded(rows.ranges[across]);
    const ys = padded(series.reduce(([low, high], { column }) => {
      const [l, h] = rows.ranges[column];
      return [Math.min(low, l), Math.max(high, h)];
    }, series.length ? [Infinity, -Infinity] : [0, 1]));
    const xRange = xs[1] > xs[0] ? xs : padded(xs);
    const { width, height, context } = drawing;
    const toX = (x) => LEFT + ((x - xRange[0]) / (xRange[1] - xRange[0])) * (width - LEFT - RIGHT);
    const toY = (y) => height - BOTTOM - ((y - ys[0]) / (ys[1] - ys[0])) * (height - TOP - BOTTOM);
    this.shown = { rows, across, series, toX, toY, xRange, width, height };
    this.#grid(context, xRange, ys, rows.columns[across]);
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, width - LEFT, height - BOTTOM);
    context.clip();
    context.lineWidth = 1.6;
    for (const { column, colour: name } of series) {
      context.strokeStyle = colour(name);
      stroke(context, outline(rows, across, column, Math.max(1, Math.floor(width - LEFT - RIGHT))).map(([x, y]) => [toX(x), toY(y)]));
    }
    context.restore();
  }

  #grid(context, xRange, yRange, name) {
    const { toX, toY, width, height } = this.shown;
    const ink = colour("quiet");
    const marksX = ticks(...xRange, Math.floor(width / 90));
    const marksY = ticks(...yRange, Math.floor(height / 42));
    context.strokeStyle = colour("grid");
    context.fillStyle = ink;
    context.lineWidth = 1;
    context.textAlign = "center";
    for (const mark of marksX) {
      stroke(context, [[toX(mark), TOP], [toX(mark), height - BOTTOM]]);
      const text = label(mark, marksX[1] - marksX[0]);
      context.fillText(text, Math.min(toX(mark), width - context.measureText(text).width / 2 - 2), height - 9);
    }
    context.textAlign = "right";
    for (const mark of marksY) {
      stroke(context, [[LEFT, toY(mark)], [width - RIGHT, toY(mark)]]);
      context.fillText(label(mark, marksY[1] - marksY[0]), LEFT - 6, toY(mark) + 4);
    }
    context.fillText(name, width - RIGHT, height - BOTTOM - 6);
  }

  // Marks the point at time t on each curve.
  point(t) {
    const drawing = fresh(this.above);
    if (!drawing || !this.shown) return;
    const { rows, across, series, toX, toY, height } = this.shown;
    const { context } = drawing;
    const x = toX(rows.valueAt(t, across));
    if (across === 0) {
      context.strokeStyle = colour("quiet");
      context.lineWidth = 1;
      stroke(context, [[x, TOP], [x, height - BOTTOM]]);
    }
    for (const { column, colour: name } of series) {
      context.fillStyle = colour(name);
      context.beginPath();
      context.arc(x, toY(rows.valueAt(t, column)), 3.5, 0, 7);
      context.fill();
    }
  }

  // Returns the time at a horizontal position in the chart, or null if the horizontal axis is not the time.
  timeAt(pixel) {
    if (!this.shown || this.shown.across !== 0) return null;
    const { xRange, width } = this.shown;
    const part = Math.min(Math.max((pixel - LEFT) / (width - LEFT - RIGHT), 0), 1);
    return xRange[0] + part * (xRange[1] - xRange[0]);
  }
}
