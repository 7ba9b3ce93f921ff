import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ReportOptions } from "../report-credentials.ts";

/** A scratch home with planted fake credentials; nothing outside of it is read. */
export async function scratchHome() {
  const root = await mkdtemp(join(tmpdir(), "tandem-credentials-"));
  const home = join(root, "home");
  const folder = join(root, "project");
  const managedFolder = join(root, "managed");
  await Promise.all([home, folder, managedFolder].map((path) => mkdir(path)));
  return {
    root,
    home,
    folder,
    managedFolder,
    configDir: join(home, ".claude"),
    /** Writes a file, as JSON unless it is text already. */
    async plant(path: string, content: unknown, mode = 0o600): Promise<void> {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
      await chmod(path, mode);
    },
    options: (variables: Record<string, string> = {}, more: Partial<ReportOptions> = {}): ReportOptions => ({
      variables: { PATH: "/usr/bin:/bin", HOME: home, ...variables },
      folder,
      managedFolder,
      platform: "linux",
      ...more,
    }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}

/** A login as Claude Code stores it, with overrides. */
export const storedLogin = (more: Record<string, unknown> = {}) => ({
  claudeAiOauth: {
    accessToken: "sk-ant-oat01-made-up-for-rehearsal",
    refreshToken: "sk-ant-ort01-made-up-for-rehearsal",
    expiresAt: Date.now() + 3_600_000,
    scopes: ["user:inference", "user:profile"],
    subscriptionType: "max",
    ...more,
  },
});
