import { expect, test } from "vitest";
import { readHostName } from "./host-name.ts";
import { allHosts, hostRules } from "./host-rules.ts";

test.each([
  ["example.com", "example.com", 443, true],
  ["example.com", "EXAMPLE.com.", 80, true],
  ["Example.COM.", "example.com", 22, true],
  ["example.com", "example.com", 8443, false],
  ["example.com", "www.example.com", 443, false],
  ["example.com", "badexample.com", 443, false],
  ["example.com", "example.com.evil.test", 443, false],
  ["example.com:8443", "example.com", 8443, true],
  ["example.com:8443", "example.com", 443, false],
  ["*.example.com", "a.b.example.com", 443, true],
  ["*.example.com", "example.com", 443, false],
  ["*.example.com", "evilexample.com", 443, false],
  ["*.example.com:9000", "a.example.com", 9000, true],
  ["bücher.example", "xn--bcher-kva.example", 443, true],
  ["xn--bcher-kva.example", "BÜCHER.example", 443, true],
  ["*.example.com", "127.0.0.1", 443, false],
  [" example.com ", "example.com", 443, true],
])("%s: %s:%d is allowed: %s", (pattern, host, port, allowed) => {
  expect(hostRules([pattern])({ host, port })).toBe(allowed);
});

test.each([
  "*",
  "*.com",
  "*.*.com",
  "a.*.com",
  "localhost",
  "",
  "https://example.com",
  "example.com/path",
  "user@example.com",
  "127.0.0.1",
  "0x7f.1",
  "[::1]",
  "::1",
  "example.com:0",
  "example.com:99999",
  "example.com:https",
  "exa mple.com",
  "exa%6dple.com",
  "-.com",
  `${"a".repeat(64)}.com`,
])("the pattern %j is rejected with a fix", (pattern) => {
  expect(() => hostRules(["ok.example", pattern])).toThrow(
    expect.objectContaining({ code: "sandbox_host_pattern", fix: expect.stringContaining("example.com") }),
  );
});

test.each([
  "127.0.0.1",
  "127.0.0.1.",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "0X7F.1",
  "017700000001",
  "0177.0.0.1",
  "127.0.0.0x1",
  "１２７.０.０.１",
  "127。0。0。1",
  "8.8.8.8",
  "1.1",
  "[::1]",
  "::1",
  "[::ffff:127.0.0.1]",
  "::ffff:7f00:1",
  "fe80::1%eth0",
  "[fe80::1%25eth0]",
  "2606:4700::1111",
  "999.999.999.999",
  "1.2.3.4.5",
  "example.0x",
])("%s is an address, never a name", (host) => {
  expect(readHostName(host)).toEqual({ kind: "address" });
});

test.each([
  "",
  ".",
  "a..b",
  ".example.com",
  "example.com..",
  "user@example.com",
  "example.com@127.0.0.1",
  "example.com:80",
  "evil%2eexample.com",
  "exam\0ple.com",
  "exam\rple.com",
  "exam\nple.com",
  "exam\tple.com",
  "example.com/",
  String.raw`example.com\evil`,
  "example.com#",
  "example.com?x",
  "[example.com]",
  "example-.com",
  "a".repeat(300),
])("%j is not a name", (host) => {
  expect(readHostName(host)).toEqual({ kind: "invalid" });
});

test("without restrictions, all hosts are allowed on the default ports", () => {
  expect(allHosts({ host: "anything.example", port: 443 })).toBe(true);
  expect(allHosts({ host: "anything.example", port: 5432 })).toBe(false);
});
