import { describe, expect, it } from "vitest";
import { readLimitHeaders } from "./limit-headers.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const read = (headers: Record<string, string>) => readLimitHeaders(headers, NOW);

describe("readLimitHeaders", () => {
  it("reads a plan's reset in seconds since the epoch", () => {
    const reset = new Date(NOW + 3_600_000);
    const headers = {
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-reset": String(reset.getTime() / 1000),
    };
    expect(read(headers)).toEqual({ resetsAt: reset });
  });

  it("ignores a plan that still allows requests", () => {
    const headers = {
      "anthropic-ratelimit-unified-status": "allowed",
      "anthropic-ratelimit-unified-reset": "1767229200",
      "retry-after": "3",
    };
    expect(read(headers)).toEqual({ retryAfterMs: 3_000 });
  });

  it("uses the latest reset among exhausted limits", () => {
    const headers = {
      "anthropic-ratelimit-requests-remaining": "0",
      "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:05Z",
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "2026-01-01T00:00:30Z",
      "anthropic-ratelimit-output-tokens-remaining": "900",
      "anthropic-ratelimit-output-tokens-reset": "2026-01-01T00:01:00Z",
    };
    expect(read(headers)).toEqual({ resetsAt: new Date("2026-01-01T00:00:30Z") });
  });

  it.each([
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after-ms": "250", "retry-after": "7" }, 250],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:09 GMT" }, 9_000],
    [{ "retry-after": "-3" }, 0],
  ])("reads %j", (headers, retryAfterMs) => {
    expect(read(headers as unknown as Record<string, string>)).toEqual({ retryAfterMs });
  });

  it.each([{}, { "retry-after": "soon" }, { "anthropic-ratelimit-unified-reset": "whenever" }])(
    "makes nothing up from %j",
    (headers) => {
      expect(read(headers as Record<string, string>)).toEqual({});
    },
  );
});
