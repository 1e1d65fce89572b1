// The page /docs. It lists the operations of the API, as /openapi.json describes them. Each operation has a form that
// sends a request.
//
// The page loads nothing from other hosts. It inserts the text of a response as textContent, never as markup, and shows
// each response while it arrives.
"use strict";

const SHOWN_CHARACTERS = 200000;
const METHODS = ["get", "post", "delete"];

let description;

function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === false || value === undefined) continue;
    if (key === "className") node.className = value;
    else node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== ""));
  return node;
}

function resolved(item) {
  if (!item || !item.$ref || !item.$ref.startsWith("#/")) return item;
  return item.$ref.slice(2).split("/").reduce((at, key) => at[key], description);
}

// ---- parameters of an operation ----

function parametersOf(path, operation) {
  return [...(description.paths[path].parameters || []), ...(operation.parameters || [])].map(resolved);
}

function field(parameter) {
  const schema = resolved(parameter.schema) || {};
  const input = element("input", { placeholder: schema.default === undefined ? "" : String(schema.default) });
  return { parameter, input };
}

function parameterTable(fields) {
  const rows = fields.map(({ parameter, input }) =>
    element("tr", {},
      element("td", {}, element("code", {}, parameter.name), parameter.required ? " (needed)" : ""),
      element("td", {}, parameter.in),
      element("td", {}, input),
      element("td", { className: "note" }, parameter.description || "")));
  const head = element("tr", {}, ...["name", "in", "value", ""].map((text) => element("th", {}, text)));
  return element("table", {}, head, ...rows);
}

function responseTable(operation) {
  const rows = Object.entries(operation.responses).map(([status, response]) => {
    const found = resolved(response);
    return element("tr", {},
      element("td", {}, element("code", {}, status)),
      element("td", {}, found.description || ""),
      element("td", {}, Object.keys(found.content || {}).join(", ")));
  });
  return element("table", {}, ...rows);
}

function mediaTypesOf(operation) {
  const good = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
  return good.flatMap(([, response]) => Object.keys(resolved(response).content || {}));
}

// ---- sending ----

function targetOf(path, fields) {
  const query = new URLSearchParams();
  let target = path;
  for (const { parameter, input } of fields) {
    if (parameter.in === "path") target = target.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    if (parameter.in === "query" && input.value !== "") query.set(parameter.name, input.value);
  }
  return query.size > 0 || query.toString() ? `${target}?${query}` : target;
}

function headersOf(fields, accept, hasBody) {
  const headers = {};
  const token = document.getElementById("token").value.trim();
  for (const { parameter, input } of fields) {
    if (parameter.in === "header" && input.value !== "") headers[parameter.name] = input.value;
  }
  if (accept) headers.Accept = accept;
  if (hasBody) headers["Content-Type"] = "application/json";
  if (token) headers.Authorization = `Bearer ${token}`;
  return headers;
}

async function showBody(response, output) {
  const reader = response.body && response.body.getReader();
  const decoder = new TextDecoder();
  let shown = 0;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    const text = decoder.decode(value, { stream: true });
    output.append(text.slice(0, Math.max(0, SHOWN_CHARACTERS - shown)));
    shown += text.length;
  }
  if (shown > SHOWN_CHARACTERS) output.append(`\n… ${shown - SHOWN_CHARACTERS} more characters`);
}

async function send(method, target, options, output) {
  output.textContent = `${method} ${target}\n`;
  try {
    const response = await fetch(target, { method, ...options });
    output.append(`${response.status} ${response.statusText}\n`);
    for (const [name, value] of response.headers) output.append(`${name}: ${value}\n`);
    output.append("\n");
    await showBody(response, output);
  } catch (error) {
    output.append(error.name === "AbortError" ? "\n— stopped" : `\n${error.message}`);
  }
}

function form(method, path, operation) {
  const fields = parametersOf(path, operation).map(field);
  const types = mediaTypesOf(operation);
  const accept = types.length > 1 && element("select", {}, ...types.map((type) => element("option", {}, type)));
  const body = operation.requestBody && element("textarea", { spellcheck: "false", className: "body" });
  const output = element("pre", { hidden: "" });
  const stop = element("button", { type: "button", disabled: "" }, "Stop");
  const go = element("button", { type: "submit" }, "Send");
  const node = element("form", {}, fields.length ? parameterTable(fields) : "",
    body ? element("p", {}, "Body", body) : "", accept ? element("p", {}, "Accept ", accept) : "",
    element("p", {}, go, " ", stop), output);
  node.addEventListener("submit", async (event) => {
    event.preventDefault();
    const abort = new AbortController();
    const options = { headers: headersOf(fields, accept ? accept.value : "", Boolean(body)), signal: abort.signal };
    if (body) options.body = body.value;
    stop.onclick = () => abort.abort();
    stop.disabled = false;
    output.hidden = false;
    await send(method.toUpperCase(), targetOf(path, fields), options, output);
    stop.disabled = true;
  });
  return node;
}

function operationNode(method, path, operation) {
  const node = element("details", { className: "operation", id: operation.operationId },
    element("summary", {}, element("span", { className: `method ${method}` }, method.toUpperCase()),
      element("span", { className: "path" }, path), ` — ${operation.summary || ""}`));
  node.addEventListener("toggle", () => {
    if (!node.open || node.dataset.made) return;
    node.dataset.made = "yes";
    node.append(operation.description ? element("p", {}, operation.description) : "", form(method, path, operation),
      element("h3", {}, "Responses"), responseTable(operation));
  });
  return node;
}

// ---- the page ----

function showOperations() {
  const main = document.getElementById("operations");
  for (const tag of description.tags) {
    main.append(element("h2", {}, tag.name), element("p", { className: "note" }, tag.description || ""));
    for (const [path, item] of Object.entries(description.paths)) {
      for (const method of METHODS) {
        if (item[method] && item[method].tags.includes(tag.name)) main.append(operationNode(method, path, item[method]));
      }
    }
  }
}

async function offerExamples() {
  const select = document.getElementById("example");
  const { items } = await (await fetch("/v1/examples")).json();
  for (const item of items) select.append(element("option", { value: item.href }, item.title || item.name));
  select.addEventListener("change", async () => {
    if (!select.value) return;
    const text = await (await fetch(select.value)).text();
    for (const body of document.querySelectorAll("textarea.body")) body.value = text;
  });
}

async function start() {
  description = await (await fetch("/openapi.json")).json();
  document.getElementById("title").textContent = `${description.info.title} ${description.info.version}`;
  document.getElementById("about").textContent = description.info.description;
  showOperations();
  await offerExamples();
}

start().catch((error) => {
  document.getElementById("about").textContent = `The description cannot be read: ${error.message}`;
});
