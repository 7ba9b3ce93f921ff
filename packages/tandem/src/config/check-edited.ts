import { TandemError } from "@tandem/protocol";
import { ConfigError, describeProblem } from "./parse/config-error.ts";
import { parseConfig, type ParsedConfig } from "./parse/parse-config.ts";

/** Parses a config before it is written. Errors refer to the command line, not to the file. */
export function checkEdited(text: string, file: string): ParsedConfig {
  try {
    return parseConfig(text, file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new TandemError("usage", `${error.problems.map(describeProblem).join(" ")} Nothing was written.`);
  }
}
