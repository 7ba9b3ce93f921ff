import { resolve } from "node:path";
import { expect, test } from "vitest";
import { parseLocation } from "./open-store.ts";

test.each([
  [
    "postgres://u:p@host:5432/db?sslmode=require",
    { engine: "postgres", url: "postgres://u:p@host:5432/db?sslmode=require" },
  ],
  ["postgresql://host/db", { engine: "postgres", url: "postgresql://host/db" }],
  ["/var/tandem.db", { engine: "sqlite", file: "/var/tandem.db" }],
  ["data/tandem.db", { engine: "sqlite", file: resolve("data/tandem.db") }],
  ["sqlite:data/tandem.db", { engine: "sqlite", file: resolve("data/tandem.db") }],
  ["sqlite:///var/tandem.db", { engine: "sqlite", file: "/var/tandem.db" }],
  ["file:///var/with%20space.db", { engine: "sqlite", file: "/var/with space.db" }],
  ["file:/var/tandem.db", { engine: "sqlite", file: "/var/tandem.db" }],
])("%s", (text, expected) => {
  expect(parseLocation(text)).toEqual(expected);
});

test.each(["", ":memory:", "sqlite:", "sqlite::memory:", "mysql://u:s3cret@host/db", "libsql://host"])(
  "not %s",
  (text) => {
    expect(() => parseLocation(text)).toThrow(/names no database/);
    expect(() => parseLocation(text)).not.toThrow(/s3cret/);
  },
);
