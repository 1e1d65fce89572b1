// Rows of a result: a growing table of doubles, and functions that read the table. The functions change only this
// table.

export const MOST_VALUES = 2 ** 25;

// Returns the shortest text that reads back to the same number, in the format of the server.
export const digits = (value) => (Object.is(value, -0) ? "-0" : String(value));

export class Rows {
  #values;
  constructor(columns) {
    this.columns = columns;
    this.width = columns.length;
    this.count = 0;
    this.#values = new Float64Array(1024 * this.width);
    this.ranges = columns.map(() => [Infinity, -Infinity]);
  }

  // Adds a row. If the table is full, returns false and does not add the row.
  add(row) {
    const at = this.count * this.width;
    if (at + this.width > MOST_VALUES) return false;
    if (at + this.width > this.#values.length) {
      const longer = new Float64Array(2 * this.#values.length);
      longer.set(this.#values);
      this.#values = longer;
    }
    for (let k = 0; k < this.width; k++) {
      const value = row[k];
      this.#values[at + k] = value;
      if (value < this.ranges[k][0]) this.ranges[k][0] = value;
      if (value > this.ranges[k][1]) this.ranges[k][1] = value;
    }
    this.count++;
    return true;
  }

  at(row, column) {
    return this.#values[row * this.width + column];
  }

  // Returns the index of the last row whose time (column 0) is at most t, or 0 if t is before the first row.
  rowAt(t) {
    let low = 0;
    let high = this.count;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.at(middle, 0) <= t) low = middle;
      else high = middle;
    }
    return low;
  }

  // Returns the value of a column at time t, by linear interpolation.
  valueAt(t, column) {
    const k = this.rowAt(t);
    if (k + 1 >= this.count) return this.at(k, column);
    const t0 = this.at(k, 0);
    const t1 = this.at(k + 1, 0);
    const part = t1 > t0 ? Math.min(Math.max((t - t0) / (t1 - t0), 0), 1) : 0;
    return this.at(k, column) * (1 - part) + this.at(k + 1, column) * part;
  }

  // Returns the rows as CSV (RFC 4180), with the line ends that the server uses.
  csv(columns) {
    const quoted = (name) => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
    const lines = [columns.map((k) => quoted(this.columns[k])).join(",")];
    for (let row = 0; row < this.count; row++) lines.push(columns.map((k) => digits(this.at(row, k))).join(","));
    return `${lines.join("\n")}\n`;
  }
}

// Returns about `count` round numbers from low to high, spaced by 1, 2 or 5 times a power of ten.
export function ticks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999999);
  const marks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) marks.push(Number((k * step).toPrecision(12)));
  return marks;
}

// Returns the range with a margin at each end. The result has low < high even if the given ends are equal.
export function padded([low, high], part = 0.05) {
  const span = high - low;
  const scale = Math.max(Math.abs(low), Math.abs(high));
  const margin = span > 1e-12 * scale ? span * part : Math.max(scale * 0.1, 0.5e-3);
  return [low - margin, high + margin];
}

const MOST_POINTS = 20000;

// Returns the points [[x, y], ...] to draw for column y over column x. If x is the time and there are many rows,
// divides the rows into `cells` blocks. Returns the first, smallest, largest and last value of each block, so that no
// peak is lost. Otherwise returns every n-th row.
export function outline(rows, x, y, cells) {
  const points = [];
  if (x !== 0 || rows.count <= 4 * cells) {
    const stride = Math.ceil(rows.count / MOST_POINTS);
    for (let k = 0; k < rows.count; k += stride) points.push([rows.at(k, x), rows.at(k, y)]);
    return points;
  }
  for (let cell = 0; cell < cells; cell++) {
    const from = Math.floor((cell * rows.count) / cells);
    const to = Math.floor(((cell + 1) * rows.count) / cells);
    let least = from;
    let most = from;
    for (let k = from; k < to; k++) {
      if (rows.at(k, y) < rows.at(least, y)) least = k;
      if (rows.at(k, y) > rows.at(most, y)) most = k;
    }
    const kept = new Set([from, least, most, to - 1].sort((a, b) => a - b));
    for (const k of kept) points.push([rows.at(k, x), rows.at(k, y)]);
  }
  return points;
}
