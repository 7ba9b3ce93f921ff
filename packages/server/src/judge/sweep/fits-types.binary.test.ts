import { expect, test } from "vitest";
import { misfits } from "./fits-types.ts";

const works = (name: string, answer: unknown) => ({
  name,
  outcome: { type: "works" as const, answer },
  variants: {},
  hasProbe: true,
});
const model = { type: "model_info", id: "claude-x", display_name: "X", created_at: "2026-01-01T00:00:00Z" };
const limits = { capabilities: null, max_input_tokens: null, max_tokens: null };

test("an answer without a field, or with a wrong value in a list or stream, is named; one with more fields is not", async () => {
  const page = { getPaginatedItems: () => [{ ...model, ...limits, type: "model" }] };
  const found = await misfits([
    works("beta.files.delete", { type: "file_deleted", id: "file_1", tandem: { more: true } }),
    works("beta.memoryStores.delete", { type: "memory_store_deleted" }),
    works("models.list", page),
    works("beta.sessions.events.stream", [{ type: "session.status_done", id: "sevt_1" }, { type: "tandem.todo" }]),
  ]);
  expect(found.map(({ name }) => name)).toEqual([
    "beta.memoryStores.delete",
    "models.list",
    "beta.sessions.events.stream",
  ]);
});
