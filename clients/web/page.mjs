// Main module of the page /: connects the editor, the server, and the display of responses.
//
// The page loads nothing from other hosts and never inserts text from a response as markup (show.mjs).
import { Editor } from "./editor.mjs";
import { Jobs } from "./jobs.mjs";
import { Motion } from "./motion.mjs";
import { ask, call, objects, Problem, token } from "./server.mjs";
import { analysis, element, summary } from "./show.mjs";
import { analysisRequest, faultsOf, withScene } from "./text.mjs";

const FIRST_EXAMPLE = "spring_pendulum";
const ids = Object.fromEntries([...document.querySelectorAll("[id]")].map((node) => [node.id, node]));
const tabs = [...document.querySelectorAll("[role=tab]")];
const panels = { motion: ids.motion, summary: ids.summary, analysis: ids.analysis, jobs: ids.jobs };

const editor = new Editor({ text: ids.text, paint: ids.paint, numbers: ids.numbers, list: ids.faults });
const motion = new Motion(ids);
const jobs = new Jobs(ids.list, { open: showJob, edit, report: tell });
let running = null; // AbortController of the current request; null if there is none

// ---- messages ----

function state(text, bad = false) {
  ids.state.textContent = text;
  ids.state.classList.toggle("bad", bad);
}

// Shows a problem, and marks its errors in the text of the editor. `sent` is the request that contained the text.
function tell(error, sent = { text: editor.text, at: 0, added: 0 }, prefix = "") {
  if (error.name === "AbortError") return state("stopped");
  const problem = error instanceof Problem ? error.problem : { detail: `no response: ${error.message}` };
  state(problem.title || "no response", true);
  const faults = faultsOf(problem, editor.text, sent, prefix);
  if (faults.length) editor.show(faults);
  else editor.tell(problem.detail || problem.title);
  if (problem.status === 401) ids.token.focus();
  return undefined;
}

function select(name) {
  for (const tab of tabs) {
    const chosen = tab.getAttribute("aria-controls") === name;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
  }
  for (const [key, panel] of Object.entries(panels)) panel.hidden = key !== name;
  if (name === "jobs") jobs.refresh();
  else jobs.leave();
}

// ---- running ----

async function during(action) {
  if (running) running.abort();
  const mine = new AbortController();
  running = mine;
  ids.stop.disabled = false;
  try {
    await action(mine.signal);
  } finally {
    if (running === mine) {
      running = null;
      ids.stop.disabled = true;
    }
  }
}

// Displays header, rows, events and summary of a stream as they arrive.
async function watch(response) {
  const events = [];
  let ended = false;
  for await (const { header, row, event, progress, summary: last, problem } of objects(response)) {
    if (header) motion.begin(header);
    if (row && !motion.add(row)) throw new Problem({ title: "too many rows for this page", detail: "request fewer samples, or submit a job, which stores all rows" });
    if (event) events.push(event);
    if (progress) state(progress.fraction === undefined ? "running" : `${Math.round(100 * progress.fraction)} %`);
    if (last) ids.summary.replaceChildren(...summary(last, events));
    if (last) state(`${last.status} at t = ${last.t}${last.passed === false ? ", a check failed" : ""}`, last.passed === false || last.status === "incomplete");
    if (problem) throw new Problem(problem);
    ended ||= Boolean(last);
  }
  if (!ended) throw new Problem({ title: "the stream is incomplete", detail: "the stream ended before the end of the run; run the system again" });
}

async function simulate() {
  const sent = withScene(editor.text);
  editor.show([]);
  state("running");
  if (!panels.summary.hidden) ids.summary.replaceChildren();
  else select("motion");
  await during(async (signal) => {
    try {
      await watch(await call("POST", "/v1/simulations", { body: sent.text, accept: "application/x-ndjson", signal }));
    } catch (error) {
      tell(error, sent);
    }
    motion.end();
  });
}

async function showJob(job) {
  select("motion");
  state(job.status);
  await during(async (signal) => {
    try {
      const path = `${job.links.results}?follow=true`;
      await watch(await call("GET", path, { accept: "application/x-ndjson", signal }));
    } catch (error) {
      tell(error);
    }
    motion.end();
  });
}

async function analyze() {
  const more = [...document.querySelectorAll("input[name=more]:checked")].map((box) => box.value);
  const options = { equations: { format: ids.notation.value } };
  const sent = analysisRequest(editor.text, ["structure", "equations", ...more], options);
  editor.show([]);
  select("analysis");
  state("analyzing");
  await during(async (signal) => {
    try {
      ids.findings.replaceChildren(...analysis(await ask("POST", "/v1/analyses", { body: sent.text, signal })));
      state("");
    } catch (error) {
      tell(error, sent, "/system");
    }
  });
}

async function submit() {
  const sent = withScene(editor.text);
  editor.show([]);
  try {
    await jobs.submit(sent.text);
    select("jobs");
    state("submitted");
  } catch (error) {
    tell(error, sent);
  }
}

// ---- choosing a system ----

// Stores the text, so that it survives a reload, and removes the name of the example from the address.
function keep() {
  sessionStorage.setItem("text", editor.text);
  if (location.hash) history.replaceState(null, "", location.pathname);
}

function edit(text) {
  editor.text = text;
  keep();
}

async function load(name) {
  ids.examples.close();
  try {
    edit(await (await call("GET", `/v1/examples/${encodeURIComponent(name)}`)).text());
    history.replaceState(null, "", `#${name}`);
    ids.run.focus();
  } catch (error) {
    tell(error);
  }
}

let known = null;
async function offerExamples() {
  ids.examples.showModal();
  known ??= (await ask("GET", "/v1/examples")).items;
  findExamples();
}

function findExamples() {
  const wanted = ids.search.value.toLowerCase().split(/\s+/);
  const fits = ({ name, title, description, source }) => {
    const text = [name, title, description, source].join(" ").toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
  ids.found.replaceChildren(...(known || []).filter(fits).map(({ name, title, description, source }) =>
    element("li", {}, element("button", { type: "button", onclick: () => load(name) },
      element("strong", {}, title || name), element("small", {}, description || ""), element("small", {}, source || "")))));
}

// ---- the page ----

function listen() {
  const doing = (action) => () => { Promise.resolve(action()).catch(tell); };
  ids.run.addEventListener("click", doing(simulate));
  ids.analyze.addEventListener("click", doing(analyze));
  ids.submit.addEventListener("click", doing(submit));
  ids.stop.addEventListener("click", () => running && running.abort());
  ids.refresh.addEventListener("click", doing(() => jobs.refresh()));
  ids.choose.addEventListener("click", doing(offerExamples));
  ids.search.addEventListener("input", doing(findExamples));
  ids.notation.addEventListener("change", doing(analyze));
  ids.text.addEventListener("input", keep);
  ids.token.value = token.get();
  ids.token.addEventListener("input", () => token.set(ids.token.value.trim()));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) doing(simulate)();
    if (event.key === "Escape" && running && !ids.examples.open) running.abort();
  });
  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => select(tab.getAttribute("aria-controls")));
    tab.addEventListener("keydown", ({ key }) => {
      const next = tabs[(k + { ArrowRight: 1, ArrowLeft: tabs.length - 1 }[key]) % tabs.length];
      if (!next) return;
      select(next.getAttribute("aria-controls"));
      next.focus();
    });
  });
}

listen();
const kept = sessionStorage.getItem("text");
const asked = decodeURIComponent(location.hash.slice(1));
if (kept && !asked) edit(kept);
else load(asked || FIRST_EXAMPLE);
