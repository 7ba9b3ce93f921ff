import { firstHalfContract } from "./testing/first-half.contract.ts";

firstHalfContract("claude-code");
