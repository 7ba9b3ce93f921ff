import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AuditNote, CredentialCreateParams } from "@tandem/protocol";
import { readKeyFile, SecretBox, type Store } from "@tandem/storage";
import { scratchFolder, scratchStore } from "@tandem/storage/testing/scratch-store";
import { beforeEach, expect, test } from "vitest";
import { MovableClock } from "../host/movable-clock.ts";
import { createVaults } from "./create-vaults.ts";
import { findVaultKeyProblem } from "./vault-key.ts";

let folder: string;
let store: Store;
let clock: MovableClock;
let notes: AuditNote[];
beforeEach(async () => {
  folder = await scratchFolder();
  store = await scratchStore(folder);
  clock = new MovableClock();
  notes = [];
});

const KEY = randomBytes(32);

/** A process on the same database. */
function openVaults(key = KEY) {
  const warnings: object[] = [];
  return {
    warnings,
    ...createVaults({
      records: store.records,
      secrets: new SecretBox(async () => key),
      note: async (note) => void notes.push(note),
      log: { warn: (details) => void warnings.push(details) },
      clock,
    }),
  };
}

const oauth = (url: string): CredentialCreateParams => ({
  auth: {
    type: "mcp_oauth",
    mcp_server_url: url,
    access_token: "first-access",
    expires_at: new Date(clock.now() + 60_000).toISOString(),
    refresh: {
      client_id: "tandem",
      refresh_token: "first-refresh",
      token_endpoint: "https://login.example.com/token",
      token_endpoint_auth: { type: "client_secret_post", client_secret: "the-client" },
    },
  },
});

test("the reader opens the secrets of active credentials, in the order of the vaults", async () => {
  const { vaults, reader } = openVaults();
  const [first, second] = [await vaults.create({ display_name: "1" }), await vaults.create({ display_name: "2" })];
  const inFirst = await vaults.credentials.create(first.id, oauth("https://a.example.com"));
  const inSecond = await vaults.credentials.create(second.id, oauth("https://a.example.com"));
  const found = await reader.credentials([second.id, "vlt_none", first.id]);
  expect(found.map(({ id }) => id)).toEqual([inSecond.id, inFirst.id]);
  const { auth } = found[0]!;
  if (auth.type !== "mcp_oauth" || auth.refresh?.token_endpoint_auth.type !== "client_secret_post") {
    throw new Error("expected a client secret");
  }
  expect(await reader.open(auth.access_token)).toBe("first-access");
  expect(await reader.open(auth.refresh.refresh_token)).toBe("first-refresh");
  expect(await reader.open(auth.refresh.token_endpoint_auth.client_secret)).toBe("the-client");
  // A secret that was moved to another credential does not open.
  await expect(reader.open({ ...auth.access_token, owner: `${first.id}/${inFirst.id}/access_token` })).rejects.toThrow(
    /damaged/,
  );
  await vaults.archive(second.id);
  expect((await reader.credentials([second.id, first.id])).map(({ id }) => id)).toEqual([inFirst.id]);
  expect(await reader.credential({ vaultId: second.id, id: inSecond.id })).toBeUndefined();
});

test("of two processes that replace tokens, the first wins", async () => {
  const [one, two] = [openVaults(), openVaults()];
  const vault = await one.vaults.create({ display_name: "1" });
  const { id } = await one.vaults.credentials.create(vault.id, oauth("https://a.example.com"));
  const [credential] = await two.reader.credentials([vault.id]);
  const expiry = new Date(clock.now() + 3_600_000).toISOString();
  const outcomes = await Promise.all([
    one.reader.replaceTokens(credential!, { access_token: "one", refresh_token: "rotated", expires_at: expiry }),
    two.reader.replaceTokens(credential!, { access_token: "two", expires_at: expiry }),
  ]);
  expect(outcomes.filter(Boolean)).toHaveLength(1);
  const now = await two.reader.credential({ vaultId: vault.id, id });
  if (now?.auth.type !== "mcp_oauth") throw new Error("expected the credential");
  expect(now.auth.expires_at).toBe(expiry);
  expect(await two.reader.open(now.auth.access_token)).toBe(outcomes[0] ? "one" : "two");
  // Tokens of an archived credential stay deleted.
  await one.vaults.credentials.archive(vault.id, id);
  expect(await one.reader.replaceTokens(now, { access_token: "late", expires_at: null })).toBe(false);
});

