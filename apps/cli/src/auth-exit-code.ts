import type { AuthCheck } from "@tandem/tandem/models";
import { EXIT_CODES, type ExitName } from "./exit-code.ts";

const EXITS: Record<AuthCheck["state"], ExitName> = {
  usable: "ok",
  unverified: "ok",
  missing: "auth",
  expired: "auth",
  rejected: "auth",
  unreachable: "network",
  not_configured: "usage",
  untrusted: "usage",
  failed: "failure",
};

/** The exit code of a read-only command: 0 if calls would work. */
export const exitCodeOfAuth = ({ state }: AuthCheck): number => EXIT_CODES[EXITS[state]].code;
