import { parseConfig } from "./parse/parse-config.ts";
import { storeLocation, databaseName } from "./store-location.ts";
import { expect, test } from "vitest";

const project = (source = "") => ({ ...parseConfig(source, "tandem.yaml"), folder: "/project" });
const context = (env: Record<string, string>) => ({
  env: { TANDEM_HOME: "/home", ...env },
  signal: new AbortController().signal,
});
const secret = "postgres://u:hunter2@db.example/tandem";

test.each([
  ["a file in TANDEM_HOME where nothing is said", "", {}, "/home/tandem.db", "default"],
  ["DATABASE_URL", "", { DATABASE_URL: secret }, secret, "DATABASE_URL"],
  ["an empty DATABASE_URL is none", "", { DATABASE_URL: "" }, "/home/tandem.db", "default"],
  [
    "storage.url goes before it",
    "storage: { url: 'postgres://u@h/d' }",
    { DATABASE_URL: secret },
    "postgres://u@h/d",
    "storage.url",
  ],
  ["storage.url as a secret's place", "storage: { url: 'env:PG' }", { PG: secret }, secret, "storage.url"],
])("%s", async (_, source, env, location, chosenBy) => {
  expect(await storeLocation(context(env), project(source))).toEqual({ location, chosenBy });
});

test.each([
  ["", { DATABASE_URL: "mysql://u:hunter2@h/d" }, "DATABASE_URL is not"],
  ["storage: { url: 'env:PG' }", { PG: "hunter2" }, "storage.url is not"],
  ["storage: { url: 'postgres://h/d', directUrl: 'env:PG' }", { PG: "hunter2" }, "storage.directUrl is not"],
  ["storage: { directUrl: 'postgres://h/d' }", {}, "storage.directUrl needs storage.url"],
])("what is no Postgres address is refused without repeating it: %s %j", async (source, env, message) => {
  const refused = storeLocation(context(env), project(source));
  await expect(refused).rejects.toThrow(message);
  await expect(refused).rejects.not.toThrow("hunter2");
});

test.each([
  ["storage: { url: 'postgres://pool/d', directUrl: 'env:PG' }", { PG: secret }],
  ["storage: { url: 'postgres://pool/d' }", { DATABASE_DIRECT_URL: secret }],
])("a database behind a pooler also has an address without it: %s", async (source, env) => {
  expect(await storeLocation(context(env), project(source))).toMatchObject({
    location: "postgres://pool/d",
    directUrl: secret,
  });
});

test("without Postgres, the variable for a pooler's database is ignored", async () => {
  expect(await storeLocation(context({ DATABASE_DIRECT_URL: secret }), project())).toEqual({
    location: "/home/tandem.db",
    chosenBy: "default",
  });
});

test("the database name is derived without reading secrets", () => {
  expect(databaseName({ DATABASE_URL: secret }, project())).toBe("postgres://db.example/tandem");
  expect(databaseName({}, project("storage: { url: 'env:PG' }"))).toBe("env:PG");
});
