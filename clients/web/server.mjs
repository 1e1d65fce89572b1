// Requests to the server: token, problem documents, streamed responses.
import { EventLines, Lines } from "./text.mjs";

// Error reported by the server; `problem` is the problem document (RFC 9457).
export class Problem extends Error {
  constructor(problem) {
    super(problem.detail || problem.title || `HTTP status ${problem.status}`);
    this.problem = problem;
  }
}

export const token = {
  get: () => sessionStorage.getItem("token") || "",
  set: (value) => (value ? sessionStorage.setItem("token", value) : sessionStorage.removeItem("token")),
};

async function problemOf(response) {
  const plain = { status: response.status, title: `HTTP status ${response.status}` };
  try {
    return { ...plain, ...(await response.json()) };
  } catch {
    return plain;
  }
}

// Sends a request; `body` is JSON text. If the status reports success, returns the response; otherwise throws a
// Problem. If `signal` is aborted, throws an AbortError. If there is no response, throws a TypeError.
export async function call(method, path, { body, accept = "application/json", signal } = {}) {
  const headers = { Accept: accept };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  const response = await fetch(path, { method, headers, body, signal });
  if (!response.ok) throw new Problem(await problemOf(response));
  return response;
}

export const ask = async (method, path, options) => (await call(method, path, options)).json();

async function* lines(response) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const pieces = new Lines();
  for (;;) {
    const { done, value } = await reader.read();
    yield* pieces.push(decoder.decode(value, { stream: !done }));
    if (done) break;
  }
  if (pieces.rest) yield pieces.rest;
}

// Yields the objects of an NDJSON response as they arrive.
export async function* objects(response) {
  for await (const line of lines(response)) if (line) yield JSON.parse(line);
}

// Yields the events of a text/event-stream response. EventSource is not used, because it cannot send a token.
export async function* events(response) {
  const parser = new EventLines();
  for await (const line of lines(response)) {
    const event = parser.push(line);
    if (event) yield event;
  }
}
