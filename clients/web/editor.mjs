// Editor: a transparent textarea on top of the same text in colours, with line numbers and error marks.
import { element } from "./show.mjs";
import { lineAndColumn, tokens } from "./text.mjs";

const MOST_PAINTED = 200000; // characters; a longer text is shown without colours

function painted(text, faults) {
  const marks = faults.filter(({ from, to }) => to > from).sort((a, b) => a.from - b.from);
  const pieces = [];
  const put = (from, to, kind) => {
    if (from >= to) return;
    const piece = text.slice(from, to);
    pieces.push(kind === "plain" ? piece : element(kind === "mark" ? "mark" : "span", kind === "mark" ? {} : { class: kind }, piece));
  };
  const cut = (from, to, kind) => {
    let at = from;
    for (const mark of marks) {
      if (mark.to <= at || mark.from >= to) continue;
      put(at, Math.max(at, mark.from), kind);
      at = Math.max(at, mark.from);
      put(at, Math.min(to, mark.to), "mark");
      at = Math.min(to, mark.to);
    }
    put(at, to, kind);
  };
  for (const { kind, from, to } of text.length > MOST_PAINTED ? [{ kind: "other", from: 0, to: text.length }] : tokens(text)) {
    const isKey = kind === "string" && /^\s*:/.test(text.slice(to, to + 20));
    cut(from, to, isKey ? "key" : kind === "string" ? "string" : kind === "number" || kind === "word" ? "number" : "plain");
  }
  return pieces;
}

export class Editor {
  #faults = [];
  constructor({ text, paint, numbers, list }) {
    Object.assign(this, { area: text, paint, numbers, list });
    text.addEventListener("input", () => this.show([]));
    text.addEventListener("scroll", () => this.#follow());
  }

  get text() {
    return this.area.value;
  }

  set text(value) {
    this.area.value = value;
    this.area.setSelectionRange(0, 0);
    this.area.scrollTo(0, 0);
    this.show([]);
  }

  // Marks each error {from, to, message, suggestion} in the text, and lists the errors. An empty list removes all
  // marks.
  show(faults) {
    this.#faults = faults;
    const bad = new Set(faults.map(({ from }) => lineAndColumn(this.text, from).line));
    const count = this.text.split("\n").length;
    this.numbers.replaceChildren(...Array.from({ length: count }, (_, k) => element("span", { class: bad.has(k + 1) ? "bad" : "" }, `${k + 1}\n`)));
    this.paint.replaceChildren(...painted(this.text, faults), "\n");
    this.list.replaceChildren(...faults.map((fault) => this.#item(fault)));
    this.area.setAttribute("aria-invalid", faults.length > 0);
    this.#follow();
  }

  // Shows an error that has no position in the text.
  tell(message) {
    this.show([]);
    this.list.replaceChildren(element("li", {}, element("button", { type: "button" }, message)));
  }

  #item(fault) {
    const { line, column } = lineAndColumn(this.text, fault.from);
    const hint = fault.suggestion ? element("span", { class: "hint" }, `\ntry: ${fault.suggestion}`) : null;
    return element("li", {}, element("button", { type: "button", onclick: () => this.#go(fault, line) },
      element("span", { class: "place" }, `line ${line}, column ${column}`),
      fault.pointer ? element("span", { class: "hint" }, ` ${fault.pointer}`) : null, `\n${fault.message}`, hint));
  }

  #go({ from, to }, line) {
    this.area.focus();
    this.area.setSelectionRange(from, to);
    const height = parseFloat(getComputedStyle(this.area).lineHeight);
    this.area.scrollTop = Math.max(0, (line - 4) * height);
  }

  #follow() {
    this.paint.scrollTop = this.numbers.scrollTop = this.area.scrollTop;
    this.paint.scrollLeft = this.area.scrollLeft;
  }
}
