import { inject } from "vitest";
import { scanContract } from "./testing/backend.contract.ts";
import { HTTP_BACKENDS } from "./testing/rehearsed-backend.ts";

// The runtime contract proves that backends behave alike: one of them is enough here. Ingest also runs on Claude Code.
for (const name of inject("soak") ? ([...HTTP_BACKENDS, "claude-code"] as const) : HTTP_BACKENDS.slice(0, 1)) {
  scanContract(name);
}
