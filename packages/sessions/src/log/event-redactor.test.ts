import type { ConversationOutput } from "@tandem/claude-code";
import type { EventId } from "@tandem/protocol";
import { expect, test } from "vitest";
import { EventRedactor, servedJson } from "./event-redactor.ts";

const TOKEN = `tandem_${"a1B2".repeat(11)}`;
const GITHUB = `ghp_${"a1B2".repeat(9)}`;
const id = "sevt_1" as EventId;

const delta = (text: string): ConversationOutput => ({
  type: "delta",
  thread: null,
  delta: { type: "event_delta", event_id: id, delta: { type: "content_delta", content: { type: "text", text } } },
});

const message = (text: string): ConversationOutput => ({
  type: "event",
  thread: null,
  id,
  event: { type: "agent.message", content: [{ type: "text", text }] },
});

const textsOf = (outputs: readonly ConversationOutput[]): string[] =>
  outputs.flatMap((output) =>
    output.type === "delta" && output.delta.type === "event_delta" ? [output.delta.delta.content.text] : [],
  );

test("a credential over several previews is redacted, and the end of a text is shown before its event", () => {
  const redactor = new EventRedactor();
  const text = `line\n${TOKEN}\nends with tandem_`;
  const outputs = [...Array.from(text, delta), message(text)].flatMap((output) => redactor.output(output));
  expect(textsOf(outputs).join("")).toBe("line\n[redacted]\nends with tandem_");
  expect(outputs.at(-1)).toMatchObject({
    type: "event",
    event: { content: [{ text: "line\n[redacted]\nends with tandem_" }] },
  });
  expect(textsOf(outputs.slice(-2))).toEqual(["tandem_"]);
});

test("previews of a tool's input are redacted", () => {
  const redactor = new EventRedactor();
  const json = JSON.stringify({ command: `cat\n${TOKEN}` });
  const shown = Array.from(json, (piece): ConversationOutput => ({
    type: "delta",
    thread: null,
    delta: { type: "tandem.tool_input_delta", event_id: id, json: piece },
  })).flatMap((output) => redactor.output(output));
  expect(JSON.stringify(shown)).not.toContain("a1B2");
});

test("a known secret is redacted whatever its format", () => {
  const redactor = new EventRedactor();
  redactor.hide("of-a-gateway-1234");
  expect(JSON.stringify(redactor.output(message("x\nof-a-gateway-1234")))).not.toContain("gateway");
});

test("an event in JSON is redacted, and passes unchanged if there is nothing to redact", () => {
  const entry = (text: string) => ({
    seq: 1,
    thread: null,
    id,
    type: "user.message",
    at: null,
    isOnPrimary: true,
    json: JSON.stringify({ type: "user.message", id, content: [{ type: "text", text }] }),
  });
  const coloured = entry("\u001b[32mgreen\u001b[0m, see https://example.com/a");
  expect(servedJson(coloured)).toBe(coloured);
  const { json } = servedJson(entry(`line\n${TOKEN}\n`));
  expect(JSON.parse(json)).toMatchObject({ content: [{ text: "line\n[redacted]\n" }] });
});

test("a client's tool gets credentials of other services, but none of ours", () => {
  const input = { github: GITHUB, own: [TOKEN] };
  const event = { type: "agent.custom_tool_use" as const, name: GITHUB, input, tandem: { tool_use_id: "toolu_1" } };
  expect(new EventRedactor().event(event)).toMatchObject({
    name: "[redacted]",
    input: { github: GITHUB, own: ["[redacted]"] },
  });
});
