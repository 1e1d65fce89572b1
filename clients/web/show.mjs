// Converts responses to HTML elements. All text is inserted as text nodes, never as markup.

export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return node;
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function number(value) {
  const size = Math.abs(value);
  return Number.isInteger(value) || (size >= 1e-3 && size < 1e6) ? String(Number(value.toPrecision(7))) : value.toExponential(3);
}

function table(rows) {
  const keys = [...new Set(rows.flatMap(Object.keys))];
  return element("table", {},
    element("thead", {}, element("tr", {}, keys.map((key) => element("th", { scope: "col" }, words(key))))),
    element("tbody", {}, rows.map((row) => element("tr", {}, keys.map((key) => element("td", {}, value(row[key], key)))))));
}

export const words = (key) => key.replaceAll("_", " ");

// Converts a JSON value. Objects, lists of objects, and matrices become tables; other lists become text.
export function value(item, key) {
  if (item === undefined || item === null) return "–";
  if (typeof item === "boolean") return element("span", { class: key === "passed" && (item ? "yes" : "no") }, item ? "yes" : "no");
  if (typeof item === "number") return number(item);
  if (typeof item === "string") return item.includes("\n") ? element("pre", { class: "text" }, item) : item;
  if (Array.isArray(item)) {
    if (item.length && item.every(isObject)) return table(item);
    if (item.some(Array.isArray)) return element("table", {}, item.map((row) => element("tr", {}, [].concat(row).map((cell) => element("td", {}, value(cell))))));
    return item.length ? item.map((part) => (typeof part === "number" ? number(part) : String(part))).join(", ") : "none";
  }
  if (Object.keys(item).length === 0) return "none";
  return element("table", {}, Object.entries(item).map(([key, part]) =>
    element("tr", {}, element("th", { scope: "row" }, words(key)), element("td", {}, value(part, key)))));
}

export function section(title, item) {
  return [element("h2", {}, words(title)), element("div", {}, value(item))];
}

export function summary(item, events) {
  const { warnings = [], checks = [], invariants = [], manifest, ...rest } = item;
  return [
    ...warnings.map((text) => element("p", { class: "warning" }, text)),
    ...(checks.length ? section("checks", checks) : []),
    ...(invariants.length ? section("invariants", invariants) : []),
    ...(events.length ? section("events", events.slice(0, 200)) : []),
    ...section("run", rest),
    ...(manifest ? section("manifest, to reproduce the same bytes", manifest) : []),
  ];
}

export function analysis({ equations, name, ...rest }) {
  const plain = Object.fromEntries(Object.entries(rest).filter(([, part]) => typeof part !== "object" || part === null));
  const parts = Object.entries(rest).filter(([, part]) => typeof part === "object" && part !== null && String(Object.values(part)) !== "");
  return [
    ...(equations ? [element("h2", {}, "Equations of motion"), element("pre", { class: "text" }, equations.text)] : []),
    ...section(name || "System", plain),
    ...parts.flatMap(([key, part]) => section(key, part)),
  ];
}
