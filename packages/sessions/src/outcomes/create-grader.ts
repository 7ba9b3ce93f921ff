import type { EventLog } from "@tandem/storage";
import type { CheckpointStores } from "@tandem/workspace";
import type { SessionCommands } from "../commands/session-commands.ts";
import type { ProcessSettings } from "../process/process-settings.ts";
import type { Rules } from "../rules/kept-rules.ts";
import { evidenceOf } from "./evidence-of.ts";
import type { GradeOutcome } from "./grader.ts";
import { createModelGrader } from "./model-grader.ts";
import { gradeByProgram, type GraderQueries } from "./program-grader.ts";

interface GraderDependencies {
  settings: ProcessSettings;
  rules: Pick<Rules, "rulesOf">;
  log: EventLog;
  checkpointStores: CheckpointStores | undefined;
  commands: Pick<SessionCommands, "shell">;
  queries: GraderQueries | undefined;
}

/** Grades by the program that the outcome names, else by the session's model. */
export function createGrader({
  settings,
  rules,
  log,
  checkpointStores,
  ...programs
}: GraderDependencies): GradeOutcome {
  const byModel = createModelGrader({
    settings,
    rules,
    evidenceOf: (task) => evidenceOf(task, { log, checkpointStores }),
  });
  return async (task, control) => {
    const grader = task.outcome.tandem?.grader;
    return grader ? gradeByProgram(grader, task, control.signal, programs) : byModel(task, control);
  };
}
