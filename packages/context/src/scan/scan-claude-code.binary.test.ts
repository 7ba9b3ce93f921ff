import { scanContract } from "./testing/backend.contract.ts";

scanContract("claude-code");
