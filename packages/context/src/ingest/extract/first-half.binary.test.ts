import { inject } from "vitest";
import { HTTP_BACKENDS } from "../../scan/testing/rehearsed-backend.ts";
import { firstHalfContract } from "./testing/first-half.contract.ts";

// HTTP backends differ only in their wire formats, which the runtime contract covers: one of them is enough here.
for (const name of inject("soak") ? HTTP_BACKENDS : HTTP_BACKENDS.slice(0, 1)) firstHalfContract(name);
