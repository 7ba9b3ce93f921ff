import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { beforeEach, expect, test } from "vitest";
import { sandboxNotice } from "./sandbox-notice.ts";

let home: string;
beforeEach(async () => {
  home = await scratchFolder();
});

test("the first start says once that the sandbox is on, and how to turn it off", async () => {
  const env = { TANDEM_HOME: home };
  expect(await sandboxNotice(env, [], { on: false })).toBeUndefined();
  expect(await sandboxNotice(env, [], { on: true })).toContain("tandem config set sandbox.mode off");
  expect(await sandboxNotice(env, [], { on: true })).toBeUndefined();
});

test("a configured mode needs no notice", async () => {
  const settings = [{ path: "sandbox.mode", value: "auto", line: 1 }];
  expect(await sandboxNotice({ TANDEM_HOME: home }, settings, { on: true })).toBeUndefined();
});
