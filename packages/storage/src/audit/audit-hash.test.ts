import { expect, test } from "vitest";
import { auditHash, GENESIS } from "./audit-hash.ts";

test("a hash depends on the content, not on the order of keys, and is the same in every version", () => {
  const entry = { seq: 1, at: "2026-01-02T03:04:05.678Z", actor: "ana", kind: "rule.created", session: null };
  const hash = "3dea482aa54f509816ebd1a97ef58dab9c5227c1b331856b01b717b4a11ae2e4";
  const details = { b: [{ z: null, a: "é" }], a: { 10: 1.5, 9: true } };
  const reordered = { a: { 9: true, 10: 1.5, x: undefined }, b: [{ a: "é", z: null }] };
  expect(auditHash(GENESIS, { ...entry, details })).toBe(hash);
  expect(auditHash(GENESIS, { details: reordered, ...entry })).toBe(hash);
  expect(auditHash(GENESIS, { ...entry, details: { ...details, b: [] } })).not.toBe(hash);
});
