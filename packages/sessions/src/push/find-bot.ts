import { RequestError } from "@tandem/protocol";
import type { PushBot } from "./push-settings.ts";

export interface BotRemote {
  bot: PushBot;
  /** `https://HOST/OWNER/NAME`, without `.git`. */
  url: string;
  origin: string;
  protocol: "https" | "http";
  /** `OWNER/NAME` for GitHub's API. */
  repository: string;
  api: string;
}

/** The bot for a repository's remote. ssh addresses count as https ones: the bot has a token, no key. */
export function findBot(remote: string, bots: readonly PushBot[]): BotRemote {
  const url = normalised(remote);
  const bot = url === undefined ? undefined : bots.find((each) => isFor(each, url));
  if (url === undefined || !bot) {
    throw new RequestError("forbidden", `No bot is set up for the remote ${url ?? "of this repository"}.`, {
      fix: "Add it to `bots` in tandem.yaml.",
    });
  }
  const { protocol, hostname, origin, pathname } = new URL(url);
  const isHosted = hostname === "github.com";
  return {
    bot,
    url,
    origin,
    protocol: protocol === "https:" ? "https" : "http",
    repository: pathname.slice(1),
    api: (bot.api ?? (isHosted ? "https://api.github.com" : `${origin}/api/v3`)).replace(/\/$/, ""),
  };
}

function isFor({ remote }: PushBot, url: string): boolean {
  if (!remote.endsWith("*")) return normalised(remote) === url;
  // A pattern ends at a slash, so that `acme/*` does not fit `acme-evil/app`.
  const start = remote.endsWith("/*") ? normalised(`${remote.slice(0, -1)}x`)?.slice(0, -1) : undefined;
  return start !== undefined && url.startsWith(start);
}

/** Undefined for folders and other protocols. Without TLS, a token is sent to this machine only. */
function normalised(remote: string): string | undefined {
  const ssh = /^(?:ssh:\/\/)?git@([A-Za-z0-9.-]+)[:/](.+)$/.exec(remote);
  const url = URL.parse(ssh ? `https://${ssh[1]}/${ssh[2]}` : remote);
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) return undefined;
  // Some servers decode `..%2f` to a path outside of the bot's pattern.
  if (url.pathname.includes("%")) return undefined;
  if (url.protocol === "http:" && !["127.0.0.1", "localhost", "[::1]"].includes(url.hostname)) return undefined;
  return `${url.origin}${url.pathname.replace(/\/+$/, "").replace(/\.git$/, "")}`;
}
