import { ingestContract } from "./testing/ingest.contract.ts";

ingestContract("claude-code");
