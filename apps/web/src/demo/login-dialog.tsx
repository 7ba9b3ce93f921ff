import { useServerQuery } from "../api/use-server-query.ts";
import { ShellCommand } from "../context/shell-command.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Skeleton } from "../ui/skeleton.tsx";

const HAS_LOGIN = new Set(["usable", "found"]);

/** The way from the demo to the user's own login. The browser cannot log in: Claude Code does that in a terminal. */
export default function LoginDialog({ onClose }: { onClose: () => void }) {
  const { data, isPending } = useServerQuery("status.retrieve", {});
  const auth = data?.sessions.auth;
  const hasLogin = auth !== undefined && HAS_LOGIN.has(auth.state);
  const name = auth?.account?.email ?? auth?.account?.organization;
  return (
    <Dialog
      onClose={onClose}
      title="Use my Claude login"
      description="Your own sessions run on your Claude account. The demo stays separate and keeps its data."
      size="narrow"
    >
      {isPending ? (
        <Skeleton rows={["h-6", "h-9", "h-9"]} />
      ) : (
        <ol className="list-decimal space-y-3 pl-5">
          <li>
            Stop the demo: press <kbd className="font-mono">Ctrl-C</kbd> in its terminal.
          </li>
          {hasLogin ? (
            <li>
              You are already logged in{name === undefined ? "" : ` as ${name}`}. Start the server in your project
              folder:
              <div className="mt-1">
                <ShellCommand>tandem up</ShellCommand>
              </div>
            </li>
          ) : (
            <>
              <li>
                Log in with Claude Code, which ships with Tandem:
                <div className="mt-1">
                  <ShellCommand>tandem login</ShellCommand>
                </div>
              </li>
              <li>
                Start the server in your project folder:
                <div className="mt-1">
                  <ShellCommand>tandem up</ShellCommand>
                </div>
              </li>
            </>
          )}
        </ol>
      )}
      <p className="mt-4 text-sm text-ink-soft">
        Sessions are then billed to your Claude subscription or API account. Budgets stop a session before it
        overspends.
      </p>
    </Dialog>
  );
}
