import { expect, test } from "vitest";
import { ingestSection } from "./context-config.ts";

const parse = (source: object) => ingestSection.safeParse({ sources: { shop: source } }).success;

test.each([
  { path: "docs" },
  { type: "dbt", git: "https://github.com/acme/models.git", branch: "main", path: "analytics", token: "env:TOKEN" },
  { type: "dbt", git: "git@github.com:acme/models.git" },
  { type: "dbt", git: "ssh://git@example.com/models" },
  { git: "file:///srv/models" },
  { type: "queries", connection: "shop" },
])("accepts a source %j", (source) => expect(parse(source)).toBe(true));

test.each([
  {},
  { type: "queries" },
  { type: "queries", connection: "shop", path: "docs" },
  { path: "docs", branch: "main" },
  { git: "ext::sh -c x" },
  { git: "-u https://example.com" },
  { git: "http://example.com/x" },
  { git: "https://ada:secret@example.com/x" },
  { git: "https://token@example.com/x" },
  { git: "ssh://git:secret@example.com/x" },
  { git: "git@-oProxyCommand=x:path" },
  { git: "https://example.com/x", token: "ghp_plain" },
])("refuses a source %j", (source) => expect(parse(source)).toBe(false));
