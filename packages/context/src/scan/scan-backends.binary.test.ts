import { scanContract } from "./testing/backend.contract.ts";
import { HTTP_BACKENDS } from "./testing/rehearsed-backend.ts";

for (const name of HTTP_BACKENDS) scanContract(name);
