import type { Approval } from "@tandem/protocol";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { AllowedBar } from "./allowed-bar.tsx";

let bar: typeof AllowedBar;
beforeAll(async () => {
  // Stored preferences listen for changes in other tabs.
  vi.stubGlobal("addEventListener", () => undefined);
  bar = (await import("./allowed-bar.tsx")).AllowedBar;
});
afterAll(() => vi.unstubAllGlobals());

const textOf = (status: Approval["status"]): string => {
  const approval = { id: "sevt_1", state: "allowed", status } as Approval;
  const shown = createElement(bar, { approval, isBusy: false, onAnswer: () => undefined });
  return renderToStaticMarkup(shown)
    .replaceAll(/<[^>]*>/g, "|")
    .replaceAll(/\|+/g, "|");
};

test("an allowed call that waits for its start can be dismissed, and not allowed again", () => {
  expect(textOf("resolved")).toBe("|This call is allowed but has not run yet.|Dismiss|");
});

test("an allowed call that could not be started can be run or dismissed", () => {
  expect(textOf("pending")).toBe("|This call is allowed but could not be started.|Run|Dismiss|");
});
