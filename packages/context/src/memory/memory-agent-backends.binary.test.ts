import { inject } from "vitest";
import { HTTP_BACKENDS } from "../scan/testing/rehearsed-backend.ts";
import { memoryContract } from "./testing/memory.contract.ts";

// The runtime contract proves that backends behave alike: one of them is enough here. Ingest also runs on Claude Code.
for (const name of inject("soak") ? ([...HTTP_BACKENDS, "claude-code"] as const) : HTTP_BACKENDS.slice(0, 1)) {
  memoryContract(name);
}
