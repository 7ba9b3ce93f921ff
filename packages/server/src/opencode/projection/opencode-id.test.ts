import { newId } from "@tandem/protocol";
import { expect, test } from "vitest";
import {
  callOfRequest,
  eventOfMessage,
  messageIdOf,
  partIdOf,
  requestIdOf,
  sessionIdOf,
  sessionOfId,
  timeOfId,
} from "./opencode-id.ts";

const NOW = Date.parse("2026-11-18T08:00:00Z");

test("every id can be translated back", () => {
  const event = newId("event", NOW);
  expect(eventOfMessage(messageIdOf(event))).toBe(event);
  expect(callOfRequest(requestIdOf("permission", event))).toBe(event);
  expect(callOfRequest(requestIdOf("question", event))).toBe(event);
  const session = newId("session");
  const thread = newId("thread");
  expect(sessionOfId(sessionIdOf(session))).toEqual({ session, thread: null });
  expect(sessionOfId(sessionIdOf(session, thread))).toEqual({ session, thread });
});

test("messages and their parts sort by time and position", () => {
  const messages = [0, 1, 2, 1_000].map((ms) => messageIdOf(newId("event", NOW + ms)));
  expect(messages.toSorted()).toEqual(messages);
  const parts = [0, 1, 9, 10, 300].map((position) => partIdOf(messages[0]!, position, newId("event", NOW)));
  expect(parts.toSorted()).toEqual(parts);
});

test("an id that a client chose is kept, and sorts among ours", () => {
  // As opencode makes it: the time in 1/4096 ms, of which 48 bits are kept, and fourteen random characters.
  const made = `msg_${BigInt.asUintN(48, BigInt(NOW + 5) * 4096n).toString(16)}aZ09aZ09aZ09aZ`;
  const event = eventOfMessage(made);
  expect(event).toMatch(/^sevt_[0-9A-Za-z_-]{1,64}$/);
  expect(messageIdOf(event)).toBe(made);
  expect(timeOfId(event, NOW - 86_400_000)).toBe(NOW + 5);
  const around = [messageIdOf(newId("event", NOW)), made, messageIdOf(newId("event", NOW + 10))];
  expect(around.toSorted()).toEqual(around);
});

test("malformed ids are not found", () => {
  for (const id of ["", "ses_", "sesn_1", "../x", "ses_a/b"])
    expect(() => sessionOfId(id)).toThrow("There is no session");
  expect(() => eventOfMessage("msg_../x")).toThrow("There is no message");
  expect(() => callOfRequest("per_1")).toThrow("There is no request");
});
