import type { PartOf } from "./message.ts";
import type { EventOf, SessionEvent } from "../events/session-event.ts";

type Notice = Pick<PartOf<"notice">, "level" | "text" | "host">;

/** A public name with an optional port. The sandbox never connects to addresses or to names without a dot. */
const PUBLIC_HOST = /^(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*(?::\d{1,5})?$/i;

/** The notice for an event that is neither a message nor an action of the agent; undefined for most. */
export function noticeOf(event: SessionEvent): Notice | undefined {
  switch (event.type) {
    case "tandem.notice":
      return { level: event.level, text: event.text };
    case "system.message":
      return { level: "info", text: `System message: ${event.content.map(({ text }) => text).join("\n")}` };
    case "tandem.rate_limit": {
      if (event.status === "allowed") return undefined;
      const until = event.resets_at === undefined ? "" : `, until ${event.resets_at}`;
      return { level: "warning", text: `Rate limit${event.kind ? ` (${event.kind})` : ""}: ${event.status}${until}` };
    }
    case "tandem.model_fallback":
      return { level: "warning", text: `${event.to} answers instead of ${event.from}: ${event.reason}` };
    case "tandem.usage_mismatch":
      return {
        level: "info",
        text: "The tokens of this turn's requests do not add up to what Claude Code says that it took",
      };
    case "tandem.dropped":
      return { level: "warning", text: `Something that was sent had no effect: ${event.reason}` };
    case "tandem.budget":
      return { level: "warning", text: event.reason };
    case "tandem.parked":
      return {
        level: "warning",
        text: `A quota is used up until ${event.resets_at}${event.resumes ? "; the turn then continues by itself" : ""}`,
      };
    case "tandem.process_wait":
      return { level: "info", text: processWaitText(event) };
    case "tandem.unplaced":
      return { level: "warning", text: unplacedText(event) };
    case "tandem.placed":
      return { level: "info", text: `${event.worker} has taken it` };
    case "tandem.handover":
      return { level: "info", text: `${event.from} was stopped; the turn continues elsewhere` };
    case "tandem.mode":
      return { level: "info", text: `The permission mode is ${event.mode} now, by ${event.by}` };
    case "tandem.model":
      return event.ignored.length === 0
        ? undefined
        : { level: "info", text: `${event.model} ignores ${event.ignored.join(" and ")}` };
    case "tandem.resource":
      return { level: "info", text: resourceText(event) };
    case "tandem.file":
      return { level: "info", text: fileText(event) };
    case "tandem.rewound":
      return { level: "info", text: rewoundText(event) };
    case "tandem.forked":
      return {
        level: "info",
        text: `Forked from ${event.from_session_id}${event.by === undefined ? "" : ` by ${event.by}`}; what follows was copied from there`,
      };
    case "tandem.imported": {
      const where = event.folder === null ? "" : `, which worked in ${event.folder}`;
      return {
        level: "info",
        text: `Imported from Claude Code${where}; what follows cost ${event.usd.toFixed(2)} USD at list price, paid there`,
      };
    }
    case "tandem.push":
      return {
        level: "info",
        text: `${event.bot} pushed to ${event.branch}${event.pull_request ? `: ${event.pull_request.url}` : "."}`,
      };
    case "tandem.sandbox_violation":
      return {
        level: "warning",
        text: `Sandbox: ${event.rule} ${event.fix}`,
        ...(event.kind === "host" && PUBLIC_HOST.test(event.target) && { host: event.target }),
      };
    case "tandem.hook":
      return event.outcome === "blocked" || event.outcome === "failed"
        ? {
            level: "warning",
            text: `The hook ${event.hook} ${event.outcome}${event.message ? `: ${event.message}` : ""}`,
          }
        : undefined;
    default:
      return undefined;
  }
}

export const processWaitText = ({ ahead }: Pick<EventOf<"tandem.process_wait">, "ahead">): string =>
  `Waiting for a free process (${ahead === 0 ? "first in line" : `${ahead} ahead`})`;

function resourceText({
  action,
  resource_type: type,
  mount_path: mount,
  kept,
  by,
}: EventOf<"tandem.resource">): string {
  const what = { file: "file", github_repository: "repository", memory_store: "memory store" }[type];
  const who = by === undefined ? "" : ` by ${by}`;
  return `The ${what} ${mount} was ${action}${who}${kept === undefined ? "" : `; the file stays, because ${kept}`}`;
}

function unplacedText({ needs, fix }: EventOf<"tandem.unplaced">): string {
  return `No worker can take this now. It waits for ${needs}${fix === undefined ? "" : `. ${fix}`}`;
}

function fileText({ action, path, to, by }: EventOf<"tandem.file">): string {
  switch (action) {
    case "folder":
      return `The folder ${path} was created by ${by}`;
    case "moved":
      return `${path} was moved to ${to ?? ""} by ${by}`;
    default:
      return `${path} was ${action} by ${by}`;
  }
}

function rewoundText({ scope, files, undoes }: EventOf<"tandem.rewound">): string {
  const what = scope === "both" ? "files and conversation" : scope;
  const count = scope === "conversation" ? "" : `, ${files} ${files === 1 ? "file" : "files"} changed`;
  return `${undoes === undefined ? "Rewound" : "A rewind was undone"}: ${what}${count}`;
}
