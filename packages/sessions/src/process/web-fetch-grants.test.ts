import type { EventId } from "@tandem/protocol";
import { expect, test } from "vitest";
import { WebFetchGrants } from "./web-fetch-grants.ts";

const id = "sevt_1" as EventId;
const result = {
  type: "event",
  id: "sevt_2" as EventId,
  thread: null,
  event: { type: "agent.tool_result", tool_use_id: id, content: [], is_error: false },
} as never;

test("the host of an approved WebFetch is allowed until the call has a result; no other tool's is", () => {
  const allowed: string[] = [];
  const grants = new WebFetchGrants((host) => {
    allowed.push(host);
    return { [Symbol.dispose]: () => void allowed.splice(allowed.indexOf(host), 1) };
  });
  grants.start({ eventId: id, name: "Bash", input: { url: "https://a.example" } });
  grants.start({ eventId: id, name: "WebFetch", mcpServer: "other", input: { url: "https://a.example" } });
  grants.start({ eventId: id, name: "WebFetch", input: { url: "not a url" } });
  expect(allowed).toEqual([]);
  grants.start({ eventId: id, name: "WebFetch", input: { url: "https://a.example:8443/page" } });
  expect(allowed).toEqual(["a.example:8443"]);
  grants.observe(result);
  expect(allowed).toEqual([]);
});
