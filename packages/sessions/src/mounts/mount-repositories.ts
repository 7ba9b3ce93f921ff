import { join } from "node:path";
import type { ModelContent } from "@tandem/claude-code";
import { TandemError, type RepositoryResource, type SessionEventBody } from "@tandem/protocol";
import type { OsUser } from "@tandem/sandbox";
import type { SessionRow } from "@tandem/storage";
import { CloneFailed, cloneRepository, findClone, remoteVariables } from "@tandem/workspace";
import type { OwnerUrls } from "../mcp/owner-urls.ts";
import { makeShared } from "../sandbox/give-folder.ts";
import { publicAddress, repositoryRemote } from "./repository-remote.ts";
import type { RepositoryTokens } from "./repository-tokens.ts";

const CLONE_MS = 5 * 60_000;
const MAX_BYTES = 2 * 1024 * 1024 * 1024;

export interface RepositoryMounts {
  tokens: RepositoryTokens;
  ownerUrls: Pick<OwnerUrls, "has">;
  /** Checks a folder of this machine. */
  resolveFolder: (path: string) => Promise<string>;
  hostVariables: Readonly<Record<string, string | undefined>>;
  /** For unfinished clones. */
  stateFolder: string;
  /** The OS user of the sessions' programs, who clones. */
  user: OsUser | undefined;
  /** Even the owner's URLs must have public addresses. */
  publicOnly: boolean;
}

export interface MountedRepositories {
  resources: SessionRow["resources"];
  events: SessionEventBody[];
  /** For an agent that has begun already. */
  words: ModelContent[];
}

/**
 * Clones the repositories of a session that it does not have yet. A failure is an event, and the session continues without the
 * repository; the next turn tries again.
 */
export async function mountRepositories(
  row: Pick<SessionRow, "id" | "folder" | "resources">,
  mounts: RepositoryMounts,
): Promise<MountedRepositories> {
  const done: MountedRepositories = { resources: [], events: [], words: [] };
  for (const resource of row.resources) {
    if (resource.type !== "github_repository" || resource.tandem.commit !== undefined) {
      done.resources.push(resource);
      continue;
    }
    try {
      const commit =
        (await findClone(row.folder, resource.tandem.path, resource.id)) ?? (await clone(row, resource, mounts));
      done.resources.push({ ...resource, tandem: { ...resource.tandem, commit } });
      done.events.push(cloned(resource));
      const text = `The repository ${resource.url} is now at ${resource.tandem.path} in the working folder.`;
      done.words.push({ type: "text", text });
    } catch (error) {
      done.resources.push(resource);
      done.events.push(failed(resource, error));
    }
  }
  return done;
}

async function clone(
  row: Pick<SessionRow, "id" | "folder">,
  { id, url, checkout, tandem }: RepositoryResource,
  mounts: RepositoryMounts,
): Promise<string> {
  const remote = await repositoryRemote(url, mounts.resolveFolder);
  const isPublic = remote.protocol !== "file" && (mounts.publicOnly || !(await mounts.ownerUrls.has(url)));
  const { isPrivateAddress } = await import("@tandem/sandbox");
  const address = isPublic ? await publicAddress(url, isPrivateAddress) : undefined;
  const secret = await mounts.tokens.get(row.id, id);
  const scratch = join(mounts.stateFolder, "clone-drafts");
  await makeShared(scratch, mounts.stateFolder, mounts.user);
  const { commit } = await cloneRepository({
    root: row.folder,
    path: tandem.path,
    scratch,
    owner: id,
    remote: {
      url: remote.url,
      protocol: remote.protocol,
      ...(secret !== undefined && remote.origin !== undefined && { token: { origin: remote.origin, secret } }),
    },
    checkout,
    variables: wayOut(mounts.hostVariables, isPublic),
    ...(address !== undefined && { address }),
    timeoutMs: CLONE_MS,
    maxBytes: MAX_BYTES,
  });
  return commit;
}

/** A proxy would resolve the name itself, so that a public address could not be enforced. */
const wayOut = (variables: RepositoryMounts["hostVariables"], isPublic: boolean): Record<string, string> =>
  Object.fromEntries(
    Object.entries(remoteVariables(variables)).filter(([name]) => (isPublic ? /ssl/i : /proxy|ssl/i).test(name)),
  );

const cloned = ({ id, mount_path }: RepositoryResource): SessionEventBody => ({
  type: "tandem.resource",
  action: "cloned",
  resource_id: id,
  resource_type: "github_repository",
  mount_path,
});

function failed({ url }: RepositoryResource, error: unknown): SessionEventBody {
  const failure = error instanceof CloneFailed ? error.failure : "clone";
  const known = error instanceof TandemError ? error : undefined;
  return {
    type: "session.error",
    error: {
      type: `repository_${failure}_error`,
      message: known?.message ?? `The repository could not be cloned: ${String(error)}`,
      retry_status: { type: "retrying" },
      repository_url: url,
      tandem: { code: known?.code ?? "internal", ...(known?.fix && { fix: known.fix }) },
    },
  };
}
