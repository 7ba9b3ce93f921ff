import { inject } from "vitest";
import { scanContract } from "./testing/backend.contract.ts";
import { HTTP_BACKENDS } from "./testing/rehearsed-backend.ts";

// HTTP backends differ only in their wire formats, which the runtime contract covers: one of them is enough here.
for (const name of inject("soak") ? HTTP_BACKENDS : HTTP_BACKENDS.slice(0, 1)) scanContract(name);
