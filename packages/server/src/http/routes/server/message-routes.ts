import type { MessagesOperation } from "@tandem/protocol";
import { passedRoute, type PassedCall, type Route } from "../../route.ts";

/** The caller's headers that the backend gets. Its credential there is Tandem's own. */
const PASSED_HEADERS = ["anthropic-version", "anthropic-beta"];

export const messageRoutes: Route[] = [
  passedRoute("messages.create", {
    scope: "run",
    at: "here",
    longRunning: true,
    summary: "Create a message on the configured backend, whole or as a stream; all other fields pass through",
    handle: (call) => send(call, "create"),
  }),
  passedRoute("messages.countTokens", {
    scope: "run",
    at: "here",
    longRunning: true,
    summary: "Count the tokens of a message on the configured backend; all other fields pass through",
    handle: (call) => send(call, "count_tokens"),
  }),
];

function send({ engine, token, header, bytes, body, signal, reply }: PassedCall, operation: MessagesOperation) {
  const headers = Object.fromEntries(
    PASSED_HEADERS.flatMap((name) => {
      const value = header(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return engine.messages.send({ operation, body: bytes, parsed: body, headers, signal, actor: token.name }, reply);
}
