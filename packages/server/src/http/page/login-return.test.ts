import { expect, test } from "vitest";
import { loginReturn } from "./login-return.ts";

test("passes on the fields of a login, and no markup", async () => {
  const query = new URLSearchParams({
    code: `a"><script>alert(1)</script>`,
    state: "s;url=https://evil.example",
    x: "y",
  });
  const response = loginReturn(query);
  const html = await response.text();
  const target = /content="0;url=([^"]*)"/.exec(html)![1]!.replaceAll("&amp;", "&");
  const { pathname, searchParams, origin } = new URL(target, "http://tandem.test");
  expect([origin, pathname]).toEqual(["http://tandem.test", "/settings/vaults"]);
  expect(Object.fromEntries(searchParams)).toEqual({
    state: "s;url=https://evil.example",
    code: `a"><script>alert(1)</script>`,
  });
  expect(html).not.toContain("<script");
  expect(target).not.toContain(";");
  expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});
