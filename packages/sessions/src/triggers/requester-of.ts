import { payloadValues } from "./payload-values.ts";

/** The person whose action GitHub reports, in the form that GitHub takes for a co-author. */
export function requesterOf(payload: unknown): string | null {
  const [login] = payloadValues(payload, "sender.login");
  const [id] = payloadValues(payload, "sender.id");
  if (
    typeof login !== "string" ||
    typeof id !== "number" ||
    !/^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/.test(login)
  ) {
    return null;
  }
  return `${login} <${id}+${login}@users.noreply.github.com>`;
}
