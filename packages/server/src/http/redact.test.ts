import { expect, test } from "vitest";
import { redact } from "./redact.ts";

test.each([
  "tandem_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG",
  "sk-ant-api03-AbC_dEf-0123456789",
  "sk-ant-oat01-xyzxyzxyz",
  "Bearer abcdefghijklmnopqrstuvwxyz",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
  "ghp_0123456789abcdefghij0123",
  "AKIAIOSFODNN7EXAMPLE",
])("%s is redacted", (secret) => {
  expect(redact(`{"text":"before ${secret} after"}`)).toBe('{"text":"before [redacted] after"}');
});

test("in a URL, only the password is redacted", () => {
  expect(redact("postgres://tandem:hunter2@db.example/tandem")).toBe("postgres://tandem:[redacted]@db.example/tandem");
});

test.each([
  "sesn_01M7F3KV23TPTQNJYK9XDCHKJZ",
  "tandem.notice",
  "http://127.0.0.1:4760/v1",
  "a bearer of news",
  "tandem_up",
])("%s is kept", (text) => {
  expect(redact(text)).toBe(text);
});
