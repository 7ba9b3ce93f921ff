import { TandemError } from "@tandem/protocol";
import { ConfigError, describeProblem } from "./config-error.ts";
import { parseConfig, type ParsedConfig } from "./parse-config.ts";

/** Reads a config that is about to be written. What is wrong with it comes from the command line, not from the file. */
export function checkEdited(text: string, file: string): ParsedConfig {
  try {
    return parseConfig(text, file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new TandemError("usage", `${error.problems.map(describeProblem).join(" ")} Nothing was written.`);
  }
}
