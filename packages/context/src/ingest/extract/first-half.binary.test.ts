import { HTTP_BACKENDS } from "../../scan/testing/rehearsed-backend.ts";
import { firstHalfContract } from "./testing/first-half.contract.ts";

for (const name of HTTP_BACKENDS) firstHalfContract(name);
