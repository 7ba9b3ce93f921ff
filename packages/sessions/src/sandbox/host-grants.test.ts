import type { AuditNote } from "@tandem/protocol";
import type { EgressRefusal } from "@tandem/sandbox";
import { scratchFolder, scratchStore } from "@tandem/storage/testing/scratch-store";
import { beforeEach, expect, test } from "vitest";
import { MovableClock } from "../host/movable-clock.ts";
import { HostGrants } from "./host-grants.ts";

const root = await scratchFolder();
let notes: AuditNote[];
let number = 0;
let clock: MovableClock;
const store = await scratchStore(root);
beforeEach(() => {
  notes = [];
  number += 1;
  clock = new MovableClock();
});

const ids = () => ({ id: `sesn_${number}`, folder: `/srv/${number}`, environmentId: "env_local" });
const open = (): HostGrants =>
  new HostGrants({
    records: store.records,
    clock,
    stateFolder: root,
    note: async (note) => void notes.push(note),
    sessionOf: async () => ids(),
    resolveFolder: async (folder) => folder,
    environmentOf: async () => ({ networking: { type: "default" }, packages: [] }),
  });
const https = (host: string) => ({ host, port: 443 });
const refusal = (host: string, port = 443): EgressRefusal => ({
  host,
  port,
  reason: "not_allowed",
  message: `The sandbox does not allow the host ${host}.`,
  fix: "Ask the user.",
});

test("a grant counts at once in an open session, and a revoked one no longer", async () => {
  const grants = open();
  const session = await grants.open(ids());
  expect(session.isAllowed(https("example.com"))).toBe(false);
  const grant = await grants.allow({ host: "Example.com", scope: "session", session: ids().id, by: "ann" });
  expect(session.isAllowed(https("example.com"))).toBe(true);
  expect(session.isAllowed(https("other.example"))).toBe(false);
  expect((await grants.open({ ...ids(), id: "sesn_other" })).isAllowed(https("example.com"))).toBe(false);
  await grants.revoke(grant.id, "bob");
  expect(session.isAllowed(https("example.com"))).toBe(false);
  expect(notes.map(({ kind, actor }) => `${kind} ${actor}`)).toEqual([
    "sandbox.host_allowed ann",
    "sandbox.host_revoked bob",
  ]);
  await expect(grants.revoke(grant.id, "bob")).rejects.toMatchObject({ code: "not_found" });
});

test("a grant for a folder counts for its later sessions and subfolders, after a restart too", async () => {
  await open().allow({ host: "*.example.com", scope: "folder", session: ids().id, by: "ann" });
  const later = open();
  const { folder } = ids();
  expect((await later.open({ ...ids(), id: "sesn_later", folder })).isAllowed(https("api.example.com"))).toBe(true);
  expect(
    (await later.open({ ...ids(), id: "sesn_later", folder: `${folder}/sub` })).isAllowed(https("a.example.com")),
  ).toBe(true);
  expect(
    (await later.open({ ...ids(), id: "sesn_later", folder: `${folder}2` })).isAllowed(https("a.example.com")),
  ).toBe(false);
});

test("the grant of another process counts soon", async () => {
  const here = open();
  const session = await here.open(ids());
  await open().allow({ host: "example.com", scope: "session", session: ids().id, by: "ann" });
  clock.advance(2_000);
  // The check reads the store in the background; the program's retry succeeds.
  session.isAllowed(https("example.com"));
  await expect.poll(() => session.isAllowed(https("example.com"))).toBe(true);
});

test("a grant for once ends after some minutes, can be renewed, and leaves nothing behind", async () => {
  const grants = open();
  const session = await grants.open(ids());
  const once = { host: "once.example", scope: "once", session: ids().id, by: "ann" } as const;
  const { expires_at } = await grants.allow(once);
  expect(Date.parse(expires_at!)).toBeGreaterThan(clock.now());
  expect(session.isAllowed(https("once.example"))).toBe(true);
  clock.advance(300_000);
  expect(session.isAllowed(https("once.example"))).toBe(false);
  expect((await grants.list(ids().id)).data).toEqual([]);
  await grants.allow(once);
  expect(session.isAllowed(https("once.example"))).toBe(true);
  clock.advance(300_000);
  await grants.allow({ ...once, host: "other.example" });
  const stored = await store.records.list("tandem", "sandbox_host", { limit: 1_000 });
  expect(stored.map(({ value }) => (value as { host: string }).host)).not.toContain("once.example");
});

test("refused hosts are logged once and listed until they are allowed", async () => {
  const grants = open();
  const session = await grants.open(ids());
  expect(session.refused(refusal("example.com"))).toMatchObject({
    type: "tandem.sandbox_violation",
    kind: "host",
    target: "example.com",
  });
  expect(session.refused(refusal("example.com"))).toBeUndefined();
  expect(session.refused({ ...refusal("10.0.0.1"), reason: "ip_literal" })).toMatchObject({ target: "10.0.0.1" });
  const listed = async () => (await grants.list(ids().id)).refused.map(({ host, count }) => ({ host, count }));
  await expect.poll(listed).toEqual([{ host: "example.com", count: 2 }]);
  await grants.allow({ host: "example.com", scope: "folder", session: ids().id, by: "ann" });
  const { data, refused } = await grants.list(ids().id);
  expect({ hosts: data.map(({ host, scope, of }) => ({ host, scope, of })), refused }).toEqual({
    hosts: [{ host: "example.com", scope: "folder", of: ids().folder }],
    refused: [],
  });
});

test("an agent that tries many names fills neither the log nor the store", async () => {
  const grants = open();
  const session = await grants.open(ids());
  const events = Array.from({ length: 300 }, (_, index) => session.refused(refusal(`h${index}.example`)));
  expect(events.filter((event) => event !== undefined)).toHaveLength(100);
});

test("a deleted session leaves nothing behind", async () => {
  const grants = open();
  const session = await grants.open(ids());
  session.refused(refusal("refused.example"));
  await grants.allow({ host: "example.com", scope: "session", session: ids().id, by: "ann" });
  await expect.poll(async () => (await grants.list(ids().id)).refused.length).toBe(1);
  await grants.forget(ids().id);
  expect(await grants.list(ids().id)).toEqual({ data: [], refused: [] });
});

test("hosts that the proxy never reaches cannot be allowed", async () => {
  for (const host of ["10.0.0.1", "localhost", "*", "https://example.com"]) {
    await expect(open().allow({ host, scope: "session", session: ids().id, by: "ann" })).rejects.toThrow(
      "not a valid host pattern",
    );
  }
  await expect(open().allow({ host: "a.example", scope: "session", by: "ann" })).rejects.toThrow("needs a session");
});
