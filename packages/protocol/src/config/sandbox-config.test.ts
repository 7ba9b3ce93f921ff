import { expect, test } from "vitest";
import { configSchema } from "./config.ts";
import { hostPatternProblem } from "./sandbox-config.ts";

const read = (sandbox: unknown) => configSchema.parse({ sandbox }).sandbox;
const problems = (sandbox: unknown) =>
  configSchema.safeParse({ sandbox }).error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);

test("the old names still work: `try` is `auto`, `domains` are `hosts`", () => {
  expect(read({ mode: "try", domains: ["a.example"], hosts: ["b.example", "a.example"] })).toMatchObject({
    mode: "auto",
    hosts: ["b.example", "a.example"],
  });
});

test.each(["example.com", "*.example.com", "example.com:8443", "*.a-b.example", "EXAMPLE.com"])(
  "the host %s is accepted",
  (host) => expect(hostPatternProblem(host)).toBeUndefined(),
);

test.each([
  ["https://example.com", "without a scheme"],
  ["example.com/path", "without a path"],
  ["*", "every host"],
  ["10.0.0.1", "never connects to IP addresses"],
  ["10.0.0.1:80", "never connects to IP addresses"],
  ["0x7f000001", "never connects to IP addresses"],
  ["2130706433", "never connects to IP addresses"],
  ["[::1]", "never connects to IP addresses"],
  ["::1", "never connects to IP addresses"],
  ["registry", "full domain"],
  ["*.com", "full domain"],
  ["localhost", "sandbox.services"],
  ["api.localhost", "sandbox.services"],
  ["a.*.example", "expected a host name"],
  ["*example.com", "expected a host name"],
  ["-a.example", "expected a host name"],
  ["a b", "expected a host name"],
  ["", "expected a host name"],
  ["example.com:0", "port"],
  ["example.com:70000", "port"],
])("the host %j is refused", (host, sentence) => {
  expect(hostPatternProblem(host)).toContain(sentence);
  expect(problems({ hosts: [host] })?.[0]).toContain(sentence);
});

test.each([
  ["~", "whole home"],
  ["~/", "whole home"],
  ["/", "whole file system"],
  ["data", "absolute path"],
  ["./data", "absolute path"],
  ["/srv/../etc", "without .."],
])("the mount %j is refused", (path, sentence) => expect(problems({ mounts: [{ path }] })?.[0]).toContain(sentence));

test("mounts are read-only unless they say so", () => {
  expect(read({ mounts: [{ path: "~/.cargo" }, { path: "/srv/data", write: true }] }).mounts).toEqual([
    { path: "~/.cargo", write: false },
    { path: "/srv/data", write: true },
  ]);
});

test("a credential has one place and one host, and its value is a reference", () => {
  const value = "env:TOKEN";
  expect(problems({ credentials: [{ host: "a.example", header: "Authorization", value }] })).toBeUndefined();
  expect(problems({ credentials: [{ host: "a.example", variable: "TOKEN", value }] })).toBeUndefined();
  expect(problems({ credentials: [{ host: "a.example", value }] })?.[0]).toContain("`header` or `variable`");
  expect(problems({ credentials: [{ host: "*.example", header: "X", value }] })?.[0]).toContain("one host");
  expect(problems({ credentials: [{ host: "a.example", header: "X", value: "s3cret" }] })?.[0]).toContain("env:NAME");
});

test("ports are ports", () => {
  expect(problems({ ports: [0] })?.[0]).toContain("from 1 to 65535");
  expect(problems({ services: [{ port: 5432, to: 70_000 }] })?.[0]).toContain("from 1 to 65535");
});
