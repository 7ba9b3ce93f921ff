import { basename } from "node:path";

const NAMES = new Set(["tandem", "tandem-agent-server"]);

/**
 * The words that start this command: `tandem`, or `npx NAME` if npx or `npm start` started it, because `tandem` is then
 * not on the PATH of the user's next shell.
 */
export function calledAs(env: Readonly<Record<string, string | undefined>>): string {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = "", npm_package_name: name } = env;
  if (event === "start" && name === "tandem-monorepo") return "npx tandem";
  if (event !== "npx") return "tandem";
  // npm quotes the program: 'tandem' up.
  const program = basename(/^["']?([^"'\s]+)/.exec(script)?.[1] ?? "");
  return NAMES.has(program) ? `npx ${program}` : "tandem";
}

/** Replaces `tandem COMMAND` in a hint by the command as it was called. */
export function asCalled(hint: string, env: Readonly<Record<string, string | undefined>> = process.env): string {
  const name = calledAs(env);
  return name === "tandem" ? hint : hint.replaceAll(/(?<=^|[\s`'"(])tandem (?=[a-z-])/g, `${name} `);
}
