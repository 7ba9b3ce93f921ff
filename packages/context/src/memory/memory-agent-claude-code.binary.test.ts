import { memoryContract } from "./testing/memory.contract.ts";

memoryContract("claude-code");
