export { checkLogin } from "./check-login.ts";
export { createProjectEngine } from "./create-project-engine.ts";
export { trustSettings } from "./engine-controls.ts";
export { listAll } from "./list-all.ts";
export { defaultAgent, findAgent } from "./find-agent.ts";
export { findEnvironment } from "./find-environment.ts";
export { openAcpEngine, type AcpEngine } from "./open-acp-engine.ts";
export { commandStore } from "./command-store.ts";
