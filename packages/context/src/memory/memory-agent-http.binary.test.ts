import { HTTP_BACKENDS } from "../scan/testing/rehearsed-backend.ts";
import { memoryContract } from "./testing/memory.contract.ts";

for (const name of HTTP_BACKENDS) memoryContract(name);
