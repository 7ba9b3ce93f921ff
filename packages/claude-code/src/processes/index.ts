// Processes, credentials and the executable, without the Agent SDK: a server that runs no session does not load that.
export { accountOf } from "../account-of.ts";
export { checkVersion } from "../check-version.ts";
export { MANAGED_FOLDERS, reportCredentials } from "../credentials/report-credentials.ts";
export { findExecutable } from "../executable.ts";
export { probeLogin } from "../probe-login.ts";
export { defaultProcessLimit } from "../process-limit.ts";
export { ProcessSlots } from "../process-slots.ts";
export { readCredential } from "../read-credential.ts";
export { Guardian } from "./guardian.ts";
export { measureProcesses } from "./measure-processes.ts";
export { ProcessLedger } from "./process-ledger.ts";
export { processNamespace } from "./process-namespace.ts";
