import { spawn } from "node:child_process";

type Variables = Readonly<Record<string, string | undefined>>;

/** Whether a browser on this machine is in front of the user: not over SSH, in CI or without a display. */
export function hasBrowser(env: Variables, platform: NodeJS.Platform = process.platform): boolean {
  if (env["CI"] || env["SSH_CONNECTION"] || env["SSH_TTY"] || env["REMOTE_CONTAINERS"] || env["CODESPACES"])
    return false;
  return platform !== "linux" || Boolean(env["DISPLAY"] || env["WAYLAND_DISPLAY"]);
}

/** Returns false if no browser could be started. */
export function openInBrowser(link: string, env: Variables): Promise<boolean> {
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(program, [link], { stdio: "ignore", detached: true, env });
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
