import { HTTP_BACKENDS } from "../scan/testing/rehearsed-backend.ts";
import { ingestContract } from "./testing/ingest.contract.ts";

for (const name of HTTP_BACKENDS) ingestContract(name);
