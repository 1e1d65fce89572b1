// List of the stored jobs: shows the progress of jobs (server-sent events), and cancels, deletes and opens jobs.
import { ask, call, events } from "./server.mjs";
import { element } from "./show.mjs";

const WATCHED = 2; // number of streams open at a time, because browsers limit the connections to a host (6 with HTTP/1.1)
const SHOWN = 50;
const ended = (job) => !["queued", "running"].includes(job.status);

export class Jobs {
  #watched = new Map(); // id of the job → AbortController of its stream
  #jobs = [];

  // open(job) shows the rows of a job, edit(text) loads a description into the editor, and report(error) shows an
  // error.
  constructor(list, { open, edit, report }) {
    Object.assign(this, { list, open, edit, report });
  }

  async refresh() {
    try {
      const { items } = await ask("GET", `/v1/jobs?limit=${SHOWN}`);
      this.#jobs = items;
      this.#draw();
      this.#watch();
    } catch (error) {
      this.report(error);
    }
  }

  async submit(text) {
    await call("POST", "/v1/jobs", { body: text });
    await this.refresh();
  }

  leave() {
    for (const abort of this.#watched.values()) abort.abort();
    this.#watched.clear();
  }

  // Follows the oldest jobs that have not ended, because the server runs the oldest jobs first.
  #watch() {
    const waiting = this.#jobs.filter((job) => !ended(job) && !this.#watched.has(job.id));
    while (this.#watched.size < WATCHED && waiting.length) this.#follow(waiting.pop());
  }

  async #follow(job) {
    const abort = new AbortController();
    this.#watched.set(job.id, abort);
    try {
      const response = await call("GET", job.links.events, { accept: "text/event-stream", signal: abort.signal });
      for await (const { data } of events(response)) this.#update(job.id, JSON.parse(data));
    } catch (error) {
      if (error.name !== "AbortError") this.report(error);
    }
    this.#watched.delete(job.id);
    if (!abort.signal.aborted) this.#watch();
  }

  #update(id, change) {
    const job = this.#jobs.find((item) => item.id === id);
    if (!job) return;
    const same = change.status === job.status || change.status === undefined;
    Object.assign(job, change);
    const bar = this.list.querySelector(`[data-id="${CSS.escape(id)}"] progress`);
    if (same && bar) bar.value = job.progress;
    else this.#draw();
  }

  #draw() {
    const empty = element("li", {}, "No jobs. Press Submit as job to store the system on the server and run it there.");
    this.list.replaceChildren(...(this.#jobs.length ? this.#jobs.map((job) => this.#item(job)) : [empty]));
  }

  #item(job) {
    const act = (label, action) => element("button", { type: "button", onclick: () => action().catch(this.report) }, label);
    const good = { completed: "yes", failed: "no", incomplete: "no" }[job.status] || "hint";
    return element("li", { "data-id": job.id },
      element("strong", {}, job.name || "unnamed"), " ", element("span", { class: good }, job.status),
      element("div", { class: "hint" }, new Date(job.created).toLocaleString(), job.problem ? ` – ${job.problem.detail || job.problem.title}` : ""),
      ended(job) ? null : element("progress", { value: job.progress, max: 1, "aria-label": "Progress" }),
      element("div", { class: "bar" },
        act("Show", () => this.open(job)),
        act("Edit", async () => this.edit(await (await call("GET", job.links.system)).text())),
        ended(job) ? null : act("Cancel", async () => { await call("POST", job.links.cancel); await this.refresh(); }),
        act("Delete", async () => { await call("DELETE", job.links.self); await this.refresh(); })));
  }
}
