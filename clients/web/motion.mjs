// Display of a result: the scene, the chart, the selection of columns, and the current time of scene and chart.
import { Chart } from "./chart.mjs";
import { digits, Rows } from "./rows.mjs";
import { Scene } from "./scene.mjs";
import { element } from "./show.mjs";

const SERIES = 8, FIRST = 3, FIT_SECONDS = 10;
const isScene = (name) => name.startsWith("scene.");
const brief = (value) => digits(Number(value.toPrecision(5)));

export class Motion {
  #t = 0;
  #due = false;
  #playing = false;
  #following = false; // true while the run continues and the newest row is shown
  #frame = 0;
  #chosen = [];

  constructor(ids) {
    this.ids = ids;
    this.scene = new Scene(ids.scene, () => this.#redraw());
    this.chart = new Chart(ids.chart, ids.cursor);
    ids.play.addEventListener("click", () => this.#play(!this.#playing));
    ids.time.addEventListener("input", () => this.#seek(Number(ids.time.value)));
    ids.across.addEventListener("change", () => this.#redraw());
    ids.csv.addEventListener("click", () => this.#download());
    const point = (event) => {
      const t = event.buttons || event.type === "pointerdown" ? this.chart.timeAt(event.offsetX) : null;
      if (t !== null) this.#seek(t);
    };
    for (const type of ["pointerdown", "pointermove"]) ids.chart.addEventListener(type, point);
    new ResizeObserver(() => this.#redraw()).observe(ids.drawn);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#redraw());
  }

  begin(header) {
    const again = this.rows && this.rows.columns.join() === header.columns.join();
    this.header = header;
    this.rows = new Rows(header.columns);
    this.#play(false);
    this.#following = true;
    this.ids.empty.hidden = true;
    this.ids.drawn.hidden = false;
    this.ids.picture.hidden = !this.scene.begin(header);
    if (!again) this.#offerColumns();
  }

  // Adds a row. Returns false if no more rows can be stored.
  add(row) {
    const kept = this.rows.add(row);
    this.#redraw();
    return kept;
  }

  // Call this when the run has ended. Plays the motion from the beginning, unless the user prefers reduced motion.
  end() {
    if (!this.rows || !this.#following) return;
    this.#following = false;
    this.#t = this.rows.ranges[0][0];
    if (!this.ids.picture.hidden && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.#play(true);
    this.#redraw();
  }

  #offerColumns() {
    const own = this.header.columns.map((name, k) => ({ name, k })).filter(({ name }) => !isScene(name));
    const unit = (k) => (this.header.units && this.header.units[k] ? ` in ${this.header.units[k]}` : "");
    this.#chosen = own.slice(1, 1 + FIRST).map(({ k }) => k);
    this.ids.across.replaceChildren(...own.map(({ name, k }) => element("option", { value: k }, name + unit(k))));
    this.ids.columns.replaceChildren(...own.slice(1).map(({ name, k }) => {
      const box = element("input", { type: "checkbox", value: k, onchange: () => this.#choose(k, box.checked) });
      return element("label", { "data-column": k, title: name + unit(k) }, box, name, element("output", {}));
    }));
    this.#paintChoice();
  }

  #choose(column, wanted) {
    this.#chosen = this.#chosen.filter((k) => k !== column);
    if (wanted) this.#chosen.push(column);
    if (this.#chosen.length > SERIES) this.#chosen.shift();
    this.#paintChoice();
    this.#redraw();
  }

  #paintChoice() {
    for (const label of this.ids.columns.children) {
      const place = this.#chosen.indexOf(Number(label.dataset.column));
      label.className = place < 0 ? "" : `series-${place + 1}`;
      label.firstChild.checked = place >= 0;
      if (place < 0) label.lastChild.value = "";
    }
  }

  #seek(t) {
    this.#following = false;
    this.#t = t;
    this.#redraw();
  }

  #play(wanted) {
    this.#playing = wanted;
    this.ids.play.textContent = wanted ? "❚❚" : "▶";
    this.ids.play.setAttribute("aria-label", wanted ? "Pause" : "Play");
    cancelAnimationFrame(this.#frame);
    if (!wanted || !this.rows || !this.rows.count) return;
    if (this.#t >= this.rows.ranges[0][1]) this.#t = this.rows.ranges[0][0];
    let before = performance.now();
    const step = (now) => {
      const [start, stop] = this.rows.ranges[0];
      const speed = this.ids.speed.value === "fit" ? (stop - start) / FIT_SECONDS : Number(this.ids.speed.value);
      this.#t = Math.min(this.#t + ((now - before) / 1000) * speed, stop);
      before = now;
      this.#point();
      if (this.#t >= stop) this.#play(false);
      else this.#frame = requestAnimationFrame(step);
    };
    this.#following = false;
    this.#frame = requestAnimationFrame(step);
  }

  #redraw() {
    if (this.#due) return;
    this.#due = true;
    requestAnimationFrame(() => {
      this.#due = false;
      if (!this.rows || !this.rows.count) return;
      const series = this.#chosen.map((column, k) => ({ column, colour: `series-${k + 1}` }));
      if (this.#following) this.#t = this.rows.ranges[0][1];
      this.chart.draw(this.rows, Number(this.ids.across.value), series);
      this.#point();
    });
  }

  // Updates the scene, the chart and the controls for the current time.
  #point() {
    const [start, stop] = this.rows.ranges[0];
    const { time, clock, columns } = this.ids;
    [time.min, time.max, time.value] = [start, stop, this.#t];
    clock.value = `t = ${brief(this.#t)}`;
    this.scene.draw(this.rows, this.#t);
    this.chart.point(this.#t);
    for (const label of columns.children) {
      const column = Number(label.dataset.column);
      if (this.#chosen.includes(column)) label.lastChild.value = brief(this.rows.valueAt(this.#t, column));
    }
  }

  #download() {
    const own = this.rows.columns.map((_, k) => k).filter((k) => !isScene(this.rows.columns[k]));
    const address = URL.createObjectURL(new Blob([this.rows.csv(own)], { type: "text/csv" }));
    const name = (this.header.name || "result").replace(/[^\p{L}\p{N}]+/gu, "-").toLowerCase();
    element("a", { href: address, download: `${name}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }
}
