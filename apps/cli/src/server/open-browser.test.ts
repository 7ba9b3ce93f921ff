import { expect, test } from "vitest";
import { hasBrowser } from "./open-browser.ts";

test.each([
  [true, "linux", { DISPLAY: ":0" }],
  [true, "linux", { WAYLAND_DISPLAY: "wayland-0" }],
  [true, "darwin", {}],
  [false, "linux", {}],
  [false, "linux", { DISPLAY: ":0", SSH_CONNECTION: "10.0.0.1 22" }],
  [false, "darwin", { SSH_TTY: "/dev/pts/1" }],
  [false, "darwin", { CI: "true" }],
] as const)("a browser is in front of the user: %s on %s with %j", (expected, platform, env) => {
  expect(hasBrowser(env, platform)).toBe(expected);
});
