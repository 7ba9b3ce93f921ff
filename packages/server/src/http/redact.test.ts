import { expect, test } from "vitest";
import { createLogger } from "./create-logger.ts";
import { redact, redactPath } from "./redact.ts";

test.each([
  "tandem_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG",
  "sk-ant-api03-AbC_dEf-0123456789",
  "sk-ant-oat01-xyzxyzxyz",
  "Bearer abcdefghijklmnopqrstuvwxyz",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
  "ghp_0123456789abcdefghij0123",
  "AKIAIOSFODNN7EXAMPLE",
])("%s is redacted", (secret) => {
  const before = secret.startsWith("Bearer") ? "before Bearer" : "before";
  expect(redact(`{"text":"before ${secret} after"}`)).toBe(`{"text":"${before} [redacted] after"}`);
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

test("a credential at the start of a line, in a key and in an error is redacted in the log", () => {
  let line = "";
  const logger = createLogger({ destination: { write: (text: string) => void (line += text) } });
  const token = `tandem_${"a".repeat(43)}`;
  logger.info(
    { output: `A\n${token}\nB`, nested: [{ [`\t${token}`]: 1 }], err: new Error(`x\n${token}`) },
    `m\n${token}`,
  );
  expect(line).not.toContain(token);
  expect(JSON.parse(line)).toMatchObject({ output: "A\n[redacted]\nB", msg: "m\n[redacted]" });
});

test.each([
  [`/v1/agents/x%0Atandem_${"a".repeat(43)}`, "/v1/agents/x%0A[redacted]"],
  [`/v1/agents/%74andem%5F${"a".repeat(43)}/y`, "/v1/agents/[redacted]/y"],
  [`/v1/agents/%FF%74andem%5F${"a".repeat(43)}`, "/v1/agents/%FF[redacted]"],
  [`/v1/agents/%2574andem%255F${"a".repeat(43)}`, "/v1/agents/[redacted]"],
  ["/v1/agents/a%20b", "/v1/agents/a%20b"],
  ["/v1/%E0%A4%A", "/v1/%E0%A4%A"],
])("the path %s is logged as %s", (path, logged) => {
  expect(redactPath(path)).toBe(logged);
});
