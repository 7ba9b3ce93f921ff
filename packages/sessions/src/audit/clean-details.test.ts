import { expect, it } from "vitest";
import { cleanDetails, cleanText } from "./clean-details.ts";

it.each([
  "curl -H 'Authorization: Bearer abcdef1234567890' https://x",
  "GITHUB_TOKEN=ghs_abcdefghijklmnopqrstuv make",
  "DB_PASSWORD=hunter22 ./run",
  "mysql --password hunter22 shop",
  "mysql --password=hunter22 shop",
  `api_key: "hunter22"`,
  "psql postgres://ann:hunter22@db/shop",
  "export ANTHROPIC_API_KEY=sk-ant-hunter22hunter22",
  "-----BEGIN RSA PRIVATE KEY-----\nhunter22\n-----END RSA PRIVATE KEY-----",
])("redacts the secret in %s", (text) => {
  const clean = cleanText(text);
  expect(clean).toContain("[redacted]");
  expect(clean).not.toMatch(/hunter22|abcdef1234567890|ghs_/);
});

it.each([
  "the token budget of the session",
  "git commit -m 'Add a password field'",
  "secret sauce",
  "npm test -- --token",
])("leaves %s unchanged", (text) => {
  expect(cleanText(text)).toBe(text);
});

it("redacts fields with secret names, truncates long values, and marks both", () => {
  const clean = cleanDetails({
    input: { password: "x", apiKey: { value: "y" }, max_tokens: 5, text: "a".repeat(1_000), list: Array(100).fill(1) },
    gone: undefined,
  });
  expect(clean).toMatchObject({ input: { password: "[redacted]", apiKey: "[redacted]", max_tokens: 5 } });
  expect(JSON.stringify(clean)).toContain("… (600 more)");
  expect(JSON.stringify(clean)).toContain("… (60 more)");
  expect(Object.keys(clean)).toEqual(["input"]);
});

it("redacts keys, and credentials after any character", () => {
  const token = `tandem_${"a".repeat(43)}`;
  expect(JSON.stringify(cleanDetails({ a: { [`\n${token}`]: `x\n${token}` } }))).not.toContain("aaa");
});

it("a secret that crosses the truncation limit is redacted completely", () => {
  const clean = cleanText(`${"x".repeat(390)} TOKEN=${"s".repeat(100)}`);
  expect(clean).not.toContain("sss");
});
