import type { Host } from "@tandem/tandem";

/** One run of a command: the process, the terminal, and the options that all commands share. */
export interface Invocation extends Host {
  /** Sets the time that the command has to stop after the signal, before the process exits anyway. */
  allowToStop: (graceMs: number) => void;
  json: boolean;
  debug: boolean;
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}
