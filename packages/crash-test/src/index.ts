export { FAULT_KINDS } from "./faults/fault-kinds.ts";
export { ORDER_KINDS, type OrderKind } from "./history.ts";
export type { CrashTestReport } from "./report/crash-test-report.ts";
export { renderMarkdown, renderText } from "./report/render-report.ts";
export { runCrashTest, type CrashTestOptions, type CrashTestStage } from "./run-crash-test.ts";
export { checkHealth, commandSystem, freePort, urlSystem } from "./system/command-system.ts";
export type { ProcessPlan } from "./system/tested-process.ts";
export type { ExtraFault, SystemPlan } from "./system/tested-system.ts";
