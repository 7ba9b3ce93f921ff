import { anthropicFixture, gatewayFixture, vertexFixture } from "./fixtures.ts";
import { runtimeContract } from "./runtime.contract.ts";

runtimeContract(anthropicFixture);
runtimeContract(vertexFixture);
runtimeContract(gatewayFixture);
