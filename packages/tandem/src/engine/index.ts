export { checkLogin } from "./check-login.ts";
export { trustSettings } from "./engine-controls.ts";
export { listAll } from "@tandem/storage/read-all";
export { defaultAgent, findAgent } from "./find-agent.ts";
export { findEnvironment } from "./find-environment.ts";
export { openAcpEngine, type AcpEngine } from "./open-acp-engine.ts";
export { openEngine } from "./open-engine.ts";
