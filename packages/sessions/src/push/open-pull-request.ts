import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import { externalDeadline } from "../host/external-deadline.ts";
import type { BotRemote } from "./find-bot.ts";

const ANSWER_MS = 30_000;

const opened = z.object({ number: z.int(), html_url: z.url() });
const repository = z.object({ default_branch: z.string() });
const refusal = z.object({ message: z.string() });

export interface PullRequest {
  number: number;
  url: string;
}

/** Opens a pull request for a branch at GitHub, or finds the open one. */
export async function openPullRequest(
  remote: BotRemote,
  token: string,
  { branch, base, title, body, draft }: { branch: string; base?: string; title: string; body: string; draft: boolean },
  signal: AbortSignal,
): Promise<PullRequest> {
  const at = `${remote.api}/repos/${remote.repository}`;
  const call = async (path: string, sent?: object): Promise<{ status: number; content: unknown }> => {
    const reply = await fetch(`${at}${path}`, {
      method: sent ? "POST" : "GET",
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "user-agent": "tandem",
      },
      redirect: "error",
      ...(sent && { body: JSON.stringify(sent) }),
      signal: AbortSignal.any([signal, externalDeadline(ANSWER_MS)]),
    });
    return { status: reply.status, content: await reply.json().catch(() => null) };
  };
  const into = base ?? repository.parse(expectOk(await call(""), "the repository")).default_branch;
  const created = await call("/pulls", { title, body, head: branch, base: into, draft });
  if (created.status === 422) {
    const owner = remote.repository.split("/", 1)[0];
    const query = new URLSearchParams({ head: `${owner}:${branch}`, state: "open" });
    const [known] = z.array(opened).parse(expectOk(await call(`/pulls?${query.toString()}`), "pull requests"));
    if (known) return { number: known.number, url: known.html_url };
  }
  const { number, html_url: url } = opened.parse(expectOk(created, "a new pull request"));
  return { number, url };
}

function expectOk({ status, content }: { status: number; content: unknown }, what: string): unknown {
  if (status >= 200 && status < 300) return content;
  const said = refusal.safeParse(content).data?.message ?? "no message";
  throw new RequestError("unavailable", `GitHub answered ${status} for ${what}: ${said}`, {
    fix: "Check that the bot's token may open pull requests in this repository.",
  });
}
