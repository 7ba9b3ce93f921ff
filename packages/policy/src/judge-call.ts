import { PERMISSION_MODES, SESSION_METADATA, type PermissionMode, type ThreadId, type Tool } from "@tandem/protocol";
import type { Decision } from "./decision.ts";
import { dirname, resolve, isAbsolute, sep } from "node:path";
import { decideCall } from "./rules/decide-call.ts";
import type { JudgedCall, SessionRules } from "./rules/session-rules.ts";
import { realPath } from "./rules/path-pattern.ts";
import { filePath, writtenPath } from "./rules/tool-kinds.ts";
import { decide, decideHosted, stricter, type HostedTools } from "./tool-policy.ts";

/** Every input to the decision about a call, read at the moment of the call. */
export interface Judges {
  session: { folder: string; metadata: Readonly<Record<string, string>> };
  tools: readonly Tool[];
  /** The tools of a subagent's agent; undefined if the agent is not in the roster. */
  toolsOf: (thread: ThreadId) => readonly Tool[] | undefined;
  /** The id of a subagent's agent. */
  agentOf: (thread: ThreadId) => string | undefined;
  hostServers: readonly HostedTools[];
  sessionRules: SessionRules | undefined;
  /** Applies to sessions that set no mode. */
  mode: PermissionMode;
  /** The folder where Claude Code writes its plans. */
  plans: string;
  /** Folders with the files of skills. Reading them needs no approval. */
  skillFolders: readonly string[];
  /** The home folder that commands of the session see. */
  home: string;
}

/** Rules decide first; without a matching rule, the agents' tool policies and the session's mode decide. */
export function judgeCall(call: JudgedCall, judges: Judges): Decision {
  const decision = judgeAlone(call, judges);
  const read = asRead(call, judges);
  if (!read) return decision;
  const reading = judgeAlone(read, judges);
  const isAllowedByRule = decision.permission === "allow" && ["rule", "grant"].includes(decision.verdict?.by ?? "");
  return isAllowedByRule && reading.permission === "ask" ? decision : stricter(decision, reading);
}

/** A tool of the host that reads a file of the folder gets no more than `Read` would. */
function asRead(call: JudgedCall, { hostServers, session }: Judges): JudgedCall | undefined {
  const server = hostServers.find(({ name }) => name === call.mcpServer);
  const field = server?.tools.find(({ name }) => name === call.name)?.readsPath;
  if (field === undefined) return undefined;
  const { mcpServer: _, ...rest } = call;
  return { ...rest, name: "Read", input: { file_path: call.input[field] ?? session.folder } };
}

function judgeAlone(call: JudgedCall, judges: Judges): Decision {
  const { session, tools, toolsOf, agentOf, hostServers, sessionRules, plans, skillFolders, home } = judges;
  const own = call.thread === null ? undefined : toolsOf(call.thread);
  const hosted = decideHosted(hostServers, call);
  const root = hosted ?? decide(tools, call);
  const policy = own && !hosted ? stricter(root, decide(own, call)) : root;
  const verdict = sessionRules?.judge({ ...call, agentId: call.thread === null ? undefined : agentOf(call.thread) });
  const chosen = session.metadata[SESSION_METADATA.permissionMode];
  const mode = PERMISSION_MODES.find((each) => each === chosen) ?? judges.mode;
  if (mode === "plan" && verdict?.by !== "rule" && isPlanFile(call, plans)) {
    return { permission: "allow", verdict: { action: "allow", why: "A plan is written down there.", by: "mode" } };
  }
  if (policy.permission === "ask" && verdict?.by !== "rule" && isSkillFile(call, skillFolders)) {
    return { permission: "allow", verdict: { action: "allow", why: "It is a file of a skill.", by: "policy" } };
  }
  return decideCall(call, { policy, verdict, mode, paths: { folder: session.folder, home } });
}

const PLAN_TOOLS = new Set(["Write", "Edit", "Read"]);

/** Whether a call reads or writes a plan directly in the folder of plans. Plan mode allows these calls. */
const isPlanFile = (call: JudgedCall, plans: string): boolean => {
  const path = filePath(call);
  if (!PLAN_TOOLS.has(call.name) || path === undefined) return false;
  return path.endsWith(".md") && dirname(resolve(path)) === resolve(plans);
};

/** Whether a call only reads files of a skill. Links are followed: one that leads elsewhere is no file of the skill. */
function isSkillFile(call: JudgedCall, folders: readonly string[]): boolean {
  const { name, input } = call;
  const path = filePath(call);
  if (path === undefined || writtenPath(call) !== undefined || !isAbsolute(path) || folders.length === 0) return false;
  // A pattern could lead out of the folder.
  const pattern = name === "Glob" ? input["pattern"] : name === "Grep" ? input["glob"] : undefined;
  if (typeof pattern === "string" && (pattern.startsWith("/") || pattern.split("/").includes(".."))) return false;
  const real = realPath(path);
  if (real === undefined) return false;
  return folders.some((folder) => {
    const root = realPath(folder);
    return root !== undefined && (real === root || real.startsWith(root + sep));
  });
}