test("a failed refresh is announced and shown once, until the tokens change", async () => {
  const { vaults, reader } = openVaults();
  const vault = await vaults.create({ display_name: "1" });
  const { id } = await vaults.credentials.create(vault.id, oauth("https://a.example.com"));
  const read = async () => (await reader.credential({ vaultId: vault.id, id }))!;
  expect(await reader.refreshFailed(await read(), "The token endpoint answered 400.")).toBe(true);
  expect(await reader.refreshFailed(await read(), "The token endpoint answered 400.")).toBe(true);
  expect(notes.filter(({ kind }) => kind === "vault_credential.refresh_failed")).toHaveLength(1);
  expect((await vaults.credentials.get(vault.id, id)).tandem.state).toBe("refresh_failed");
  await reader.replaceTokens(await read(), { access_token: "next", expires_at: null });
  expect((await vaults.credentials.get(vault.id, id)).tandem.state).toBe("unverified");
});

test("an access token without refresh expires", async () => {
  const { vaults } = openVaults();
  const vault = await vaults.create({ display_name: "1" });
  const params = oauth("https://a.example.com");
  if (params.auth.type === "mcp_oauth") params.auth.refresh = null;
  const { id } = await vaults.credentials.create(vault.id, params);
  clock.advance(61_000);
  expect((await vaults.credentials.get(vault.id, id)).tandem.state).toBe("expired");
});

test("a process with another key notices, changes nothing, and takes over once the old secrets are gone", async () => {
  const [one, other] = [openVaults(), openVaults(randomBytes(32))];
  const vault = await one.vaults.create({ display_name: "1" });
  const { id } = await one.vaults.credentials.create(vault.id, oauth("https://a.example.com"));
  await one.start();
  await other.start();
  expect(one.warnings).toEqual([]);
  expect(other.warnings).toMatchObject([{ error: expect.stringContaining("sealed with the key") as string }]);
  expect(await findVaultKeyProblem(store.records, async () => KEY)).toBeUndefined();
  expect(await findVaultKeyProblem(store.records, async () => randomBytes(32))).toMatchObject({
    message: expect.stringContaining("sealed with the key") as string,
    fix: expect.stringContaining("secrets.key") as string,
  });
  const missing = join(folder, "secrets.key");
  expect(await findVaultKeyProblem(store.records, () => readKeyFile(missing, { makes: false }))).toMatchObject({
    message: `The key ${missing} is missing.`,
  });
  expect(existsSync(missing)).toBe(false);
  const [credential] = await other.reader.credentials([vault.id]);
  if (credential?.auth.type !== "mcp_oauth") throw new Error("expected the credential");
  await expect(other.reader.open(credential.auth.access_token)).rejects.toThrow(/another key/);
  await expect(other.vaults.credentials.create(vault.id, oauth("https://b.example.com"))).rejects.toMatchObject({
    message: expect.stringContaining("Nothing was changed") as string,
    fix: expect.stringContaining("secrets.key") as string,
  });
  expect(await one.reader.open(credential.auth.access_token)).toBe("first-access");
  // The key is lost permanently: archiving needs no key.
  await other.vaults.credentials.archive(vault.id, id);
  await other.vaults.credentials.create(vault.id, oauth("https://a.example.com"));
  await expect(one.vaults.credentials.create(vault.id, oauth("https://c.example.com"))).rejects.toThrow(/the key/);
});
